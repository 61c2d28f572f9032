package import AgentLogic

/// The feed's events for its owner, in order, on the feed's own thread.
package enum FeedEvent: Hashable, Sendable {
    /// One TPV.
    case report(GNSSReport)
    /// The feed's state has changed.
    case state(FeedState)
    /// No more reports belong to the epoch of the last report, because no TPV came for a while or the connection is
    /// gone. Comes once after each run of reports.
    case silence
}

/// Why there is a position, or why there is none.
package enum FeedState: Hashable, Sendable {
    /// Not started, or ended for good.
    case stopped
    /// The feed is connecting to gpsd, or waits for gpsd's greeting.
    case connecting
    /// gpsd does not answer at its address. The feed tries again by itself. The reason is for people.
    case unreachable(reason: String)
    /// The kernel refused the connection, or gpsd said that it may not open the receiver. The reason is for people.
    case permissionDenied(reason: String)
    /// gpsd answers, but it has no receiver, does not have the wanted one, or cannot open it. The reason is for people.
    case noDevice(reason: String)
    /// gpsd has the receiver, but the receiver has no fix or sends nothing.
    case noFix
    /// The last report held a position.
    case fix
}

/// Counts since the feed was made.
package struct FeedCounters: Hashable, Sendable {
    /// Connections on which gpsd's greeting came.
    package var connections: UInt64 = 0
    /// TPVs that became ``FeedEvent/report(_:)``.
    package var reports: UInt64 = 0
    /// Lines that are not a JSON object of gpsd, or longer than 64 KiB. The feed ignores them.
    package var rejectedLines: UInt64 = 0

    package init() {}
}
