import ArgumentParser

/// Rows of cells set under each other, columns two spaces apart, in the width of a terminal.
///
/// Where there is no room for all columns, the texts of columns that fold go on in further lines, and then the columns of the
/// highest rank are left out. No word is ever broken: a longer one has a line of its own. Only a column that says so has its texts
/// cut, each to one line.
package struct TextTable {
    package struct Column: Hashable, Sendable, ExpressibleByStringLiteral {
        package enum Alignment: Hashable, Sendable {
            case leading, trailing
        }

        package let title: String
        package let alignment: Alignment
        /// 0: never left out. Otherwise the columns with the greatest number are left out first.
        package let rank: Int
        /// Long texts of it may take several lines.
        package let folds: Bool
        /// Long texts of it end in `…` where there is no room.
        package let cuts: Bool

        package init(
            _ title: String, _ alignment: Alignment = .leading, rank: Int = 0, folds: Bool = false, cuts: Bool = false
        ) {
            (self.title, self.alignment, self.rank) = (title, alignment, rank)
            (self.folds, self.cuts) = (folds, cuts)
        }

        package init(stringLiteral title: String) {
            self.init(title)
        }

        package static func number(_ title: String, rank: Int = 0) -> Column {
            Column(title, .trailing, rank: rank)
        }

        /// A name or a sentence.
        package static func text(_ title: String = "", rank: Int = 0) -> Column {
            Column(title, rank: rank, folds: true)
        }

        /// What a program reads, such as JSON: its beginning.
        package static func beginning(_ title: String, rank: Int = 0) -> Column {
            Column(title, rank: rank, cuts: true)
        }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// A line of titles stands above the rows unless all titles are empty.
    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// A name and a text a row.
    package static var pairs: TextTable { TextTable(["", .text()]) }

    package var isEmpty: Bool { rows.isEmpty }

    package mutating func add(_ cells: String...) {
        add(cells)
    }

    /// A cell for each column; those that are missing are empty.
    package mutating func add(_ cells: [String]) {
        rows.append(columns.indices.map { $0 < cells.count ? TerminalText.safe(cells[$0]) : "" })
    }

    /// `width`: columns of the terminal; nil: everything, a line for each row. No line ends in spaces. Below, a sentence names
    /// the columns that are left out or cut.
    package func lines(width: Int?) -> [String] {
        let layout = layout(in: width)
        let header = columns.contains { !$0.title.isEmpty } ? [columns.map(\.title)] : []
        let lines = (header + rows).flatMap { row in
            Self.lines(
                layout.shown.map { ($0.width, columns[$0.index].alignment, cut(row[$0.index], $0, layout.isBounded)) },
                layout.isBounded)
        }
        guard let width else { return lines }
        let shortened = layout.shown.filter { place in
            columns[place.index].cuts && rows.contains { DisplayWidth.columns($0[place.index]) > place.width }
        }
        let notes = [("Not shown here", layout.leftOut), ("Cut here", shortened.map(\.index))].compactMap {
            what, which in
            which.isEmpty ? nil : "\(what): \(which.map { columns[$0].title }.joined(separator: ", "))."
        }
        guard !notes.isEmpty else { return lines }
        return lines + [""] + TextFold.lines("\(notes.joined(separator: " ")) To see all: --wide", width: width)
    }

    private func cut(_ text: String, _ place: (index: Int, width: Int), _ isBounded: Bool) -> String {
        guard isBounded, columns[place.index].cuts, DisplayWidth.columns(text) > place.width else { return text }
        return DisplayWidth.prefix(text, columns: max(place.width - 1, 0)) + "…"
    }

    // MARK: - The widths

    private struct Layout {
        var shown: [(index: Int, width: Int)]
        var leftOut: [Int] = []
        var isBounded = true
    }

    private func layout(in width: Int?) -> Layout {
        let natural = columns.indices.map { column in
            max(
                DisplayWidth.columns(columns[column].title),
                rows.map { DisplayWidth.columns($0[column]) }.max() ?? 0)
        }
        guard let width else {
            return Layout(shown: columns.indices.map { ($0, natural[$0]) }, isBounded: false)
        }
        let least = columns.indices.map { column in
            if columns[column].cuts {
                return min(natural[column], max(DisplayWidth.columns(columns[column].title), 16))
            }
            return columns[column].folds ? smallestWidth(of: column, natural[column]) : natural[column]
        }
        var chosen = Array(columns.indices)
        while Self.total(chosen.map { least[$0] }) > width,
            let worst = chosen.max(by: { (columns[$0].rank, $0) < (columns[$1].rank, $1) }), columns[worst].rank > 0
        {
            chosen.removeAll { $0 == worst }
        }
        let leftOut = columns.indices.filter { !chosen.contains($0) }
        // A number or a time that is wider than it should be has a line of its own.
        let fits = Self.total(chosen.map { least[$0] }) <= width
        let smallest = chosen.map { fits ? least[$0] : min(least[$0], max(DisplayWidth.columns(columns[$0].title), 8)) }
        var widths = smallest
        var rest = max(0, width - Self.total(smallest))
        // The columns that want the least more get it first, so most of them are whole.
        let wishes = chosen.indices.sorted { natural[chosen[$0]] - widths[$0] < natural[chosen[$1]] - widths[$1] }
        for index in wishes {
            let more = min(rest, natural[chosen[index]] - widths[index])
            widths[index] += more
            rest -= more
        }
        return Layout(shown: Array(zip(chosen, widths)).map { ($0, $1) }, leftOut: leftOut)
    }

    /// Of a column that folds: room for its words, as far as they are of a usual length.
    private func smallestWidth(of column: Int, _ natural: Int) -> Int {
        let widest = rows.map { TextFold.widestPart(of: $0[column]) }.max() ?? 0
        return min(natural, max(DisplayWidth.columns(columns[column].title), min(max(widest, 12), 28)))
    }

    private static func total(_ widths: [Int]) -> Int { widths.reduce(0, +) + max(0, widths.count - 1) * 2 }

    // MARK: - One row

    private typealias Cell = (width: Int, alignment: Column.Alignment, text: String)

    /// Below a piece that is wider than its column, the cells on its right begin one line lower.
    private static func lines(_ cells: [Cell], _ isBounded: Bool) -> [String] {
        var lines: [String] = []
        var start = 0
        var left = 0
        for (index, cell) in cells.enumerated() {
            let pieces = TextFold.lines(cell.text, width: isBounded ? cell.width : nil)
            for (offset, piece) in pieces.enumerated() where !piece.isEmpty {
                let line = start + offset
                while lines.count <= line { lines.append("") }
                let space = max(0, cell.width - DisplayWidth.columns(piece))
                let indent = left + (cell.alignment == .trailing ? space : 0) - DisplayWidth.columns(lines[line])
                lines[line] += String(repeating: " ", count: max(0, indent)) + piece
            }
            let widest = pieces.lastIndex { DisplayWidth.columns($0) > cell.width }
            if let widest, index < cells.count - 1 { start += widest + 1 }
            left += cell.width + 2
        }
        return lines.isEmpty ? [""] : lines
    }
}

/// How wide a table may be; an option of both command lines.
package struct TableOptions: ParsableArguments {
    @Flag(name: .long, help: "Show all columns, a line for each row, however narrow the terminal is.")
    package var wide = false

    package init() {}

    /// Columns of the terminal; nil: no bound.
    package var width: Int? { wide ? nil : TerminalSize.columns }
}
