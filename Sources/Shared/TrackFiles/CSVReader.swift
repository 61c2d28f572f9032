/// The rows of a table in text (RFC 4180; comma, semicolon, tab or bar), whose first row names its columns.
///
/// A row that cannot be used is given with its ``FilePoint/problem``; the rows behind it are read.
struct CSVReader {
    private static let maximumRowBytes = 64 * 1024
    private static let separators: Set<UInt8> = Set(",;\t|".utf8)

    private struct Row {
        var cells: [String] = []
        var problem: String?
    }

    private var source: ByteSource
    private var columns: [CSVColumns.Column] = []
    private(set) var notes: [String] = []
    /// No row can be read any more.
    private var isBroken = false
    private var hasPoint = false
    /// Nil until the first row has shown it.
    private var separator: UInt8?
    /// `.` or `,`; nil until a place has shown it. A place has no groups of thousands.
    private var decimalSign: Character?

    init(_ source: ByteSource) {
        self.source = source
    }

    mutating func next() throws(TrackFileError) -> FilePoint? {
        if columns.isEmpty { try readHeader() }
        while true {
            let line = source.line
            guard let row = try row() else { return nil }
            if row.problem == nil, row.cells.allSatisfy(\.isEmpty) { continue }
            let point = point(row, line: line)
            hasPoint = hasPoint || point.problem == nil
            return point
        }
    }

    private mutating func readHeader() throws(TrackFileError) {
        var line = source.line
        guard var row = try row() else { throw TrackFileError("is empty: the first line names the columns") }
        // Spreadsheets say so which separator the table has; the line itself is no row.
        if let only = row.cells.first, only.lowercased().hasPrefix("sep=") || only.lowercased() == "sep" {
            if let sign = only.utf8.dropFirst(4).first { separator = sign }
            line = source.line
            guard let second = try self.row() else {
                throw TrackFileError(line: line, "the names of the columns are missing")
            }
            row = second
        }
        if let problem = row.problem { throw TrackFileError(line: line, problem) }
        let header = try CSVColumns(row.cells, line: line)
        (columns, notes) = (header.columns, header.notes)
    }

