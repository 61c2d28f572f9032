/// The rows of a table in text (RFC 4180; comma, semicolon or tab), whose first row names its columns.
struct CSVReader {
    private static let maximumRowBytes = 64 * 1024
    private static let maximumColumns = 256

    /// Other names of columns, in small letters.
    private static let names: [String: FilePoint.Field] = [
        "time": .time, "timestamp": .time, "datetime": .time, "loc_time": .time,
        "latitude": .latitude, "lat": .latitude,
        "longitude": .longitude, "lon": .longitude, "lng": .longitude,
        "speed": .speed,
        "course": .course, "heading": .course, "bearing": .course,
        "altitude": .altitude, "alt": .altitude, "ele": .altitude, "elevation": .altitude,
        "accuracy": .accuracy, "object_name": .objectName,
    ]

    private enum Column {
        case field(FilePoint.Field)
        case attribute(String)
    }

    private var source: ByteSource
    private var columns: [Column] = []
    /// Nil until the first row has shown it.
    private var separator: UInt8?

    init(_ source: ByteSource) {
        self.source = source
    }

    mutating func next() throws(TrackFileError) -> FilePoint? {
        if columns.isEmpty { try readHeader() }
        while true {
            let line = source.line
            guard let cells = try row() else { return nil }
            if cells.count == 1, cells[0].isEmpty { continue }
            guard cells.count == columns.count else {
                throw TrackFileError(
                    line: line, "\(cells.count) values, and \(columns.count) columns are named in the first line")
            }
            var point = FilePoint(place: "line \(line)")
            for (column, cell) in zip(columns, cells) where !cell.isEmpty {
                switch column {
                case .field(let field): point.fields[field] = cell
                case .attribute(let key): point.attributes[key] = cell
                }
            }
            return point
        }
    }

    private mutating func readHeader() throws(TrackFileError) {
        guard let cells = try row() else { throw TrackFileError("is empty: the first line names the columns") }
        guard cells.count <= Self.maximumColumns else {
            throw TrackFileError(line: 1, "\(cells.count) columns: at most \(Self.maximumColumns) are read")
        }
        var seen: Set<String> = []
        for cell in cells {
            let column: Column = Self.names[cell.lowercased()].map(Column.field) ?? .attribute(cell)
            let name =
                switch column {
                case .field(let field): field.rawValue
                case .attribute(let key): key
                }
            guard !name.isEmpty else { throw TrackFileError(line: 1, "a column has no name") }
            guard seen.insert(name).inserted else { throw TrackFileError(line: 1, "two columns are named \(name)") }
            columns.append(column)
        }
        for needed in [FilePoint.Field.time, .latitude, .longitude] where !seen.contains(needed.rawValue) {
            throw TrackFileError(
                line: 1, "no column is named \(needed.rawValue): the first line must name time, latitude and longitude")
        }
    }

    /// Nil at the end of the file. Quoted values may hold separators and ends of lines.
    private mutating func row() throws(TrackFileError) -> [String]? {
        guard try source.peek() != nil else { return nil }
        let line = source.line
        var cells: [String] = []
        var cell: [UInt8] = []
        var (bytes, isQuoted, wasQuoted) = (0, false, false)
        func finished() throws(TrackFileError) -> String {
            guard let text = String(validating: cell, as: UTF8.self) else {
                throw TrackFileError(line: line, "is not UTF-8: convert the file, for example with iconv")
            }
            return wasQuoted ? text : text.trimmedOfSpace
        }
        while let byte = try source.next() {
            bytes += 1
            guard bytes <= Self.maximumRowBytes else {
                throw TrackFileError(line: line, "a line of more than 64 KiB: is a quote not closed?")
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
            if byte == UInt8(ascii: "\"") && cell.allSatisfy({ $0 == 0x20 }) && !wasQuoted {
                (cell, isQuoted, wasQuoted) = ([], true, true)
            } else if byte == UInt8(ascii: "\n") {
                cells.append(try finished())
                return cells
            } else if isSeparator(byte) {
                cells.append(try finished())
                (cell, wasQuoted) = ([], false)
            } else if !(wasQuoted && (byte == UInt8(ascii: "\r") || byte == 0x20)) {
                cell.append(byte)
            }
        }
        guard !isQuoted else { throw TrackFileError(line: line, "a quote is not closed") }
        cells.append(try finished())
        return cells
    }

    /// The first of the three that stands between the names of the columns is the separator of the whole table.
    private mutating func isSeparator(_ byte: UInt8) -> Bool {
        if let separator { return byte == separator }
        guard ",;\t".utf8.contains(byte) else { return false }
        separator = byte
        return true
    }
}
