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
