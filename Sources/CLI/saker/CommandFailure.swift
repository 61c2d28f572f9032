/// Why a command did not do what it was asked: a sentence, and the exit code it becomes.
struct CommandFailure: Error, Hashable, CustomStringConvertible {
    enum Code: Int32, Hashable {
        /// Refused or failed.
        case failed = 1
        /// Called wrongly.
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
