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

    @Test func aLossStandsFirst() {
        let report = HealthReport(
            backlog: 5000, losses: [.bound: 2, .damaged: 5], lossAge: 86_399, disk: .readOnly, certificateEnd: 0)
        let found = rules.troubles(of: report, silence: 0, at: now)
        #expect(found.first == .losing(.damaged, points: 7))
        #expect(found.map(\.kind) == [.losing, .disk, .certificate, .behind])
    }
}
