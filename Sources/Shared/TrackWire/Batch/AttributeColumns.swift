import TrackModel

/// The attributes of a batch, by key, while the texts are still unknown.
struct AttributeColumns {
    private struct Column {
        var key: Int
        /// One entry for each row: 0 integer, 1 double, 2 text, or ``ColumnReader/absent``.
        var types: [Int64]
        var integers: [Int64] = []
        var doubles: [Double] = []
        var texts: [Int64] = []
    }

    private var columns: [Column] = []

    /// Throws `.tooLarge` when there are more values than ``WireLimits/payloadValues``.
    init(rows: Int, from reader: inout ColumnReader) throws(WireError) {
        let keys = reader.bits.readGolomb(order: 0)
        var values = 0
        // Every key costs at least one bit. A failed reader ends the loop.
        guard keys < UInt64(reader.bits.remainingBytes) * 8 else { throw ColumnReader.malformed("attribute key") }
        for _ in 0...keys {
            let key = reader.bits.readGolomb(order: 2)
            guard !reader.bits.hasFailed, key <= UInt64(Int32.max) else {
                throw ColumnReader.malformed("attribute key")
            }
            var column = Column(
                key: Int(key), types: try reader.optionalColumn(rows: rows, .valueType, "attribute type"))
            var counts = [0, 0, 0]
            for type in column.types where type != ColumnReader.absent { counts[Int(type)] += 1 }
            // Rows without a value count too, because they take memory here.
            values += rows
            guard values <= WireLimits.payloadValues else {
                throw WireError(.tooLarge, "batch payload: more than \(WireLimits.payloadValues) attribute values")
            }
            column.integers = try reader.column(rows: counts[0], .integerValue, "integer attribute")
            column.doubles = try Self.doubles(rows: counts[1], from: &reader)
            column.texts = try reader.column(rows: counts[2], .stringIndex, "text attribute")
            columns.append(column)
        }
    }

    private static func doubles(rows: Int, from reader: inout ColumnReader) throws(WireError) -> [Double] {
        guard rows > 0 else { return [] }
        let scale = reader.bits.read(bits: 4)
        let numbers = try reader.column(rows: rows, .integerValue, "double attribute")
        if scale == DecimalScale.bitPatterns { return numbers.map { Double(bitPattern: UInt64(bitPattern: $0)) } }
        guard scale < DecimalScale.powers.count else { throw ColumnReader.malformed("double attribute") }
        let divisor = DecimalScale.powers[Int(scale)]
        return numbers.map { Double($0) / divisor }
    }

    func apply(to points: inout some DecodedPoints, strings: [String]) throws(WireError) {
        var seen: Set<String> = []
        for column in columns {
            guard column.key < strings.count, seen.insert(strings[column.key]).inserted else {
                throw ColumnReader.malformed("attribute key")
            }
            guard column.texts.allSatisfy({ $0 < strings.count }) else {
                throw ColumnReader.malformed("text attribute")
            }
            let key = strings[column.key]
            var next = [0, 0, 0]
            for (row, type) in column.types.enumerated() where type != ColumnReader.absent {
                let index = next[Int(type)]
                next[Int(type)] += 1
                switch type {
                case 0: points.setAttribute(key, .integer(column.integers[index]), at: row)
                case 1: points.setAttribute(key, .double(column.doubles[index]), at: row)
                default: points.setAttribute(key, .string(strings[Int(column.texts[index])]), at: row)
                }
            }
        }
    }
}
