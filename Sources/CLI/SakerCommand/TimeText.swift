import FenceCommands
import Terminal

/// Times for people: local, and how long ago.
enum TimeText {
    /// `2026-03-05 08:20:12+01:00` in the zone of TZ, from milliseconds since 1970. Options take a time in this form.
    static func local(_ milliseconds: Int64) -> String { LocalTime.text(milliseconds) }

    /// `2026-03-05 08:20:12`: beside a time that names its zone.
    static func localWithoutZone(_ milliseconds: Int64) -> String { LocalTime.textWithoutZone(milliseconds) }

    /// The end of a time beside its begin, which names the zone. Summer time may have ended between them: then the end names its own.
    static func local(endOf milliseconds: Int64, from start: Int64) -> String {
        let (begin, end, bare) = (local(start), local(milliseconds), localWithoutZone(milliseconds))
        return begin.dropFirst(bare.count) == end.dropFirst(bare.count) ? bare : end
    }

    /// `08:20:12`.
    static func clock(_ milliseconds: Int64) -> String { LocalTime.clock(milliseconds) }

    /// `12 s ago`, `in 5 min`, `now`.
    static func relative(_ milliseconds: Int64, now: Int64) -> String {
        DurationText.relative(milliseconds, now: now)
    }

    /// The two largest units that matter: `450 ms`, `12 s`, `5 min 3 s`, `2 h 3 min`, `4 d 2 h`.
    static func duration(_ milliseconds: Int64) -> String { DurationText.text(milliseconds) }

    /// `2026-03-05 08:20:12+01:00 (2 h 3 min ago)`, as ``LocalTime/both(_:now:)``.
    static func both(_ milliseconds: Int64, now: Int64) -> String { LocalTime.both(milliseconds, now: now) }

    /// Milliseconds since 1970 by the system clock.
    static var now: Int64 { LocalTime.now }
}

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
