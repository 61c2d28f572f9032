package import AgentLogic

/// What the feed tells its owner, in order, on the feed's own thread.
package enum FeedEvent: Hashable, Sendable {
    /// One TPV.
    case report(GNSSReport)
    /// The feed's state is now another one.
    case state(FeedState)
    /// Nothing more belongs to the epoch of the last report: no TPV came for a while, or the connection is gone.
    /// Comes once after each run of reports.
    case silence
}

/// Why there is a position, or why not.
package enum FeedState: Hashable, Sendable {
    /// Not started, or ended for good.
    case stopped
    /// Trying to reach gpsd, or waiting for what it says first.
    case connecting
    /// gpsd does not answer at its address; tried again by itself. The reason is for people.
    case unreachable(reason: String)
    /// The kernel refused the connection, or gpsd said that it may not open the receiver. The reason is for people.
    case permissionDenied(reason: String)
    /// gpsd answers but has no receiver, not the one asked for, or cannot open it. The reason is for people.
    case noDevice(reason: String)
    /// gpsd has the receiver, and the receiver has no fix yet, no longer, or says nothing.
    case noFix
    /// The last report held a position.
    case fix
}

/// What passed the feed since it was made.
package struct FeedCounters: Hashable, Sendable {
    /// Connections that greeted as gpsd does.
    package var connections: UInt64 = 0
    /// TPVs told as ``FeedEvent/report(_:)``.
    package var reports: UInt64 = 0
    /// Lines that are no JSON object of gpsd's, or longer than 64 KiB; not looked at further.
    package var rejectedLines: UInt64 = 0

    package init() {}
}
