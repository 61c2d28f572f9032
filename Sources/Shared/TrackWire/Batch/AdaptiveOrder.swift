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
