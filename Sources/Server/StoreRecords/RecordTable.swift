package import SQLDatabase

/// A table of records, declared once for all engines: what makes it in a new store, and what brings a former store to the present
/// version of the schema.
///
/// Each line of the declaration is a column, a rule, an index or a first row. What stands in it is the common subset of the engines'
/// languages, but for the type of a column:
///
/// | line | what |
/// |---|---|
/// | `name INTEGER …`, `name TEXT …`, `name BYTES …` | a column, with its rules |
/// | `name SERIAL` | a column with a number that the engine gives; no number comes again |
/// | `name SERIAL REUSED` | the same; the number of a removed row may come again |
/// | `PRIMARY KEY …`, `UNIQUE …`, `CHECK …`, `FOREIGN KEY …` | a rule of the table |
/// | `INDEX name (…) …` | an index |
/// | `ROW (…)` | a row that the table has from the beginning |
///
/// `26: ` in front of a column or an index says from which version of the schema the table has it. Such a column stands behind the
/// older ones, and has a default or may be null: former stores get it by `ALTER TABLE`.
package struct RecordTable: Sendable {
    package let name: String
    /// The version of the schema that has made the table.
    private let since: Int
    /// The rows lie in the order of their key, where the engine can do that.
    private let isClustered: Bool
    private let lines: [Line]

    private struct Line {
        let since: Int
        let words: [Substring]

        var text: String { words.joined(separator: " ") }
        var first: Substring { words[0] }
        var isRule: Bool { ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains(first) }
        var isIndex: Bool { first == "INDEX" }
        var isRow: Bool { first == "ROW" }
        var isColumn: Bool { !isRule && !isIndex && !isRow }
    }

    /// `since`: the version of the schema that has made the table. Those of version 25 and before are not told apart, because the steps
    /// to version 25 are an engine's own.
    package init(_ name: String, since: Int = Self.firstDeclared, isClustered: Bool = false, _ lines: String) {
        self.name = name
        self.since = since
        self.isClustered = isClustered
        self.lines = lines.split(separator: "\n").map { line in
            var words = line.split(separator: " ")
            guard let number = words.first?.last == ":" ? Int(words[0].dropLast()) : nil else {
                return Line(since: since, words: words)
            }
            words.removeFirst()
            return Line(since: number, words: words)
        }
    }

    /// The first version of the schema whose tables are declared here.
    package static let firstDeclared = 25

    /// The version that the newest line belongs to.
    package var version: Int { lines.reduce(since) { max($0, $1.since) } }

    /// The statements that make the table in a store that has nothing.
    package func creation(for dialect: SQLDialect) -> [String] {
        let inside = (lines.filter(\.isColumn).map { dialect.column($0.words) } + lines.filter(\.isRule).map(\.text))
            .joined(separator: ",\n    ")
        return ["CREATE TABLE \(name) (\n    \(inside)\n)\(dialect.tableOptions(isClustered: isClustered))"]
            + lines.filter(\.isIndex).map(index)
            + lines.filter(\.isRow).map { "INSERT INTO \(name) VALUES \($0.words.dropFirst().joined(separator: " "))" }
    }

    /// The statements that bring the table from the version before `version` to `version`.
    package func step(to version: Int, for dialect: SQLDialect) -> [String] {
        guard since < version else { return since == version ? creation(for: dialect) : [] }
        return lines.filter { $0.since == version }.map { line in
            line.isIndex ? index(line) : "ALTER TABLE \(name) ADD COLUMN \(dialect.column(line.words))"
        }
    }

    private func index(_ line: Line) -> String {
        "CREATE INDEX \(line.words[1]) ON \(name) \(line.words.dropFirst(2).joined(separator: " "))"
    }
}

extension SQLDialect {
    /// A column as this engine declares it, from the words of its line.
    fileprivate func column(_ words: [Substring]) -> String {
        let rest = words.dropFirst(2)
        let declared: [String] =
            switch words[1] {
            case "INTEGER": [integer] + rest.map(String.init)
            case "BYTES": [bytes] + rest.map(String.init)
            case "SERIAL": [serial(isReused: rest.first == "REUSED")]
            default: words.dropFirst().map(String.init)
            }
        return ([String(words[0])] + declared).joined(separator: " ")
    }
}
