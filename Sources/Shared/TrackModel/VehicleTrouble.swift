/// What an operator should do something about, the worst first.
package enum VehicleTrouble: Hashable, Sendable {
    /// Two computers are this device, or seem to be. Where it is proven, neither may log in. Noticed last at this time.
    case cloned(Timestamp)
    /// Points are gone for good, and lately. `points`: since the agent started; `reason`: the one with the most points.
    case losing(HealthReport.LossReason, points: UInt64)
    /// New points are in memory only.
    case disk(HealthReport.Disk)
    /// No receiver, although the agent is to make points.
    case receiver(HealthReport.Receiver)
    /// The connection is refused until a person helps. Only the vehicle knows this.
    case refused
    /// Gathering, and no points for so many seconds, for this reason. `rejected`: fixes that made no point since the last one.
    case noPoints(TrackingObstacle, rejected: UInt64, seconds: Int64)
    /// Somebody has stopped gathering or the service, or nobody has started it; nil: nobody knows since when.
    case notGathering(since: Timestamp?, isServiceStopped: Bool)
    /// The receiver's date and the computer's clock disagree, or two receivers do, although the agent is to make points.
    case dates(DateTrouble)
    /// Not heard for so many seconds, and it had not said goodbye.
    case silent(Int64)
    /// Seconds until the certificate ends; negative: it has ended.
    case certificate(Int64)
    /// So many points wait on the vehicle although it is connected.
    case behind(UInt64)
    /// No position for so many seconds, although the agent is to make points; nil: none since the agent started.
    case noFix(Int64?)

    /// What one kind of trouble is called. Programs read the raw values, so the raw values never change.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case cloned
        case losing = "losing_points"
        case disk
        case receiver
        case refused = "login_refused"
        case noPoints = "no_points"
        case notGathering = "not_gathering"
        case dates
        case silent
        case certificate
        case behind
        case noFix = "no_fix"
    }

    package var kind: Kind {
        switch self {
        case .cloned: .cloned
        case .losing: .losing
        case .disk: .disk
        case .receiver: .receiver
        case .refused: .refused
        case .noPoints: .noPoints
        case .notGathering: .notGathering
        case .dates: .dates
        case .silent: .silent
        case .certificate: .certificate
        case .behind: .behind
        case .noFix: .noFix
        }
    }
}

