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
        case .silent(let seconds): "not heard for \(Self.span(seconds))"
        case .certificate(let left) where left < 0: "certificate ended \(Self.span(-left)) ago"
        case .certificate(let left): "certificate ends in \(Self.span(left))"
        case .behind(let points): "\(Self.points(points)) wait on the vehicle"
        case .noFix(nil): "no position since its agent started"
        case .noFix(let seconds?): "no position for \(Self.span(seconds))"
        }
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
        case .other: "a reason that this server does not know"
        }
    }
}
