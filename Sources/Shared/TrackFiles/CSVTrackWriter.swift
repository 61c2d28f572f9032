import JSON

/// Writes the points of a track as a table. The columns of attributes are known only at the end: so rows go to a spool,
/// and ``head`` and ``filled(_:)`` make the file of it.
package struct CSVTrackWriter {
    private static let columns: [FilePoint.Field] = [
        .time, .latitude, .longitude, .speed, .course, .altitude, .accuracy, .objectName,
    ]
    /// Ends a row of the spool: no UTF-8 has this byte.
    private static let rowEnd: UInt8 = 0xFF

    private var attributes: [String] = []
    private var places: [String: Int] = [:]
    /// Columns of attributes that rows have, and how many bytes of the spool have so many.
    private var runs: [(columns: Int, bytes: Int)] = []
    /// Of ``filled(_:)``.
    private var run = 0
    private var taken = 0

    /// Set before ``head``: a last column has the remark in its first row. The column's name is that of no attribute.
    package var roads: WrittenRoads?
    private var hasRemark = false
    /// Texts that a spreadsheet would compute are kept from it: see ``CSVText``.
    private let isForPeople: Bool

    package init(isForPeople: Bool = true) { self.isForPeople = isForPeople }

    /// A row of the spool.
    package mutating func add(_ point: WrittenPoint) -> [UInt8] {
        for key in point.attributes.keys.sorted() where places[key] == nil {
            places[key] = attributes.count
            attributes.append(key)
        }
        let fixed = [
            FileText.time(point.time), FileText.degrees(point.latitude), FileText.degrees(point.longitude),
            number(point.speed), number(point.course), number(point.altitude), number(point.accuracy),
            text(point.objectName ?? ""),
        ]
        let own = attributes.map { key in
            point.attributes[key].map { value in
                if case .string = value { text(FileText.plain(value)) } else { FileText.plain(value) }
            } ?? ""
        }
        let row = Array((fixed + own).map(Self.cell).joined(separator: ",").utf8) + [Self.rowEnd]
        if runs.last?.columns == attributes.count {
            runs[runs.count - 1].bytes += row.count
        } else {
            runs.append((attributes.count, row.count))
        }
        return row
    }

    private func text(_ text: String) -> String { isForPeople ? CSVText.guarded(text) : text }

    private func number(_ value: Double?) -> String { value.map { FileText.decimal($0, 3) } ?? "" }

    /// The first line of the file.
    package var head: String {
        (Self.columns.map(\.rawValue) + attributes.map(text) + (roads == nil ? [] : ["_roads"])).map(Self.cell).joined(
            separator: ",") + "\n"
    }

    /// The next bytes of the spool as the file has them.
    package mutating func filled(_ spool: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        for byte in spool {
            while run < runs.count, taken == runs[run].bytes { (run, taken) = (run + 1, 0) }
            taken += 1
            guard byte == Self.rowEnd else {
                text.append(byte)
                continue
            }
            let missing = run < runs.count ? attributes.count - runs[run].columns : 0
            text += repeatElement(UInt8(ascii: ","), count: missing)
            if let roads {
                text.append(UInt8(ascii: ","))
                if !hasRemark { text += Self.cell(roads.text).utf8 }
                hasRemark = true
            }
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// RFC 4180. White space at the ends is kept by quotes.
    private static func cell(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in !",;\t\"\r\n".utf8.contains(byte) }
        guard !isPlain || text.utf8.first == 0x20 || text.utf8.last == 0x20 else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

/// Texts in tables that spreadsheets open.
///
/// A spreadsheet computes a cell that begins with `=`, `+`, `-`, `@`, a tab or a line break: a name such as `=HYPERLINK(…)` then runs on
/// the computer of whoever opens the table. An apostrophe before it says that the cell is a text. Where `;` or a tab separates cells, a
/// spreadsheet sees no quotes in the middle of a line, so a text has a cell behind each of them, and behind a line break.
package enum CSVText {
    /// The text as it stands in a table for people. ``unguarded(_:)`` gives it back.
    package static func guarded(_ text: String) -> String {
        let parts = mapParts(text) {
            isComputed($0.drop { " \"'".unicodeScalars.contains($0) }) ? "'" + String($0) : String($0)
        }
        return isComputed(text.unicodeScalars[...]) ? "'" + parts : parts
    }

    /// What a cell of such a table says.
    package static func unguarded(_ cell: String) -> String {
        let scalars = cell.unicodeScalars
        let isGuarded = scalars.first == "'" && isComputed(scalars.dropFirst())
        return mapParts(isGuarded ? String(scalars.dropFirst()) : cell) { part in
            let isGuarded =
                part.first == "'" && isComputed(part.dropFirst().drop { " \"'".unicodeScalars.contains($0) })
            return String(isGuarded ? part.dropFirst() : part)
        }
    }

    /// Maps what stands behind each separator of cells and lines that a spreadsheet may know.
    private static func mapParts(_ text: String, _ map: (Substring.UnicodeScalarView) -> String) -> String {
        var (result, rest) = ("", text.unicodeScalars[...])
        var isFirst = true
        while true {
            let end = rest.firstIndex { ";\t\r\n".unicodeScalars.contains($0) }
            let part = rest[..<(end ?? rest.endIndex)]
            result += isFirst ? String(part) : map(part)
            guard let end else { return result }
            result.unicodeScalars.append(rest[end])
            rest = rest[rest.index(after: end)...]
            isFirst = false
        }
    }

    /// Whether a spreadsheet may compute it, or would after apostrophes were taken away. A plain number is harmless.
    private static func isComputed(_ text: Substring.UnicodeScalarView) -> Bool {
        let rest = text.drop { $0 == "'" }
        guard let first = rest.first else { return false }
        switch first {
        // Also as Chinese and Japanese keyboards write them.
        case "=", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF20}", "\u{FF0B}", "\u{FF0D}": return true
        case "+", "-": return !isNumber(rest.dropFirst())
        default: return false
        }
    }

    private static func isNumber(_ text: Substring.UnicodeScalarView) -> Bool {
        !text.isEmpty && text.allSatisfy { ("0"..."9").contains($0) || $0 == "." } && text.count { $0 == "." } <= 1
    }
}
