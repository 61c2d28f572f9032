/// Cuts text that comes in pieces into its lines. Holds at most one line.
package struct LineCutter {
    private let maximum: Int
    private var line: [UInt8] = []

    /// `maximum`: bytes of a line. Of a longer line its first `maximum + 1` bytes are a line.
    package init(maximum: Int) { self.maximum = maximum }

    /// The lines that end in this piece, without their ends.
    package mutating func cut(_ piece: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            add(rest[..<end])
            lines.append(line)
            line = []
            rest = rest[(end + 1)...]
        }
        add(rest)
        return lines
    }

    /// The last line, when no end stands behind it.
    package mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) { line += bytes.prefix(max(0, maximum + 1 - line.count)) }
}
