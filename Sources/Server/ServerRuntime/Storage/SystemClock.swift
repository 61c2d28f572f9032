import FoundationEssentials
package import TrackModel

/// The system's real-time clock.
enum SystemClock {
    @Sendable static func now() -> Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}

extension SystemClock {
    private static let begin = ContinuousClock.now

    /// A clock that nobody sets; it counts from its first use.
    @Sendable static func monotonic() -> MonotonicTime {
        let (seconds, attoseconds) = (ContinuousClock.now - begin).components
        return MonotonicTime(milliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

/// Times in the tables of commands.
package enum TimeText {
    /// `2026-11-21T10:00:00Z`
    package static func universal(_ time: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(time.milliseconds) / 1000).formatted(.iso8601)
    }

    /// A day in universal time, as in `2026-11-21`, stands for its begin; a time is as ``universal(_:)`` writes it. Nil for any
    /// other text.
    package static func time(_ text: String) -> Timestamp? {
        let date =
            text.utf8.count == 10
            ? try? Date(text, strategy: .iso8601.year().month().day()) : try? Date(text, strategy: .iso8601)
        return date.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
    }

    /// `2026-11-21`, from seconds since 1970.
    static func day(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601.year().month().day())
    }
}
