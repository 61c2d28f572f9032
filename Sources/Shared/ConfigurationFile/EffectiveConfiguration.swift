/// What a program runs with after reading its file: every key it knows, in the order it asked for them.
package struct EffectiveConfiguration: Sendable {
    package struct Entry: Hashable, Sendable {
        /// Dotted; empty for the top of the file.
        package let table: String
        package let key: String
        /// In TOML, `"<hidden>"` for a secret; nil when optional and not given.
        package let value: String?
        package let isDefault: Bool
        /// Range and unit, for people; may be empty.
        package let rule: String
    }

    package let path: String
    package let entries: [Entry]
    /// Sentences an operator should read, such as a secret that everyone may read.
    package let warnings: [String]

    /// The configuration as TOML that can be fed back, secrets hidden, defaults marked.
    package var toml: String {
        var tables: [String] = []
        for entry in entries where !tables.contains(entry.table) { tables.append(entry.table) }
        // Keys without a table must come first, or they would belong to the table above them.
        tables.sort { $0.isEmpty && !$1.isEmpty }
        var sections: [String] = []
        for table in tables {
            var lines = table.isEmpty ? [] : ["[\(table)]"]
            for entry in entries where entry.table == table {
                guard let value = entry.value else {
                    lines.append("# \(entry.key) is not set")
                    continue
                }
                lines.append("\(entry.key) = \(value)" + (entry.isDefault ? "  # default" : ""))
            }
            sections.append(lines.joined(separator: "\n"))
        }
        return sections.joined(separator: "\n\n") + "\n"
    }
}
