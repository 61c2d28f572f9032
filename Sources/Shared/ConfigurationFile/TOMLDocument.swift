/// A TOML 1.0 text as a tree, with the line of every key.
///
/// Read here and not by a library because a mistake in a configuration must be answered with its line, also when the
/// mistake is a value's and not the syntax's, and must never stop the process.
struct TOMLDocument: Sendable {
    private(set) var root: [String: TOMLNode] = [:]
    private var lines: [[String]: Int] = [:]

    /// The line of a key, or of the nearest table around it; from 1.
    func line(of path: [String]) -> Int? {
        var path = path
        while !path.isEmpty {
            if let line = lines[path] { return line }
            path.removeLast()
        }
        return nil
    }

    /// Throws `.syntax` with a line.
    init(_ text: String, path: String) throws(ConfigurationError) {
        do throws(TOMLSyntaxError) {
            try read(text)
        } catch {
            throw ConfigurationError(.syntax, file: path, line: error.line, error.message)
        }
    }

    private mutating func read(_ text: String) throws(TOMLSyntaxError) {
        var scanner = TOMLScanner(text)
        var table: [String] = []
        while true {
            scanner.skipBlankLines()
            guard let first = scanner.next else { return }
            let line = scanner.line
            if first == UInt8(ascii: "[") {
                let isArray = scanner.take("[[")
                if !isArray { _ = scanner.take("[") }
                table = try scanner.keyPath()
                guard scanner.take(isArray ? "]]" : "]") else {
                    throw scanner.error("a table header must end with \(isArray ? "]]" : "]")")
                }
                record(table, line)
                guard Self.open(table[...], isArray: isArray, in: &root) else {
                    throw TOMLSyntaxError(line: line, message: "[\(table.joined(separator: "."))] stands twice")
                }
            } else {
                let key = try scanner.keyPath()
                guard scanner.take("=") else { throw scanner.error("a key must be followed by = and a value") }
                let value = try scanner.value(depth: 0)
                record(table + key, line)
                guard Self.set(key[...], to: value, under: table[...], in: &root) else {
                    throw TOMLSyntaxError(line: line, message: "\(key.joined(separator: ".")) stands twice")
                }
            }
            try scanner.endLine()
        }
    }

    private mutating func record(_ path: [String], _ line: Int) {
        // The parents of a dotted key stand where they are first named.
        for length in 1...path.count where lines[Array(path.prefix(length))] == nil {
            lines[Array(path.prefix(length))] = line
        }
    }

    // MARK: Building the tree; false means that the text contradicts itself

    private static func open(_ path: ArraySlice<String>, isArray: Bool, in table: inout [String: TOMLNode]) -> Bool {
        guard let name = path.first else { return false }
        if path.count > 1 {
            return descend(into: name, in: &table, make: .implicit, through: [.implicit, .header, .dotted]) {
                open(path.dropFirst(), isArray: isArray, in: &$0)
            }
        }
        switch table[name] {
        case nil: table[name] = isArray ? .array([.table([:], .header)], .tables) : .table([:], .header)
        case .array(let items, .tables) where isArray: table[name] = .array(items + [.table([:], .header)], .tables)
        case .table(let entries, .implicit) where !isArray: table[name] = .table(entries, .header)
        default: return false
        }
        return true
    }

    private static func set(
        _ key: ArraySlice<String>, to value: TOMLNode, under path: ArraySlice<String>,
        in table: inout [String: TOMLNode]
    ) -> Bool {
        if let name = path.first {
            return descend(into: name, in: &table, make: nil, through: [.implicit, .header, .dotted]) {
                set(key, to: value, under: path.dropFirst(), in: &$0)
            }
        }
        return insert(key, value, in: &table)
    }

    /// Adds a key, dotted or not; false when it is there or leads through something that is no open table.
    static func insert(_ key: ArraySlice<String>, _ value: TOMLNode, in table: inout [String: TOMLNode]) -> Bool {
        guard let name = key.first else { return false }
        if key.count > 1 {
            return descend(into: name, in: &table, make: .dotted, through: [.dotted]) {
                insert(key.dropFirst(), value, in: &$0)
            }
        }
        guard table[name] == nil else { return false }
        table[name] = value
        return true
    }

    private static func descend(
        into name: String, in table: inout [String: TOMLNode], make kind: TOMLNode.TableKind?,
        through allowed: [TOMLNode.TableKind], _ body: (inout [String: TOMLNode]) -> Bool
    ) -> Bool {
        switch table[name] {
        case nil:
            guard let kind else { return false }
            var inner: [String: TOMLNode] = [:]
            guard body(&inner) else { return false }
            table[name] = .table(inner, kind)
        case .table(var inner, let kind):
            guard allowed.contains(kind), body(&inner) else { return false }
            table[name] = .table(inner, kind)
        case .array(var items, .tables):
            guard case .table(var inner, let kind) = items.last, body(&inner) else { return false }
            items[items.count - 1] = .table(inner, kind)
            table[name] = .array(items, .tables)
        default: return false
        }
        return true
    }
}

struct TOMLSyntaxError: Error {
    let line: Int
    let message: String
}
