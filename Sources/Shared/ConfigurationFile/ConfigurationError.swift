/// Why a configuration could not be used, with everything that is wrong with it, not only the first thing.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The file cannot be opened or read.
        case unreadable
        /// The file is no TOML.
        case syntax
        /// Keys or values break a rule.
        case invalid
        /// A file could not be written; what was there before is unchanged.
        case unwritable
        /// A file that must not be replaced exists already.
        case exists
    }

    package let code: Code
    /// In the order of their lines. Never empty.
    package let problems: [ConfigurationProblem]

    package init(_ code: Code, _ problems: [ConfigurationProblem]) {
        self.code = code
        self.problems = problems
    }

    package init(_ code: Code, file: String, line: Int? = nil, _ message: String) {
        self.init(code, [ConfigurationProblem(file: file, line: line, message: message)])
    }

    /// One problem a line.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
    package var detail: String { description }
    /// All problems in one line.
    package var sentence: String { problems.map(\.description).joined(separator: "; ") }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}

/// One thing that is wrong with a file: where, the value, the rule, and what to do. Holds no secret.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    package let file: String
    /// From 1; nil when the file as a whole is meant.
    package let line: Int?
    package let message: String

    package init(file: String, line: Int?, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    package var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}

// Keys and tables that no program asks for, with a guess at what was meant.
extension ConfigurationReader {
    /// Remembers every key and every table below `path` that nobody asked for.
    mutating func findUnknown(_ entries: [String: TOMLNode], at path: [String]) {
        for (key, node) in entries.sorted(by: { $0.key < $1.key }) {
            let here = path + [key]
            if asked.contains(here) { continue }
            let isParent = asked.contains { $0.count > here.count && $0.starts(with: here) }
            // A guess at what was meant costs more than reading the key.
            guard isParent || unknownCount < Self.maximumUnknown else {
                unknownCount += 1
                continue
            }
            switch node {
            case .table(let inner, _) where isParent: findUnknown(inner, at: here)
            case _ where isParent: unknown(here, "\(here.joined(separator: ".")) is \(node.kind): it must be a table")
            case .table: unknownTable(here)
            default: unknownKey(here, key)
            }
        }
    }

    private mutating func unknown(_ path: [String], _ message: String) {
        unknownCount += 1
        problems.append(ConfigurationProblem(file: self.path, line: document.line(of: path), message: message))
    }

    private mutating func unknownTable(_ path: [String]) {
        let name = path.joined(separator: ".")
        var tables: [String] = []
        for other in asked.map({ $0.dropLast().joined(separator: ".") }) where !other.isEmpty && !tables.contains(other)
        {
            tables.append(other)
        }
        let guess = NearestKey.to(name, among: tables).map { ": did you mean [\($0)]?" }
        unknown(
            path,
            "unknown table [\(name)]" + (guess ?? ", known are " + tables.map { "[\($0)]" }.joined(separator: ", ")))
    }

    /// The value is not shown: it may be a secret under a misspelled key.
    private mutating func unknownKey(_ path: [String], _ key: String) {
        let siblings = asked.filter { $0.dropLast().elementsEqual(path.dropLast()) }.compactMap(\.last)
        let table = path.dropLast().joined(separator: ".")
        let place = table.isEmpty ? "at the top of the file" : "in [\(table)]"
        if let elsewhere = asked.first(where: { $0.last == key }) {
            let home = elsewhere.dropLast().joined(separator: ".")
            unknown(
                path,
                "unknown key \(key) \(place): it belongs "
                    + (home.isEmpty ? "at the top of the file" : "into [\(home)]"))
        } else if let guess = NearestKey.to(key, among: siblings) {
            unknown(path, "unknown key \(key) \(place): did you mean \(guess)?")
        } else if let guess = asked.first(where: { $0.last.map { NearestKey.to(key, among: [$0]) != nil } ?? false }) {
            unknown(path, "unknown key \(key) \(place): did you mean \(guess.joined(separator: "."))?")
        } else {
            unknown(path, "unknown key \(key) \(place)")
        }
    }
}

/// Guesses which key a person meant.
enum NearestKey {
    /// The candidate fewest edits away, when few enough to be a slip; ties go to the first.
    static func to(_ word: String, among candidates: [String]) -> String? {
        let limit = max(2, word.count / 3)
        var best: (distance: Int, word: String)?
        for candidate in candidates {
            let distance = editDistance(Array(word.utf8.prefix(64)), Array(candidate.utf8.prefix(64)))
            if distance <= limit, distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        return best?.word
    }

    /// Levenshtein distance with one row of memory.
    static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (i, leftByte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, rightByte) in right.enumerated() {
                let substituted = diagonal + (leftByte == rightByte ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
            }
        }
        return row[right.count]
    }
}