    private mutating func point(_ row: Row, line: Int) -> FilePoint {
        var point = FilePoint(place: "line \(line)", problem: row.problem)
        var cells = row.cells
        // A separator behind the last value names no column.
        while cells.count > columns.count, cells.last?.isEmpty == true { cells.removeLast() }
        if point.problem == nil, cells.count != columns.count {
            point.problem = "\(cells.count) values, and \(columns.count) columns are named in the first line"
        }
        guard point.problem == nil else { return point }
        for (column, cell) in zip(columns, cells) {
            guard case .field(let field, _) = column, field == .latitude || field == .longitude else { continue }
            if decimalSign == nil { decimalSign = cell.first { $0 == "." || $0 == "," } }
        }
        var date = ""
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            switch column {
            case .field(.time, _), .timeInUTC: point.fields[.time] = cell
            case .field(.objectName, _): point.fields[.objectName] = cell
            case .field(let field, let factor):
                guard let text = decimal(cell) else {
                    point.problem =
                        "\(field.rawValue) \(TrackFileError.quoted(cell)) has a point, and the comma is the decimal sign of this table"
                    return point
                }
                point.fields[field] = FileUnit.converted(text, by: factor)
            case .attribute(let key):
                // A number of a table with decimal commas is one in every column.
                let text = decimal(cell)
                point.attributes[key] = text.flatMap(FileNumber.value) == nil ? cell : text
            case .date: date = cell
            case .unnamed: break
            }
        }
        if let time = point.fields[.time], !date.isEmpty, Self.isClock(time) {
            point.fields[.time] = "\(date) \(time)"
        } else if !date.isEmpty {
            point.attributes["date"] = date
        }
        if columns.contains(.timeInUTC), let time = point.fields[.time], CalendarText(time)?.offset == nil,
            CalendarText(time)?.hasClock == true
        {
            point.fields[.time] = "\(time) UTC"
        }
        return point
    }

    /// With a point as its decimal sign; nil when the table has commas for it and the cell has a point.
    private func decimal(_ cell: String) -> String? {
        guard decimalSign == "," else { return cell }
        return cell.contains(".") ? nil : String(cell.map { $0 == "," ? "." : $0 })
    }

    /// A time of day, to which a column has the day.
    private static func isClock(_ text: String) -> Bool {
        let digits = text.prefix { $0.isASCII && $0.isNumber }.count
        return (1...2).contains(digits) && text.dropFirst(digits).first == ":" || digits == 6 && text.count <= 10
    }

    /// Nil at the end of the file. Quoted values may hold separators and ends of lines.
    private mutating func row() throws(TrackFileError) -> Row? {
        guard !isBroken, try source.peek() != nil else { return nil }
        let line = source.line
        var row = Row()
        var cell: [UInt8] = []
        var (bytes, isQuoted, wasQuoted) = (0, false, false)
        func finish() {
            guard let text = String(validating: cell, as: UTF8.self) else {
                row.problem =
                    row.problem ?? "it \(source.encoding.problem)"
                    + (source.encoding == .utf8 ? ", or say how it is written with --encoding" : "")
                return row.cells.append("")
            }
            row.cells.append(CSVText.unguarded(wasQuoted ? text : text.trimmedOfSpace))
        }
        while let byte = try source.next() {
            bytes += 1
            guard bytes <= Self.maximumRowBytes else {
                return try broken(line, "a line of more than 64 KiB: is a quote not closed?")
            }
            if isQuoted {
                guard byte == UInt8(ascii: "\"") else {
                    cell.append(byte)
                    continue
                }
                if try source.peek() == byte {
                    _ = try source.next()
                    cell.append(byte)
                } else {
                    isQuoted = false
                }
                continue
            }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                if byte == UInt8(ascii: "\r"), try source.peek() == UInt8(ascii: "\n") { _ = try source.next() }
                finish()
                return row
            } else if byte == UInt8(ascii: "\"") && cell.allSatisfy({ $0 == 0x20 }) && !wasQuoted {
                (cell, isQuoted, wasQuoted) = ([], true, true)
            } else if isSeparator(byte) {
                finish()
                (cell, wasQuoted) = ([], false)
            } else if !wasQuoted {
                cell.append(byte)
            } else if byte != 0x20 {
                row.problem = row.problem ?? "something stands behind the quote that closes a value: leave it out"
            }
        }
        guard !isQuoted else {
            return try broken(line, "a quote is not closed")
        }
        finish()
        return row
    }

    /// What follows cannot be told apart. The rows before it are good; without any, the file is of no use.
    private mutating func broken(_ line: Int, _ reason: String) throws(TrackFileError) -> Row {
        guard hasPoint else { throw TrackFileError(line: line, reason) }
        isBroken = true
        return Row(problem: "\(reason); what follows is not read")
    }

    /// The first of the four that stands between the names of the columns is the separator of the whole table.
    private mutating func isSeparator(_ byte: UInt8) -> Bool {
        if let separator { return byte == separator }
        guard Self.separators.contains(byte) else { return false }
        separator = byte
        return true
    }
}

/// What the columns of a table are, by its first row.
struct CSVColumns {
    private static let maximumCount = 256

    enum Column: Equatable {
        /// `factor`: by what a number is multiplied to be in the unit of the field.
        case field(FilePoint.Field, factor: Double)
        /// The time, of a clock in UTC where it has no zone.
        case timeInUTC
        case attribute(String)
        /// The day to the time of day that stands in another column.
        case date
        /// It has no name: nobody could ask for its values.
        case unnamed
    }

    let columns: [Column]
    /// For people: what of the table is not read.
    let notes: [String]

