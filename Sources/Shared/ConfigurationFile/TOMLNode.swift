/// A value of a TOML document.
indirect enum TOMLNode: Sendable {
    case string(String)
    case integer(Int)
    /// May be infinite or no number, as TOML allows.
    case double(Double)
    case boolean(Bool)
    case array([TOMLNode], ArrayKind)
    case table([String: TOMLNode], TableKind)
    /// A date, a time, or both: no key of ours takes one.
    case date

    enum ArrayKind: Sendable {
        /// Written as `[…]`; nothing can be added to it.
        case value
        /// Made by `[[name]]` headers.
        case tables
    }

    /// How a table came to be decides what may still be added to it.
    enum TableKind: Sendable {
        /// Named only as the parent of another header.
        case implicit
        case header
        /// Made by a key such as `a.b = 1`.
        case dotted
        /// Written as `{…}`; nothing can be added to it.
        case inline
    }

    /// What it is, for people.
    var kind: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer"
        case .double: "a number with a fraction"
        case .boolean: "true or false"
        case .array: "an array"
        case .table: "a table"
        case .date: "a date or time"
        }
    }

    /// The value in TOML, cut short, for a message.
    var excerpt: String {
        switch self {
        case .string(let text): TOMLText.quoted(text.count > 60 ? String(text.prefix(60)) + "…" : text)
        case .integer(let value): String(value)
        case .double(let value): String(value)
        case .boolean(let value): String(value)
        case .array: "[…]"
        case .table: "{…}"
        case .date: "a date"
        }
    }
}

/// Writing TOML.
package enum TOMLText {
    /// A basic string with its quotes; control characters are escaped.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    package static func array(_ texts: [String]) -> String {
        "[" + texts.map(quoted).joined(separator: ", ") + "]"
    }
}
