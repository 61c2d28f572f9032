/// Rows of cells set under each other, columns two spaces apart.
struct TextTable {
    enum Alignment: Hashable {
        case leading, trailing
    }

    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// Columns beyond `alignments` are leading.
    init(_ alignments: [Alignment] = [], header: [String] = []) {
        self.alignments = alignments
        if !header.isEmpty { rows.append(header) }
    }

    mutating func add(_ cells: String...) {
        add(cells)
    }

    mutating func add(_ cells: [String]) {
        rows.append(cells.map(\.printable))
    }

    /// No line ends in spaces.
    var lines: [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? DisplayWidth.columns($0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[column] - DisplayWidth.columns(cell))
                let alignment = column < alignments.count ? alignments[column] : .leading
                line += (column == 0 ? "" : "  ") + (alignment == .leading ? cell + space : space + cell)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
