import ArgumentParser
import JSON
import Terminal

/// How a list is shown.
struct ListOptions: ParsableArguments {
    @Flag(help: "Print JSON: one array of objects.")
    var json = false
    @OptionGroup var table: TableOptions
}

/// What a command lists, for people and for programs.
struct Listing<Row> {
    struct Column {
        /// Nil: only in JSON.
        fileprivate let column: TextTable.Column?
        fileprivate let key: String
        fileprivate let text: (Row) -> String
        fileprivate let value: (Row) -> JSONValue?

        /// `key`: of the member in JSON, whose value is the text when `value` is not given.
        init(
            _ column: TextTable.Column, _ key: String, _ text: @escaping (Row) -> String,
            value: ((Row) -> JSONValue?)? = nil
        ) {
            (self.column, self.key, self.text) = (column, key, text)
            self.value = value ?? { .string(text($0)) }
        }

        /// A member that is in JSON alone.
        init(key: String, value: @escaping (Row) -> JSONValue?) {
            (column, self.key, text, self.value) = (nil, key, { _ in "" }, value)
        }
    }

    let columns: [Column]

    init(_ columns: [Column]) {
        self.columns = columns
    }

    func show(_ rows: [Row], _ options: ListOptions) {
        if options.json { return Output.print(json: json(rows).description) }
        for line in lines(rows, width: options.table.width) { Output.print(line) }
    }

    func lines(_ rows: [Row], width: Int?) -> [String] {
        var table = TextTable(columns.compactMap(\.column))
        let shown = columns.filter { $0.column != nil }
        for row in rows { table.add(shown.map { $0.text(row) }) }
        return table.lines(width: width)
    }

    private func json(_ rows: [Row]) -> JSONValue {
        .array(
            rows.map { row in
                .object(
                    Dictionary(
                        columns.compactMap { column in column.value(row).map { (column.key, $0) } },
                        uniquingKeysWith: { $1 }))
            })
    }
}
