/// The vehicle's own fences in the status.
package struct FencesStatus: Codable, Hashable, Sendable {
    /// Fences that there are, those of them that watch the present entity, and those that it is inside of.
    package var kept: Int64
    package var watching: Int64
    package var inside: Int64
    /// Since the agent started: alarms that were told; fixes that came too late to be judged; alarms of one point beyond
    /// the most that are told; alarms that were told and never written, because too many waited for the disk.
    package var alarms: Int64
    package var late: Int64
    package var leftOut: Int64
    package var dropped: Int64
    /// Alarms that are not on the disk yet.
    package var waiting: Int64
    /// When the newest alarm happened, by GNSS time.
    package var lastAlarmTime: Int64?
    /// Why alarms cannot be written to the disk now.
    package var lastError: String?
    /// Whether the fences are on the disk.
    package var remembered: RememberedStatus
    /// The server's fences; nil when the agent has none and never had some.
    package var server: ServerFencesStatus?

    package init(
        kept: Int64, watching: Int64, inside: Int64, alarms: Int64, late: Int64, leftOut: Int64, dropped: Int64,
        waiting: Int64, lastAlarmTime: Int64?, lastError: String?, remembered: RememberedStatus,
        server: ServerFencesStatus? = nil
    ) {
        self.kept = kept
        self.watching = watching
        self.inside = inside
        self.alarms = alarms
        self.late = late
        self.leftOut = leftOut
        self.dropped = dropped
        self.waiting = waiting
        self.lastAlarmTime = lastAlarmTime
        self.lastError = lastError
        self.remembered = remembered
        self.server = server
    }

    enum CodingKeys: String, CodingKey {
        case kept, watching, inside, alarms, late, dropped, waiting, remembered, server
        case leftOut = "left_out"
        case lastAlarmTime = "last_alarm_time"
        case lastError = "last_error"
    }
}