    /// - Throws: for a table without time or place, with one of them twice, or in a unit that is not known.
    init(_ cells: [String], line: Int) throws(TrackFileError) {
        guard cells.count <= Self.maximumCount else {
            throw TrackFileError(line: line, "\(cells.count) columns: at most \(Self.maximumCount) are read")
        }
        let named = cells.map { FilePoint.Field.named(Self.unit(of: $0)?.name ?? $0) }
        var (columns, taken): ([Column], Set<String>) = ([], [])
        for (index, cell) in cells.enumerated() {
            var column = Column.attribute(cell)
            if cell.isEmpty {
                column = .unnamed
            } else if cell.lowercased() == "date" {
                column = .date
            } else if let (field, rank) = named[index] {
                let isBest = named.allSatisfy { $0.map { $0.field != field || $0.rank >= rank } ?? true }
                // Two times or two places may be two different things.
                if field == .time, let zone = Self.unit(of: cell)?.unit, ["utc", "gmt"].contains(zone) {
                    column = .timeInUTC
                } else if isBest || [.time, .latitude, .longitude].contains(field) {
                    column = .field(field, factor: try Self.factor(of: cell, for: field, line: line))
                }
            }
            let name =
                switch column {
                case .field(let field, _): field.rawValue
                case .timeInUTC: FilePoint.Field.time.rawValue
                case .attribute(let key): key
                case .date: "date"
                case .unnamed: ""
                }
            guard name.isEmpty || taken.insert(name).inserted else {
                throw TrackFileError(line: line, "two columns are named \(name): leave one of them out")
            }
            columns.append(column)
        }
        for needed in [FilePoint.Field.time, .latitude, .longitude] where !taken.contains(needed.rawValue) {
            throw TrackFileError(
                line: line,
                "no column is named \(needed.rawValue): the first line must name time, latitude and longitude")
        }
        self.columns = columns
        notes =
            columns.contains(.unnamed) ? ["a column without a name is not read: give it a name in line \(line)"] : []
    }

    /// `speed (km/h)` and `speed[km/h]` are a name and a unit; nil for a name without one.
    private static func unit(of cell: String) -> (name: String, unit: String)? {
        guard let last = cell.last, let bracket = [")": "(", "]": "["][last],
            let start = cell.firstIndex(of: Character(bracket))
        else { return nil }
        let name = cell[..<start].trimmedOfSpace
        return name.isEmpty ? nil : (name, cell[cell.index(after: start)...].dropLast().trimmedOfSpace.lowercased())
    }

    private static func factor(
        of cell: String, for field: FilePoint.Field, line: Int
    ) throws(TrackFileError) -> Double {
        guard let unit = unit(of: cell)?.unit else { return 1 }
        guard let factor = FileUnit.factor(of: unit, for: field) else {
            throw TrackFileError(
                line: line, "the unit of the column \(TrackFileError.quoted(cell)) is not known: convert its values")
        }
        return factor
    }
}

/// The units in which files say the fields of points.
enum FileUnit {
    /// By what a number in this unit, in small letters, is multiplied to be in that of the field: m/s, metres, degrees. Nil for
    /// another unit.
    static func factor(of unit: String, for field: FilePoint.Field) -> Double? {
        switch field {
        case .speed: speeds[unit]
        case .altitude, .accuracy: lengths[unit]
        case .latitude, .longitude, .course: ["°", "deg", "degree", "degrees"].contains(unit) ? 1 : nil
        case .time: unit == "local" ? 1 : nil
        case .objectName: nil
        }
    }

    private static let speeds: [String: Double] = [
        "m/s": 1, "mps": 1, "m s-1": 1, "km/h": 1 / 3.6, "kmh": 1 / 3.6, "kph": 1 / 3.6, "mph": 0.44704,
        "mi/h": 0.44704,
        "kn": 1852.0 / 3600, "kt": 1852.0 / 3600, "kts": 1852.0 / 3600, "knots": 1852.0 / 3600,
    ]
    private static let lengths: [String: Double] = [
        "m": 1, "metre": 1, "metres": 1, "meter": 1, "meters": 1, "km": 1000, "ft": 0.3048, "feet": 0.3048,
    ]

    /// The number of a text in the unit of its field; a text that is none stays as it is.
    static func converted(_ text: String, by factor: Double) -> String {
        factor == 1 ? text : FileNumber.value(text).map { String($0 * factor) } ?? text
    }
}
