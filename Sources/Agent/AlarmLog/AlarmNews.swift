/// What has become of an alarm since it was written.
struct AlarmNews: Hashable, Sendable {
    var isConfirmed = false
    var report = ReportState.none

    init() {}

    init(_ alarm: Alarm) {
        (isConfirmed, report) = (alarm.isConfirmed, alarm.report)
    }

    private static let confirmed: UInt8 = 2

    /// The byte of a record: bit 0 belongs to hooks, bit 4 to the service. Nil for bits that nobody knows.
    init?(flags: UInt8) {
        guard flags < 32, let report = ReportState(rawValue: flags >> 2 & 3) else { return nil }
        (isConfirmed, self.report) = (flags & Self.confirmed != 0, report)
    }

    var flags: UInt8 { (isConfirmed ? Self.confirmed : 0) | report.rawValue << 2 }

    mutating func add(_ later: AlarmNews) {
        if later.isConfirmed { isConfirmed = true }
        if later.report != .none { report = later.report }
    }
}
