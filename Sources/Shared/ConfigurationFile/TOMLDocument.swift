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
