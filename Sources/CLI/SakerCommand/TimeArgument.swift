import FenceCommands
import Terminal

/// A time among the arguments.
enum TimeArgument {
    /// Milliseconds since 1970.
    static func parse(_ text: String, _ option: String, now: Int64) throws(CommandFailure) -> Int64 {
        guard let time = TimeExpression(text, now: now) else {
            throw CommandFailure(
                .usage, "\(option) '\(text)' is not a time: give one such as \(TimeExpression.examples)")
        }
        return time.milliseconds
    }
}

extension LocalTime {
    /// The end of a time beside its begin, which names the zone. Summer time may have ended between them: then the end names its own.
    static func text(endOf milliseconds: Int64, from start: Int64) -> String {
        let (begin, end, bare) = (text(start), text(milliseconds), textWithoutZone(milliseconds))
        return begin.dropFirst(bare.count) == end.dropFirst(bare.count) ? bare : end
    }
}
