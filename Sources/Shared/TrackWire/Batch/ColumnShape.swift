import TrackModel

/// What the writer and the reader know about a column in advance.
struct ColumnShape {
    /// The order of the code of the first number.
    let firstOrder: Int
    /// The initial order of the differences, see ``AdaptiveOrder``.
    let initialOrder: Int
    /// Numbers outside the range are malformed.
    let range: ClosedRange<Int64>

    static let interval = ColumnShape(firstOrder: 14, initialOrder: 2, range: .min ... .max)
    static let speed = ColumnShape(firstOrder: 10, initialOrder: 7, range: int32)
    static let course = ColumnShape(firstOrder: 12, initialOrder: 7, range: int32)
    static let altitude = ColumnShape(firstOrder: 9, initialOrder: 5, range: int32)
    static let accuracy = ColumnShape(firstOrder: 6, initialOrder: 1, range: int32)
    static let mode = ColumnShape(firstOrder: 3, initialOrder: 0, range: 2...3)
    static let status = ColumnShape(firstOrder: 2, initialOrder: 0, range: 1...9)
    static let satellites = ColumnShape(firstOrder: 5, initialOrder: 0, range: 0...255)
    static let coordinateType = ColumnShape(firstOrder: 0, initialOrder: 0, range: 0...2)
    static let valueType = ColumnShape(firstOrder: 0, initialOrder: 0, range: 0...2)
    static let stringIndex = ColumnShape(firstOrder: 2, initialOrder: 1, range: 0...Int64(Int32.max))
    // The presence alone carries the information.
    static let parked = ColumnShape(firstOrder: 0, initialOrder: 0, range: 0...0)
    static let clockTime = ColumnShape(firstOrder: 0, initialOrder: 0, range: 0...0)
    /// Seconds.
    static let gatherInterval = ColumnShape(
        firstOrder: 3, initialOrder: 0,
        range: Int64(Continuity.intervals.lowerBound)...Int64(Continuity.intervals.upperBound))
    static let spanCount = ColumnShape(firstOrder: 0, initialOrder: 0, range: 1...Int64(Continuity.maximumSpans))
    static let gapReason = ColumnShape(firstOrder: 2, initialOrder: 2, range: 1...255)
    /// Milliseconds.
    static let gapAge = ColumnShape(firstOrder: 4, initialOrder: 12, range: .min ... .max)
    static let gapLength = ColumnShape(firstOrder: 16, initialOrder: 12, range: 0 ... .max)
    static let lostPoints = ColumnShape(firstOrder: 6, initialOrder: 6, range: 0 ... .max)
    static let integerValue = ColumnShape(firstOrder: 6, initialOrder: 4, range: .min ... .max)

    private static let int32 = Int64(Int32.min)...Int64(Int32.max)

    /// The initial orders of series that are not columns.
    static let positionOrder = 9
    static let gapOrder = 3
    static let presenceOrder = 3
    /// The order of the code of the first point's time.
    static let timeOrder = 41
    static let countOrder = 3
    /// A full circle of courses.
    static let circle: Int64 = 3600
}

/// The order of the next exponential Golomb code, learnt from earlier numbers.
///
/// It is about the binary logarithm of their mean, minus one. The weight of the past is halved every few numbers, so
/// the order adapts when a drive goes from a motorway into a car park.
struct AdaptiveOrder {
    private var sum: UInt64
    private var count: UInt64 = 1

    /// Starts as if one number of 2^initial had come; 0...40.
    init(initial: Int) {
        sum = 1 << UInt64(initial)
    }

    var order: Int {
        // The smallest k with count * 2^k >= sum, minus one, not below 0.
        let estimate = max(0, count.leadingZeroBitCount - sum.leadingZeroBitCount)
        let smallest = count << UInt64(estimate) >= sum ? estimate : estimate + 1
        return max(0, smallest - 1)
    }

    mutating func learn(_ value: UInt64) {
        // One very large number counts for at most four times 2^order, so that the next codes stay short.
        sum += min(value, min(4 << UInt64(order), 1 << 40))
        count += 1
        if count == 8 {
            sum = (sum + 1) >> 1
            count = 4
        }
    }
}

/// Maps signed numbers to unsigned ones, small magnitudes first: 0, -1, 1, -2, 2...
@inline(__always)
func zigzag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: value << 1 ^ value >> 63)
}

@inline(__always)
func unzigzag(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
}
