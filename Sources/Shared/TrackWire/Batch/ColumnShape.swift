/// What writer and reader both know about a column before they see it.
struct ColumnShape {
    /// Order of the code of its first number.
    let firstOrder: Int
    /// Where the order of its differences starts, see ``AdaptiveOrder``.
    let initialOrder: Int
    /// Numbers outside are malformed.
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
    /// Its presence alone tells.
    static let parked = ColumnShape(firstOrder: 0, initialOrder: 0, range: 0...0)
    static let integerValue = ColumnShape(firstOrder: 6, initialOrder: 4, range: .min ... .max)

    private static let int32 = Int64(Int32.min)...Int64(Int32.max)

    /// Initial orders of the series that are no columns.
    static let positionOrder = 9
    static let gapOrder = 3
    static let presenceOrder = 3
    /// Order of the code of the first point's time.
    static let timeOrder = 41
    static let countOrder = 3
    /// A full circle of courses.
    static let circle: Int64 = 3600
}
