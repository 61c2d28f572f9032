/// Why a command about fences, or one that reads a file, failed: a sentence for the person.
package struct FenceCommandFailure: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The command failed, or was refused.
        case failed
        /// The command line is wrong.
        case usage
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}
