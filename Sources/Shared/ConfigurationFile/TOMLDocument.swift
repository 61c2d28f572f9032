/// A TOML 1.0 text as a tree, with the line of every key.
///
/// Read here and not by a library because a mistake in a configuration must be answered with its line, also when the
/// mistake is a value's and not the syntax's, and must never stop the process.
struct TOMLDocument: Sendable {
    let root: [String: TOMLNode]
    private let tree: TOMLTree

    /// The line of a key, or of the nearest table around it; from 1.
    func line(of path: [String]) -> Int? { tree.line(of: path) }

    /// Throws `.syntax` with a line.
    init(_ text: String, path: String) throws(ConfigurationError) {
        do throws(TOMLSyntaxError) {
            tree = try Self.read(text)
            root = tree.root
        } catch {
            throw ConfigurationError(.syntax, file: path, line: error.line, error.message)
        }
    }

    private static func read(_ text: String) throws(TOMLSyntaxError) -> TOMLTree {
        var scanner = TOMLScanner(text)
        var tree = TOMLTree(.header)
        while true {
            scanner.skipBlankLines()
            guard let first = scanner.next else { return tree }
            let line = scanner.line
            if first == UInt8(ascii: "[") {
                let isArray = scanner.take("[[")
                if !isArray { _ = scanner.take("[") }
                let table = try scanner.keyPath()
                guard scanner.take(isArray ? "]]" : "]") else {
                    throw scanner.error("a table header must end with \(isArray ? "]]" : "]")")
                }
                guard tree.open(table, isArray: isArray, line: line) else {
                    throw TOMLSyntaxError(line: line, message: "[\(table.joined(separator: "."))] stands twice")
                }
            } else {
                let key = try scanner.keyPath()
                guard scanner.take("=") else { throw scanner.error("a key must be followed by = and a value") }
                let value = try scanner.value(depth: 0)
                guard tree.insert(key, value, line: line) else {
                    throw TOMLSyntaxError(line: line, message: "\(key.joined(separator: ".")) stands twice")
                }
            }
            try scanner.endLine()
        }
    }
}

struct TOMLSyntaxError: Error {
    let line: Int
    let message: String
}

/// The tables of a text while it is read, and the line of every key.
///
/// The tables stand in one array and name each other by their places there. So each key costs the same, however large
/// its table is.
struct TOMLTree: Sendable {
    private struct Table {
        var entries: [String: Entry] = [:]
        var kind: TOMLNode.TableKind
    }

    private struct Entry {
        var content: Content
        /// Where the key is first named; from 1.
        let line: Int
    }

    private enum Content {
        case value(TOMLNode)
        /// The place of the table.
        case table(Int)
        /// The place of the list of tables.
        case list(Int)
    }

    /// The first is the root.
    private var tables: [Table]
    /// The tables that `[[name]]` headers made, by name.
    private var lists: [[Int]] = []
    /// The table that keys are added to.
    private var current = 0

    init(_ kind: TOMLNode.TableKind) {
        tables = [Table(kind: kind)]
    }

    /// The whole tree.
    var root: [String: TOMLNode] { nodes(of: 0) }

    /// The line of a key, or of the nearest table around it.
    func line(of path: [String]) -> Int? {
        var place = 0
        var line: Int?
        for name in path {
            guard let entry = tables[place].entries[name] else { return line }
            line = entry.line
            switch entry.content {
            case .value: return line
            case .table(let inner): place = inner
            case .list(let list): place = lists[list].first ?? place
            }
        }
        return line
    }

    // MARK: Building; false means that the text contradicts itself

    /// A header: the keys that follow belong to this table.
    mutating func open(_ path: [String], isArray: Bool, line: Int) -> Bool {
        var place = 0
        for name in path.dropLast() {
            guard let inner = descend(name, from: place, making: .implicit, line: line) else { return false }
            place = inner
        }
        guard let name = path.last else { return false }
        switch tables[place].entries[name]?.content {
        case nil:
            current = add(.header)
            if isArray { lists.append([current]) }
            tables[place].entries[name] = Entry(
                content: isArray ? .list(lists.count - 1) : .table(current), line: line)
        case .list(let list) where isArray:
            current = add(.header)
            lists[list].append(current)
        case .table(let inner) where !isArray && tables[inner].kind == .implicit:
            tables[inner].kind = .header
            current = inner
        default: return false
        }
        return true
    }

    /// A key, dotted or not; false when it is there or leads through something that is no open table.
    mutating func insert(_ key: [String], _ value: TOMLNode, line: Int) -> Bool {
        var place = current
        for name in key.dropLast() {
            guard let inner = descend(name, from: place, making: .dotted, line: line) else { return false }
            place = inner
        }
        guard let name = key.last, tables[place].entries[name] == nil else { return false }
        tables[place].entries[name] = Entry(content: .value(value), line: line)
        return true
    }

    /// The table of this name. A header may lead through every table of a header; a dotted key may not.
    private mutating func descend(
        _ name: String, from place: Int, making kind: TOMLNode.TableKind, line: Int
    ) -> Int? {
        switch tables[place].entries[name]?.content {
        case nil:
            let made = add(kind)
            tables[place].entries[name] = Entry(content: .table(made), line: line)
            return made
        case .table(let inner): return kind == .implicit || tables[inner].kind == .dotted ? inner : nil
        case .list(let list): return lists[list].last
        case .value: return nil
        }
    }

    private mutating func add(_ kind: TOMLNode.TableKind) -> Int {
        tables.append(Table(kind: kind))
        return tables.count - 1
    }

    // MARK: The result

    private func nodes(of place: Int) -> [String: TOMLNode] {
        tables[place].entries.mapValues { entry in
            switch entry.content {
            case .value(let node): node
            case .table(let inner): node(inner)
            case .list(let list): .array(lists[list].map(node), .tables)
            }
        }
    }

    private func node(_ place: Int) -> TOMLNode { .table(nodes(of: place), tables[place].kind) }
}

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
