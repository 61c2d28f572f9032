/// Spans of time for people.
package enum DurationText {
    /// `12 s ago`, `in 5 min`, `now`; of milliseconds since 1970.
    package static func relative(_ milliseconds: Int64, now: Int64) -> String {
        let (span, overflow) = now.subtractingReportingOverflow(milliseconds)
        guard !overflow else { return "long ago" }
        if span.magnitude < 1000 { return "now" }
        return span > 0 ? text(span) + " ago" : "in " + text(span == .min ? .max : -span)
    }

    /// The two largest units that matter: `450 ms`, `12 s`, `5 min 3 s`, `2 h 3 min`, `4 d 2 h`.
    package static func text(_ milliseconds: Int64) -> String {
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1000
        func pair(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
            "\(large) \(largeUnit)" + (small > 0 ? " \(small) \(smallUnit)" : "")
        }
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: pair(seconds / 60, "min", seconds % 60, "s")
        case ..<86_400: pair(seconds / 3600, "h", seconds % 3600 / 60, "min")
        default: pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
        }
    }
}
