import Glibc

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

/// A text that must not reach a log, a status or an error: printing it shows `<hidden>`.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, for the one place that needs it.
    package let revealed: String

    package init(_ text: String) {
        revealed = text
    }

    package var description: String { "<hidden>" }
    package var debugDescription: String { description }
    /// Without this `dump` and string interpolation of a holder would walk into the text.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret {
    /// A credential that systemd passed to the service (`LoadCredential=`), without white space at its ends; nil when
    /// there is none. A blank one is none: the units set that as the default of a credential nobody made.
    package static func credential(named name: String) throws(ConfigurationError) -> Secret? {
        guard let directory = getenv("CREDENTIALS_DIRECTORY") else { return nil }
        let path = String(cString: directory) + "/" + name
        guard access(path, F_OK) == 0 else { return nil }
        let (bytes, _) = try FileReading.bytes(of: path, limit: ConfigurationReader.maximumSecretBytes)
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let text = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        if text.isEmpty { return nil }
        guard let secret = String(validating: text, as: UTF8.self) else {
            throw ConfigurationError(.unreadable, file: path, "the credential is not UTF-8")
        }
        return Secret(secret)
    }
}
