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
