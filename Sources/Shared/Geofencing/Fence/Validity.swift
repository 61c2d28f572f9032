package import TrackModel

/// When a fence is told. Outside these times its state goes on being kept, so that a window that opens while the entity is
/// inside makes no enter.
package struct Validity: Hashable, Sendable {
    package let from: Timestamp?
    /// The last instant.
    package let through: Timestamp?
    /// Open in any of these; always when there are none.
    package let windows: [WeeklyWindow]
    package let zone: ZoneOffsets

    package init(
        from: Timestamp? = nil, through: Timestamp? = nil, windows: [WeeklyWindow] = [], zone: ZoneOffsets = .utc
    ) {
        self.from = from
        self.through = through
        self.windows = windows
        self.zone = zone
    }

    package func contains(_ time: Timestamp) -> Bool {
        if let from, time < from { return false }
        if let through, time > through { return false }
        guard !windows.isEmpty else { return true }
        let (local, overflow) = time.seconds.addingReportingOverflow(Int64(zone.offset(at: time)))
        guard !overflow else { return false }
        let second = (local % 86_400 + 86_400) % 86_400
        // The first of January 1970 was a Thursday, day 3.
        let day = ((local - second) / 86_400 % 7 + 10) % 7
        return windows.contains { $0.isOpen(day: Int(day), second: Int32(second)) }
    }
}
