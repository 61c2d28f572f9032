internal import ArgumentParser
internal import Terminal

/// Times as options have them.
enum TimeArgument {
    /// Milliseconds since 1970.
    static func parse(_ text: String, _ option: String, now: Int64) throws(ValidationError) -> Int64 {
        guard let time = TimeExpression(text, now: now) else {
            throw ValidationError(
                TerminalText.safe(
                    "\(option) '\(text.shortened)' is not a time: give one such as \(TimeExpression.examples)"))
        }
        return time.milliseconds
    }
}
