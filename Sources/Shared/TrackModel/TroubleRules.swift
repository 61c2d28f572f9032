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
