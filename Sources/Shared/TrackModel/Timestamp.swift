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
