/// An instant: milliseconds since 1970-01-01T00:00:00Z, UTC without leap seconds (POSIX time).
///
/// Which clock said so is the caller's to know: a fix carries GNSS time, a receive time the server's system clock.
package struct Timestamp: Hashable, Comparable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Whole seconds; a value beyond what 64 bits of milliseconds can hold is clamped to the nearest that can.
    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Seconds, rounded down: the resolution of the Web API.
    package var seconds: Int64 {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Adds a span in milliseconds, clamped at the ends of the range: time from outside never traps.
    package func adding(milliseconds span: Int64) -> Timestamp {
        let (sum, overflow) = milliseconds.addingReportingOverflow(span)
        return Timestamp(milliseconds: overflow ? (span < 0 ? .min : .max) : sum)
    }

    /// The span from another instant to this one in milliseconds, clamped at the ends of the range.
    package func milliseconds(since other: Timestamp) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(other.milliseconds)
        return overflow ? (milliseconds < other.milliseconds ? .min : .max) : difference
    }
}

// Times for people, UTC. Every value has a text.
extension Timestamp {
    /// As in `2026-11-27`.
    package var day: String {
        let date = CivilDate(daysSince1970: quotient(by: 86_400_000))
        return "\(date.year)-\(Self.padded(date.month))-\(Self.padded(date.day))"
    }

    /// As in `2026-11-27T10:05Z`.
    package var minute: String { "\(day)T\(hourAndMinute)Z" }

    /// As in `2026-11-27T10:05:59Z`.
    package var second: String { "\(day)T\(hourAndMinute):\(Self.padded(rest(of: 60_000) / 1000))Z" }

    private var hourAndMinute: String {
        let minutes = rest(of: 86_400_000) / 60_000
        return "\(Self.padded(minutes / 60)):\(Self.padded(minutes % 60))"
    }

    /// Rounded down.
    private func quotient(by divisor: Int64) -> Int64 {
        milliseconds / divisor - (milliseconds % divisor < 0 ? 1 : 0)
    }

    /// 0 or more.
    private func rest(of divisor: Int64) -> Int64 {
        let rest = milliseconds % divisor
        return rest < 0 ? rest + divisor : rest
    }

    private static func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}

/// A date of the Gregorian calendar, also before the calendar existed.
///
/// Years are counted from March, so that the leap day is the last day of its year and the months' lengths repeat in a
/// pattern of five (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"). 719,468 days lie between 0000-03-01 and
/// 1970-01-01, and four centuries have 146,097 days.
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    /// 1 to 12.
    package var month: Int64
    /// 1 to 31.
    package var day: Int64

    /// Does not check its values.
    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// `days`: since 1970-01-01, negative before; within some ten billion years of it.
    package init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = (yearFromMarch >= 0 ? yearFromMarch : yearFromMarch - 399) / 400
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// An instant of a clock that never jumps, in milliseconds of that clock; only differences mean anything.
///
/// Whoever sets the machine's date does not move this clock, so every wait and every deadline is counted with it. The type
/// has no conversion to or from ``Timestamp`` and ``SystemTime``, because a mixture of the clocks is always a mistake.
/// A duration is an `Int64` of milliseconds.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Counted from the clock's own beginning, usually the machine's start.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Before every time of the clock.
    package static let distantPast = Self(milliseconds: .min)

    package static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Adds a duration in milliseconds, clamped at the ends of the range: a duration from outside never traps.
    package static func + (time: Self, duration: Int64) -> Self {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration)
        return Self(milliseconds: overflow ? (duration < 0 ? .min : .max) : sum)
    }

    package static func += (time: inout Self, duration: Int64) { time = time + duration }

    /// The duration from `earlier` to `later` in milliseconds, clamped at the ends of the range.
    package static func - (later: Self, earlier: Self) -> Int64 {
        let (difference, overflow) = later.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return overflow ? (later < earlier ? .min : .max) : difference
    }
}

/// The system's wall clock: what people are shown. It may be wrong and it may jump, so nothing is decided with it.
package struct SystemTime: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }
}