extension VehicleTrouble: CustomStringConvertible {
    /// For people: what is wrong, in one clause.
    package var description: String {
        switch self {
        case .cloned:
            "two computers have its certificate, or seem to: one is a copy of the other's disk. Where it is proven, neither may log in"
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

/// When a vehicle is in trouble. All are seconds, except the points.
package struct TroubleRules: Hashable, Sendable {
    /// A loss counts for so long.
    package var lossKept: Int64 = 86_400
    /// A vehicle that has not said goodbye is silent after so long.
    package var silentAfter: Int64 = 86_400
    /// A vehicle that was not heard for so long is out of use.
    package var forgottenAfter: Int64 = 90 * 86_400
    /// A certificate that ends sooner.
    package var certificateWarning: Int64 = 14 * 86_400
    /// So many waiting points are a backlog that a connection should have worked off.
    package var behindPoints: UInt64 = 3600
    /// A receiver without a position, of an agent that does not judge itself: garages and tunnels are no trouble for so long.
    package var noFixAfter: Int64 = 900

    package init() {}

    /// What the vehicle itself knows of, the worst first; empty: it is well.
    ///
    /// `report` is of this moment. `silence`: seconds without a session, 0 with one; nil: nobody expects one. `now`: nil while no
    /// clock can be believed; the certificate is then not judged.
    package func troubles(of report: HealthReport, silence: Int64?, at now: Timestamp?) -> [VehicleTrouble] {
        var troubles = lasting(report, age: 0, at: now) + present(report, age: 0)
        // Without a connection points wait as they should.
        if silence != 0 { troubles.removeAll { $0.kind == .behind } }
        if let silence, silence >= silentAfter { troubles.append(.silent(silence)) }
        if let now { troubles += certificate(report, at: now) }
        return Self.sorted(troubles)
    }

    /// What stays true when the vehicle is gone. `age`: of the report, 0 or more. `now`: nil while no clock can be believed.
    package func lasting(_ report: HealthReport, age: Int64, at now: Timestamp?) -> [VehicleTrouble] {
        var troubles: [VehicleTrouble] = []
        if let lossAge = report.lossAge, lossAge + age < lossKept,
            let worst = report.losses.max(by: { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) })
        {
            troubles.append(.losing(worst.key, points: report.lost))
        }
        // Nothing but a person makes it gather again.
        if let verdict = report.verdict, let obstacle = verdict.obstacle,
            obstacle == .serviceStopped || obstacle == .gatheringOff
        {
            let (past, isAbsurd) = (verdict.age + age).multipliedReportingOverflow(by: 1000)
            let since = isAbsurd ? nil : now?.adding(milliseconds: -past)
            troubles.append(.notGathering(since: since, isServiceStopped: obstacle == .serviceStopped))
        }
        return troubles
    }

    /// What is true while the vehicle is there. `age`: of the report, 0 or more.
    package func present(_ report: HealthReport, age: Int64) -> [VehicleTrouble] {
        var troubles: [VehicleTrouble] = []
        switch report.disk {
        case .full, .readOnly, .refusing: troubles.append(.disk(report.disk))
        case .unknown, .ok: break
        }
        if let verdict = report.verdict {
            troubles += told(verdict, report, age: age)
        } else if report.isGathering {
            troubles += guessed(report, age: age)
        }
        if let dates = report.dates, dates.isTrouble, report.isGathering { troubles.append(.dates(dates)) }
        if report.backlog >= behindPoints { troubles.append(.behind(report.backlog)) }
        return troubles
    }

    /// The agent has judged: a vehicle that is not tracked is in trouble.
    private func told(_ verdict: HealthReport.Verdict, _ report: HealthReport, age: Int64) -> [VehicleTrouble] {
        switch verdict.obstacle {
        // Other rules tell these.
        case nil, .serviceStopped, .gatheringOff, .losingPoints, .certificateEnded: return []
        case .noReceiver:
            let isKnown = [.away, .unreachable, .forbidden].contains(report.receiver)
            return [.receiver(isKnown ? report.receiver : .away)]
        case .noFix: return [.noFix(report.fixAge.map { $0 + age })]
        case .loginRefused: return [.refused]
        case .noTime, .noPlace, .clockStands, .wrongDate, .notLater, .unconfirmedTime, .inaccurate, .implausible,
            .noPoints, .other:
            return [.noPoints(verdict.obstacle ?? .other, rejected: verdict.rejected, seconds: verdict.age + age)]
        }
    }

    /// The agent does not judge.
    private func guessed(_ report: HealthReport, age: Int64) -> [VehicleTrouble] {
        switch report.receiver {
        case .away, .unreachable, .forbidden: [.receiver(report.receiver)]
        case .noFix where report.fixAge.map({ $0 + age >= noFixAfter }) ?? true:
            [.noFix(report.fixAge.map { $0 + age })]
        case .unknown, .off, .fix, .noFix: []
        }
    }

    /// Whether the certificate ends soon, or has ended.
    package func certificate(_ report: HealthReport, at now: Timestamp) -> [VehicleTrouble] {
        guard let end = report.certificateEnd else { return [] }
        let (left, isAbsurd) = end.subtractingReportingOverflow(now.milliseconds / 1000)
        return !isAbsurd && left < certificateWarning ? [.certificate(left)] : []
    }

    /// The worst first.
    package static func sorted(_ troubles: [VehicleTrouble]) -> [VehicleTrouble] {
        troubles.sorted { rank($0) < rank($1) }
    }

    private static func rank(_ trouble: VehicleTrouble) -> Int {
        VehicleTrouble.Kind.allCases.firstIndex(of: trouble.kind) ?? 0
    }
}
