package import AgentControl
package import JSON
internal import Terminal
internal import TrackModel

/// Reads attributes from the arguments, and tells which ones the agent ignored.
package enum AttributeText {
    /// Nil unless `text` is `key=value` with a key.
    package static func pair(_ text: String) -> (key: String, text: String)? {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// Reads the value as the column's type (`int`, `double`, `string`). What does not fit stays text.
    ///
    /// Nil: by its look, a whole number, a number or a text; quotes around it make it a text.
    package static func value(_ text: String, type: String?) -> JSONValue {
        switch type {
        case "string": .string(text)
        case "int": Int64(text).map(JSONValue.integer) ?? .string(text)
        case "double": number(text) ?? .string(text)
        default: Int64(text).map(JSONValue.integer) ?? number(text) ?? .string(unquoted(text))
        }
    }

    /// The same for a key. A floor is a text, whatever it looks like: 02 is another one than 2.
    package static func value(_ text: String, of key: String, type: String? = nil) -> JSONValue {
        key == FloorAttribute.key ? .string(unquoted(text)) : value(text, type: type)
    }

    private static func number(_ text: String) -> JSONValue? {
        Double(decimal: text).map(JSONValue.double)
    }

    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    package static func ignored(_ values: [IgnoredValue]) -> [String] {
        values.map { "\($0.key) is ignored: \($0.detail)".printable }
    }
}
