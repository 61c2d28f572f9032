/// Why a command failed: a sentence for the person, and the exit code.
struct CommandFailure: Error, Hashable, CustomStringConvertible {
    enum Code: Int32, Hashable {
        /// The agent or the server refused, or the command failed.
        case failed = 1
        /// The command line is wrong.
        case usage = 2
        /// The agent or server cannot be reached.
        case unreachable = 3
    }

    let code: Code
    let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
