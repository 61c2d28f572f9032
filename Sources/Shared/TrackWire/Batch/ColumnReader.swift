/// Reads the columns of ``ColumnWriter``. The number of rows bounds all loops, and the caller has bounded that number.
struct ColumnReader {
    var bits: BitReader

    /// Marks a row without a number. Columns that may lack numbers have ranges without this value.
    static let absent = Int64.min

    mutating func column(rows: Int, _ shape: ColumnShape, _ name: StaticString) throws(WireError) -> [Int64] {
        guard rows > 0 else { return [] }
        let first = unzigzag(bits.readGolomb(order: shape.firstOrder))
        var values = [Int64](repeating: 0, count: rows)
        series(into: &values, initialOrder: shape.initialOrder)
        var current = first
        for row in 0..<rows {
            current &+= values[row]
            values[row] = current
            guard shape.range.contains(current) else { throw Self.malformed(name) }
        }
        guard !bits.hasFailed else { throw Self.malformed(name) }
        return values
    }

    /// Rows without a number hold ``absent``.
    mutating func optionalColumn(
        rows: Int, _ shape: ColumnShape, _ name: StaticString
    ) throws(WireError) -> [Int64] {
        let presence = try presence(rows: rows, name)
        return Self.spread(try column(rows: presence.count, shape, name), over: presence)
    }

    mutating func courseColumn(rows: Int, _ name: StaticString) throws(WireError) -> [Int64] {
        let presence = try presence(rows: rows, name)
        guard presence.count > 0 else { return Self.spread([], over: presence) }
        guard bits.readBit() else {
            return Self.spread(try column(rows: presence.count, .course, name), over: presence)
        }
        let circle = ColumnShape.circle
        var current = unzigzag(bits.readGolomb(order: ColumnShape.course.firstOrder))
        var values = [Int64](repeating: 0, count: presence.count)
        series(into: &values, initialOrder: ColumnShape.course.initialOrder)
        for row in 0..<values.count {
            let turn = values[row]
            guard (0..<circle).contains(current), (-circle / 2..<circle / 2).contains(turn) else {
                throw Self.malformed(name)
            }
            current += turn
            if current >= circle { current -= circle } else if current < 0 { current += circle }
            values[row] = current
        }
        guard !bits.hasFailed else { throw Self.malformed(name) }
        return Self.spread(values, over: presence)
    }

    /// Fills all but the first of `values`, which are zeros, with the differences between neighbours of a column.
    private mutating func series(into values: inout [Int64], initialOrder: Int) {
        series(into: &values, from: 1, initialOrder: initialOrder)
    }

    /// Fills `values`, which are zeros, from row `start` on.
    mutating func series(into values: inout [Int64], from start: Int, initialOrder: Int) {
        guard values.count > start else { return }
        var order = AdaptiveOrder(initial: initialOrder)
        if bits.readBit() {
            for row in start..<values.count { values[row] = unzigzag(adaptive(&order)) }
            return
        }
        guard bits.readBit() else { return }
        var gapOrder = AdaptiveOrder(initial: ColumnShape.gapOrder)
        var row = start
        while row < values.count, !bits.hasFailed {
            let gap = adaptive(&gapOrder)
            guard gap <= UInt64(values.count - row) else { return bits.fail() }
            row += Int(gap)
            guard row < values.count else { return }
            values[row] = unzigzag(adaptive(&order) &+ 1)
            row += 1
        }
    }

    /// Which rows have a number. An empty `isPresent` means all rows.
    struct Presence {
        var rows: Int
        var count: Int
        var isPresent: [Bool]
    }

    private mutating func presence(rows: Int, _ name: StaticString) throws(WireError) -> Presence {
        guard rows > 0 else { return Presence(rows: 0, count: 0, isPresent: []) }
        if bits.readBit() { return Presence(rows: rows, count: rows, isPresent: []) }
        guard bits.readBit() else { return Presence(rows: rows, count: 0, isPresent: []) }
        var presence = Presence(rows: rows, count: 0, isPresent: [])
        presence.isPresent.reserveCapacity(rows)
        var isPresent = bits.readBit()
        var order = AdaptiveOrder(initial: ColumnShape.presenceOrder)
        while presence.isPresent.count < rows {
            let run = adaptive(&order)
            guard !bits.hasFailed, run < UInt64(rows - presence.isPresent.count) else { throw Self.malformed(name) }
            presence.isPresent.append(contentsOf: repeatElement(isPresent, count: Int(run) + 1))
            if isPresent { presence.count += Int(run) + 1 }
            isPresent.toggle()
        }
        return presence
    }

    private static func spread(_ values: [Int64], over presence: Presence) -> [Int64] {
        if presence.count == presence.rows { return values }
        var spread = [Int64](repeating: absent, count: presence.rows)
        guard presence.count > 0 else { return spread }
        var next = 0
        for row in 0..<presence.rows where presence.isPresent[row] {
            spread[row] = values[next]
            next += 1
        }
        return spread
    }

    private mutating func adaptive(_ order: inout AdaptiveOrder) -> UInt64 {
        let value = bits.readGolomb(order: order.order)
        order.learn(value)
        return value
    }

    static func malformed(_ name: StaticString) -> WireError {
        WireError(.malformed, "batch payload: the \(name) column is truncated or out of its range")
    }
}
