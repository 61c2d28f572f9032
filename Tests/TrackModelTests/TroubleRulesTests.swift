import Testing
import TrackModel

/// What a vehicle knows of its own trouble. What the server makes of a report that came a while ago is in `TrackStoreTests`.
@Suite struct TroubleRulesTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)
    private let rules = TroubleRules()

    @Test func aBacklogIsTroubleOnlyWithAConnection() {
        let report = HealthReport(backlog: 3600)
        #expect(rules.troubles(of: report, silence: 0, at: now) == [.behind(3600)])
        #expect(rules.troubles(of: report, silence: 1, at: now) == [])
        #expect(rules.troubles(of: report, silence: nil, at: now) == [])
        #expect(rules.troubles(of: HealthReport(backlog: 3599), silence: 0, at: now) == [])
    }

    @Test func aVehicleWithoutASessionIsSilentAfterADay() {
        #expect(rules.troubles(of: HealthReport(), silence: 86_399, at: now) == [])
        #expect(rules.troubles(of: HealthReport(), silence: 86_400, at: now) == [.silent(86_400)])
        // Unlike the server, the vehicle still knows how it is.
        let broken = HealthReport(backlog: 9999, receiver: .away, isGathering: true, disk: .full)
        let kinds = rules.troubles(of: broken, silence: 86_400, at: now).map(\.kind)
        #expect(kinds == [.disk, .receiver, .silent])
    }

    @Test func aCertificateIsJudgedWhenSomebodyKnowsTheTime() {
        let report = HealthReport(certificateEnd: 1_800_000_000 + 60)
        #expect(rules.troubles(of: report, silence: 0, at: now) == [.certificate(60)])
        #expect(rules.troubles(of: report, silence: 0, at: nil) == [])
    }

    /// What the vehicle says of itself counts: each obstacle is a trouble of some kind, and a tracked vehicle has none of these.
    @Test(arguments: TrackingObstacle.allCases) func whatIsNotTrackedIsInTrouble(_ obstacle: TrackingObstacle) {
        let report = HealthReport(
            losses: [.bound: 3], lossAge: 5, receiver: .unreachable, fixAge: 100, isGathering: true,
            certificateEnd: 1_800_000_000 - 7,
            verdict: HealthReport.Verdict(obstacle: obstacle, age: 60, rejected: 12))
        let kinds = rules.troubles(of: report, silence: 0, at: now).map(\.kind)
        let expected: VehicleTrouble.Kind =
            switch obstacle {
            case .serviceStopped, .gatheringOff: .notGathering
            case .noReceiver: .receiver
            case .noFix: .noFix
            case .losingPoints: .losing
            case .loginRefused: .refused
            case .certificateEnded: .certificate
            case .noTime, .noPlace, .clockStands, .wrongDate, .notLater, .unconfirmedTime, .inaccurate, .implausible,
                .noPoints, .other:
                .noPoints
            }
        #expect(kinds.contains(expected))
        #expect(kinds.filter { ![.losing, .certificate, expected].contains($0) } == [])
        let tracked = HealthReport(receiver: .noFix, fixAge: nil, isGathering: true, verdict: HealthReport.Verdict())
        #expect(rules.troubles(of: tracked, silence: 0, at: now) == [])
    }

    /// 1,800,000,000 is 2027-01-15 08:00 UTC.
    @Test func peopleReadSinceWhenAVehicleDoesNotGather() {
        func text(_ obstacle: TrackingObstacle, _ age: Int64, _ now: Timestamp?) -> [String] {
            let report = HealthReport(verdict: HealthReport.Verdict(obstacle: obstacle, age: age))
            return rules.troubles(of: report, silence: 0, at: now).map { "\($0)" }
        }
        #expect(text(.gatheringOff, 60, now) == ["not gathering since 2027-01-15 07:59 UTC"])
        #expect(
            text(.serviceStopped, 8 * 3600 + 1, now) == [
                "not gathering since 2027-01-14 23:59 UTC: its service is stopped"
            ])
        #expect(text(.gatheringOff, 60, nil) == ["not gathering"])
        #expect(text(.gatheringOff, .max, now) == ["not gathering"])
    }

    @Test func peopleReadWhatRejectsTheFixes() {
        func text(_ obstacle: TrackingObstacle, _ rejected: UInt64) -> String {
            "\(VehicleTrouble.noPoints(obstacle, rejected: rejected, seconds: 180))"
        }
        #expect(text(.notLater, 79) == "no points for 3 minutes: 79 fixes rejected as not later than the last point")
        #expect(text(.noTime, 1).hasPrefix("no points for 3 minutes: 1 fix without a time"))
        for obstacle in TrackingObstacle.allCases { #expect(!obstacle.text(3).isEmpty, "\(obstacle)") }
    }

    @Test func aLossStandsFirst() {
        let report = HealthReport(
            backlog: 5000, losses: [.bound: 2, .damaged: 5], lossAge: 86_399, disk: .readOnly, certificateEnd: 0)
        let found = rules.troubles(of: report, silence: 0, at: now)
        #expect(found.first == .losing(.damaged, points: 7))
        #expect(found.map(\.kind) == [.losing, .disk, .certificate, .behind])
    }
}
