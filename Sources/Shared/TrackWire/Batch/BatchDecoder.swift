import TrackModel

/// What a batch is decoded to, point by point.
protocol DecodedPoints {
    init()
    var count: Int { get }
    mutating func reserve(_ count: Int)
    mutating func append(_ fix: Fix, _ type: CoordinateType)
    func time(at row: Int) -> Timestamp
    mutating func setParked(at row: Int)
    mutating func setClockTime(at row: Int)
    mutating func setObjectName(_ name: String, at row: Int)
    mutating func setAttribute(_ key: String, _ value: AttributeValue, at row: Int)
    mutating func setContinuity(_ continuity: Continuity, at row: Int)
}

extension PackedPoints: DecodedPoints {}

extension [TrackPoint]: DecodedPoints {
    mutating func reserve(_ count: Int) { reserveCapacity(count) }
    mutating func append(_ fix: Fix, _ type: CoordinateType) { append(TrackPoint(fix, coordinateType: type)) }
    func time(at row: Int) -> Timestamp { self[row].fix.time }
    mutating func setParked(at row: Int) { self[row].isParked = true }
    mutating func setClockTime(at row: Int) { self[row].fix.isClockTime = true }
    mutating func setObjectName(_ name: String, at row: Int) { self[row].objectName = name }
    mutating func setAttribute(_ key: String, _ value: AttributeValue, at row: Int) {
        self[row].attributes[key] = value
    }
    mutating func setContinuity(_ continuity: Continuity, at row: Int) { self[row].continuity = continuity }
}

/// Reads batch payload formats 1 to 4. Distrusts the bytes: checks the bound of every count before it uses the count.
struct BatchDecoder<Points: DecodedPoints> {
    private var columns: ColumnReader
    private let maximumCount: Int
    private let version: UInt8

    static func decode(_ bytes: [UInt8], maximumCount: Int) throws(WireError) -> Points {
        guard let version = bytes.first else { throw WireError(.malformed, "batch payload: empty") }
        guard (1...WireLimits.payloadFormat).contains(Int(version)) else {
            throw WireError(
                .unsupportedVersion,
                "batch payload: format \(version), this program reads formats 1 to \(WireLimits.payloadFormat)")
        }
        var decoder = BatchDecoder(
            columns: ColumnReader(bits: BitReader(bytes, skipping: 1)), maximumCount: maximumCount,
            version: version)
        return try decoder.read()
    }

    private mutating func read() throws(WireError) -> Points {
        let claimed = columns.bits.readGolomb(order: ColumnShape.countOrder)
        guard !columns.bits.hasFailed else { throw WireError(.malformed, "batch payload: no count") }
        guard claimed <= UInt64(max(0, maximumCount)) else {
            throw WireError(.tooLarge, "batch payload: \(claimed) points, at most \(maximumCount) are allowed")
        }
        let rows = Int(claimed)
        guard rows > 0 else {
            try finish()
            return Points()
        }
        let firstTime = unzigzag(columns.bits.readGolomb(order: ColumnShape.timeOrder))
        let intervals = try columns.column(rows: rows - 1, .interval, "time")
        let speeds = try columns.optionalColumn(rows: rows, .speed, "speed")
        let courses = try columns.courseColumn(rows: rows, "course")
        let altitudes = try columns.optionalColumn(rows: rows, .altitude, "altitude")
        let accuracies = try columns.optionalColumn(rows: rows, .accuracy, "accuracy")
        let modes = try columns.optionalColumn(rows: rows, .mode, "mode")
        let statuses = try columns.optionalColumn(rows: rows, .status, "status")
        let satellites = try columns.optionalColumn(rows: rows, .satellites, "satellites")
        let types = try columns.column(rows: rows, .coordinateType, "coordinate type")
        let coordinates = try PositionColumns.read(
            rows: rows, intervals: intervals, speeds: speeds, courses: courses, from: &columns)

        var points = Points()
        points.reserve(rows)
        var time = firstTime
        for row in 0..<rows {
            if row > 0 { time &+= intervals[row - 1] }
            let fix = Fix(
                time: Timestamp(milliseconds: time), coordinate: coordinates[row],
                speed: Int32(exactly: speeds[row]), course: Int32(exactly: courses[row]),
                altitude: Int32(exactly: altitudes[row]), accuracy: Int32(exactly: accuracies[row]),
                mode: UInt8(exactly: modes[row]).flatMap(FixMode.init(rawValue:)),
                status: UInt8(exactly: statuses[row]).flatMap(FixStatus.init(rawValue:)),
                satellites: UInt8(exactly: satellites[row]))
            points.append(fix, CoordinateType(wireNumber: types[row]))
        }
        let names = columns.bits.readBit() ? try columns.optionalColumn(rows: rows, .stringIndex, "object name") : []
        let attributes = columns.bits.readBit() ? try AttributeColumns(rows: rows, from: &columns) : nil
        if version >= 2 {
            let parked = try columns.optionalColumn(rows: rows, .parked, "parked")
            for (row, value) in parked.enumerated() where value != ColumnReader.absent { points.setParked(at: row) }
        }
        if version >= 3 { try ContinuityColumns.read(into: &points, from: &columns) }
        if version >= 4 {
            let marks = try columns.optionalColumn(rows: rows, .clockTime, "clock time")
            for (row, value) in marks.enumerated() where value != ColumnReader.absent { points.setClockTime(at: row) }
        }
        try finish(points: &points, names: names, attributes: attributes)
        return points
    }

    private mutating func finish(
        points: inout Points, names: [Int64], attributes: AttributeColumns?
    ) throws(WireError) {
        columns.bits.align()
        let strings = names.isEmpty && attributes == nil ? [] : try readStrings()
        for (row, name) in names.enumerated() where name != ColumnReader.absent {
            guard name < strings.count else { throw ColumnReader.malformed("object name") }
            points.setObjectName(strings[Int(name)], at: row)
        }
        try attributes?.apply(to: &points, strings: strings)
        try finish()
    }

    private mutating func readStrings() throws(WireError) -> [String] {
        // The table of texts follows only if there is a name or an attribute, and both need at least one text.
        let count = columns.bits.readVarint()
        guard !columns.bits.hasFailed, count <= columns.bits.remainingBytes else {
            throw WireError(.malformed, "batch payload: the text table is truncated")
        }
        var strings: [String] = []
        strings.reserveCapacity(count)
        for _ in 0..<count {
            guard let text = columns.bits.readString(bytes: columns.bits.readVarint()), !columns.bits.hasFailed else {
                throw WireError(.malformed, "batch payload: a text is truncated or not UTF-8")
            }
            strings.append(text)
        }
        return strings
    }

    private mutating func finish() throws(WireError) {
        columns.bits.align()
        guard !columns.bits.hasFailed, columns.bits.isAtEnd else {
            throw WireError(.malformed, "batch payload: truncated, or something follows it")
        }
    }
}

extension CoordinateType {
    /// The column's range allows only these three values.
    fileprivate init(wireNumber: Int64) {
        switch wireNumber {
        case 1: self = .gcj02
        case 2: self = .bd09ll
        default: self = .wgs84
        }
    }
}
