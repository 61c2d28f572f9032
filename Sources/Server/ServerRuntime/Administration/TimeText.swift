import FoundationEssentials
package import TrackModel

/// Times in the tables of commands.
package enum TimeText {
    /// `2026-11-21T10:00:00Z`
    package static func universal(_ time: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(time.milliseconds) / 1000).formatted(.iso8601)
    }

    /// `2026-11-21`, from seconds since 1970.
    static func day(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601.year().month().day())
    }
}
