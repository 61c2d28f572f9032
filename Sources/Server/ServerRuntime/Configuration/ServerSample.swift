/// The configuration file as it is installed: every key, commented out at its default, with what it means.
///
/// `config/server.toml` is the sample; scripts/embed-sample writes it into ServerSample+Text.swift.
package enum ServerSample {
    /// The sample with some keys set; each must be in it.
    static func text(setting values: [(table: String, key: String, value: String)]) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (table, key, value) in values {
            guard let start = lines.firstIndex(of: "[\(table)]") else { continue }
            let section = lines[start...].dropFirst().prefix { !$0.hasPrefix("[") }
            let found = section.indices.first { lines[$0].hasPrefix("# \(key) = ") }
            if let found { lines[found] = "\(key) = \(value)" }
        }
        return lines.joined(separator: "\n")
    }
}
