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
