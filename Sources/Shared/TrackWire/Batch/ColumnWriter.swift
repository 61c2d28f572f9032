/// Writes columns of numbers as bits. ``ColumnReader`` reads them.
struct ColumnWriter {
    var bits: BitWriter

    /// A column that every row has. Writes nothing for no rows.
    mutating func column(_ values: [Int64], _ shape: ColumnShape) {
        guard let first = values.first else { return }
        bits.writeGolomb(zigzag(first), order: shape.firstOrder)
        series(zip(values.dropFirst(), values).map { $0 &- $1 }, initialOrder: shape.initialOrder)
    }

    /// A column that rows may lack: `1` all rows have it, `00` no row has it, `01` and the runs of rows that have it.
    mutating func optionalColumn(_ values: [Int64?], _ shape: ColumnShape) {
        column(presence(of: values), shape)
    }

    /// Courses: after the presence, `1` means that differences go the short way round the circle; `0` means an ordinary
    /// column.
    mutating func courseColumn(_ values: [Int64?]) {
        let present = presence(of: values)
        guard let first = present.first else { return }
        let circle = ColumnShape.circle
        guard present.allSatisfy({ (0..<circle).contains($0) }) else {
            bits.write(false)
            return column(present, .course)
        }
        bits.write(true)
        bits.writeGolomb(zigzag(first), order: ColumnShape.course.firstOrder)
        let turns = zip(present.dropFirst(), present).map { next, previous in
            let difference = next - previous
            return difference >= circle / 2
                ? difference - circle : difference < -circle / 2 ? difference + circle : difference
        }
        series(turns, initialOrder: ColumnShape.course.initialOrder)
    }

    /// Signed numbers around zero. `1`: each number as an adaptive code. `00`: all are zero. `01`: for each number that
    /// is not zero, the gap before it and the number. Uses the form that should be shortest.
    mutating func series(_ values: [Int64], initialOrder: Int) {
        guard !values.isEmpty else { return }
        guard values.contains(where: { $0 != 0 }) else { return bits.write(0, bits: 2) }
        // The dense form costs at least one bit for each number; the code of a gap costs about five bits.
        let others = values.count(where: { $0 != 0 })
        guard others * 8 < values.count else {
            bits.write(true)
            var order = AdaptiveOrder(initial: initialOrder)
            for value in values { adaptive(zigzag(value), &order) }
            return
        }
        bits.write(1, bits: 2)
        var gapOrder = AdaptiveOrder(initial: ColumnShape.gapOrder)
        var order = AdaptiveOrder(initial: initialOrder)
        var gap: UInt64 = 0
        for value in values {
            if value == 0 {
                gap += 1
            } else {
                adaptive(gap, &gapOrder)
                adaptive(zigzag(value) - 1, &order)
                gap = 0
            }
        }
        // The last gap reaches the end, and no number follows it.
        if gap > 0 { adaptive(gap, &gapOrder) }
    }

    private mutating func presence(of values: [Int64?]) -> [Int64] {
        let present = values.compactMap { $0 }
        guard present.count < values.count, let first = values.first else {
            if !values.isEmpty { bits.write(true) }
            return present
        }
        guard !present.isEmpty else {
            bits.write(0, bits: 2)
            return present
        }
        bits.write(1, bits: 2)
        var isPresent = first != nil
        bits.write(isPresent)
        var order = AdaptiveOrder(initial: ColumnShape.presenceOrder)
        var run: UInt64 = 0
        for value in values {
            if (value != nil) == isPresent {
                run += 1
            } else {
                adaptive(run - 1, &order)
                isPresent.toggle()
                run = 1
            }
        }
        adaptive(run - 1, &order)
        return present
    }

    private mutating func adaptive(_ value: UInt64, _ order: inout AdaptiveOrder) {
        bits.writeGolomb(value, order: order.order)
        order.learn(value)
    }
}
