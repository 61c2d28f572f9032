extension VehicleTrouble: CustomStringConvertible {
    /// For people: what is wrong, in one clause.
    package var description: String {
        switch self {
        case .cloned:
            "two computers have its certificate: one is a copy of the other's disk, and neither may log in"
        case .losing(let reason, let points): "lost \(Self.points(points)): \(reason.text)"
        case .disk(.full): "disk full: new points are in memory only"
        case .disk(.readOnly): "disk read-only: new points are in memory only"
        case .disk: "disk refuses points: new ones are in memory only"
        case .receiver(.unreachable): "no receiver: gpsd does not answer"
        case .receiver(.forbidden): "no receiver: gpsd or the system forbids it"
        case .receiver: "no receiver: unplugged or broken"
        case .refused: "its connection is refused until somebody helps"
        case .noPoints(let obstacle, let rejected, let seconds):
            "no points for \(Self.span(seconds)): \(obstacle.text(rejected))"
        case .notGathering(let since, let isServiceStopped):
            "not gathering" + (since.map { " since \(Self.minute($0))" } ?? "")
                + (isServiceStopped ? ": its service is stopped" : "")
        case .dates(let dates): "\(dates)"
        case .silent(let seconds): "not heard for \(Self.span(seconds))"
        case .certificate(let left) where left < 0: "certificate ended \(Self.span(-left)) ago"
        case .certificate(let left): "certificate ends in \(Self.span(left))"
        case .behind(let points): "\(Self.points(points)) wait on the vehicle"
        case .noFix(nil): "no position since its agent started"
        case .noFix(let seconds?): "no position for \(Self.span(seconds))"
        }
    }

    /// A time as 2026-11-27 04:20 UTC.
    private static func minute(_ time: Timestamp) -> String {
        let minutes = (Double(time.milliseconds) / 60_000).rounded(.down)
        let (days, rest) = (Int64((minutes / 1440).rounded(.down)), Int64(minutes) % 1440)
        let date = CivilDate(daysSince1970: days)
        let ofDay = rest < 0 ? rest + 1440 : rest
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        return "\(date.year)-\(two(date.month))-\(two(date.day)) \(two(ofDay / 60)):\(two(ofDay % 60)) UTC"
    }

    private static func points(_ count: UInt64) -> String { count == 1 ? "1 point" : "\(count) points" }

    /// The largest unit of which there are at least two.
    private static func span(_ seconds: Int64) -> String {
        for (unit, name) in [(Int64(86_400), "days"), (3600, "hours"), (60, "minutes")] where seconds >= 2 * unit {
            return "\(seconds / unit) \(name)"
        }
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }
}

extension HealthReport.LossReason {
    fileprivate var text: String {
        switch self {
        case .bound: "its cache was full"
        case .memoryFull: "its disk did not work, and its memory was full"
        case .diskHangs: "its disk did not answer"
        case .damaged: "its disk damaged them"
        case .copiedDisk: "another vehicle has a copy of its disk"
        case .refused: "they break a rule for points"
        case .wrongDate: "their date was wrong"
        case .other: "a reason that this server does not know"
        }
    }
}

extension TrackingObstacle {
    /// Why fixes make no points, one clause for people. `rejected`: how many fixes.
    package func text(_ rejected: UInt64) -> String {
        let fixes = rejected == 1 ? "1 fix" : "\(rejected) fixes"
        return switch self {
        case .noTime: "\(fixes) without a time: the receiver must send it (NMEA: RMC or ZDA)"
        case .noPlace:
            "\(rejected == 1 ? "1 report" : "\(rejected) reports") without a place: the receiver must send it (NMEA: GGA or RMC)"
        case .clockStands: "the receiver's clock stands still (\(fixes) with the time of an earlier one)"
        case .wrongDate: "the receiver's date and the computer's clock disagree (\(fixes) rejected)"
        case .notLater: "\(fixes) rejected as not later than the last point"
        case .unconfirmedTime: "\(fixes) rejected for a date far ahead that the next fixes do not confirm"
        case .inaccurate: "\(fixes) rejected as less accurate than the desired accuracy"
        case .implausible: "\(fixes) rejected as too far away for the activity"
        case .noPoints: "fixes come, and no point stands in the cache"
        case .serviceStopped: "its service is stopped"
        case .gatheringOff: "gathering is off"
        case .noReceiver: "no receiver"
        case .noFix: "no position"
        case .losingPoints: "points are lost"
        case .loginRefused: "its connection is refused"
        case .certificateEnded: "its certificate has ended"
        case .other: "a reason that this program does not know"
        }
    }
}
