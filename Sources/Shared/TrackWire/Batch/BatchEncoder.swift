import TrackModel

/// Writes batch payload formats 1 to 4. docs/formats/batch-payload.md has the grammar.
struct BatchEncoder {
    /// Format 2 has one column more than format 1, format 3 also has ``ContinuityColumns``, and format 4 one
    /// column more.
    private let version: UInt8
    private var columns: ColumnWriter
    private var strings = StringTable()

    private init(version: UInt8) {
        self.version = version
        columns = ColumnWriter(bits: BitWriter(startingWith: [version]))
    }

    /// Uses the lowest format that can hold the points. What only formats above `format` can express is left out.
    static func encode(_ points: [TrackPoint], format: Int = WireLimits.payloadFormat) -> [UInt8] {
        var encoder = BatchEncoder(version: version(for: points, format))
        encoder.write(points)
        return encoder.columns.bits.bytes
    }

    private static func version(for points: [TrackPoint], _ format: Int) -> UInt8 {
        if format >= 4, points.contains(where: \.fix.isClockTime) { return 4 }
        if format >= 3, points.contains(where: { $0.continuity != nil }) { return 3 }
        return format >= 2 && points.contains(where: \.isParked) ? 2 : 1
    }

    private mutating func write(_ points: [TrackPoint]) {
        columns.bits.writeGolomb(UInt64(points.count), order: ColumnShape.countOrder)
        guard let first = points.first else { return columns.bits.align() }
        let times = points.map(\.fix.time.milliseconds)
        let intervals = zip(times.dropFirst(), times).map { $0 &- $1 }
        let speeds = points.map { $0.fix.speed.map(Int64.init) }
        let courses = points.map { $0.fix.course.map(Int64.init) }

        columns.bits.writeGolomb(zigzag(first.fix.time.milliseconds), order: ColumnShape.timeOrder)
        columns.column(intervals, .interval)
        columns.optionalColumn(speeds, .speed)
        columns.courseColumn(courses)
        columns.optionalColumn(points.map { $0.fix.altitude.map(Int64.init) }, .altitude)
        columns.optionalColumn(points.map { $0.fix.accuracy.map(Int64.init) }, .accuracy)
        columns.optionalColumn(points.map { $0.fix.mode.map { Int64($0.rawValue) } }, .mode)
        columns.optionalColumn(points.map { $0.fix.status.map { Int64($0.rawValue) } }, .status)
        columns.optionalColumn(points.map { $0.fix.satellites.map(Int64.init) }, .satellites)
        columns.column(points.map { $0.coordinateType.wireNumber }, .coordinateType)
        PositionColumns.write(
            points, intervals: intervals, speeds: speeds.map { $0 ?? ColumnReader.absent },
            courses: courses.map { $0 ?? ColumnReader.absent }, to: &columns)
        writeNames(points)
        writeAttributes(points)
        if version >= 2 { columns.optionalColumn(points.map { $0.isParked ? 0 : nil }, .parked) }
        if version >= 3 { ContinuityColumns.write(points, to: &columns) }
        if version >= 4 { columns.optionalColumn(points.map { $0.fix.isClockTime ? 0 : nil }, .clockTime) }
        columns.bits.align()
        strings.write(to: &columns.bits)
    }

    private mutating func writeNames(_ points: [TrackPoint]) {
        guard points.contains(where: { $0.objectName != nil }) else { return columns.bits.write(false) }
        columns.bits.write(true)
        columns.optionalColumn(points.map { point in point.objectName.map { strings.index(of: $0) } }, .stringIndex)
    }

    private mutating func writeAttributes(_ points: [TrackPoint]) {
        guard points.contains(where: { !$0.attributes.isEmpty }) else { return columns.bits.write(false) }
        columns.bits.write(true)
        let keys = Set(points.flatMap(\.attributes.keys)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        columns.bits.writeGolomb(UInt64(keys.count - 1), order: 0)
        for key in keys {
            columns.bits.writeGolomb(UInt64(strings.index(of: key)), order: 2)
            let values = points.map { $0.attributes[key] }
            columns.optionalColumn(values.map { $0?.wireType }, .valueType)
            columns.column(values.compactMap(\.?.integer), .integerValue)
            writeDoubles(values.compactMap(\.?.double))
            columns.column(
                values.compactMap { value in value?.string.map { strings.index(of: $0) } }, .stringIndex)
        }
    }

    /// Writes whole numbers of a power of ten if they give back all values exactly, otherwise the bit patterns.
    private mutating func writeDoubles(_ values: [Double]) {
        guard !values.isEmpty else { return }
        for (decimals, scale) in DecimalScale.powers.enumerated() {
            let scaled = values.compactMap { DecimalScale.integer($0, scale: scale) }
            guard scaled.count == values.count else { continue }
            columns.bits.write(UInt64(decimals), bits: 4)
            return columns.column(scaled, .integerValue)
        }
        columns.bits.write(DecimalScale.bitPatterns, bits: 4)
        columns.column(values.map { Int64(bitPattern: $0.bitPattern) }, .integerValue)
    }
}

/// Finds doubles that are short decimal numbers, as most measured values are.
enum DecimalScale {
    /// 10^0 ... 10^9, each exact.
    static let powers: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
    /// Marks a column of IEEE 754 bit patterns.
    static let bitPatterns: UInt64 = 15

    /// The integer that gives exactly these bits when divided by `scale`; nil when there is none below 2^53.
    static func integer(_ value: Double, scale: Double) -> Int64? {
        let product = (value * scale).rounded(.toNearestOrEven)
        guard product.magnitude < 9_007_199_254_740_992, (product / scale).bitPattern == value.bitPattern else {
            return nil
        }
        return Int64(product)
    }
}

/// Every text of a payload, once, in the order of its first use.
private struct StringTable {
    private var indices: [String: Int64] = [:]
    private var order: [String] = []

    mutating func index(of text: String) -> Int64 {
        // Unicode may call two strings equal although their bytes differ, but the reader must get back the same bytes.
        if let index = indices[text], order[Int(index)].utf8.elementsEqual(text.utf8) { return index }
        let index = Int64(order.count)
        indices[text] = index
        order.append(text)
        return index
    }

    /// Writes nothing when no text was used.
    func write(to bits: inout BitWriter) {
        guard !order.isEmpty else { return }
        bits.appendVarint(order.count)
        for text in order {
            bits.appendVarint(text.utf8.count)
            bits.append(text.utf8)
        }
    }
}

extension CoordinateType {
    var wireNumber: Int64 {
        switch self {
        case .wgs84: 0
        case .gcj02: 1
        case .bd09ll: 2
        }
    }
}

extension AttributeValue {
    fileprivate var wireType: Int64 {
        switch self {
        case .integer: 0
        case .double: 1
        case .string: 2
        }
    }

    fileprivate var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    fileprivate var double: Double? { if case .double(let value) = self { value } else { nil } }
    fileprivate var string: String? { if case .string(let value) = self { value } else { nil } }
}
