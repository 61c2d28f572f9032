import Diagnosing
import Testing

@testable import SakerCommand

@Suite struct IdentityCheckTests {
    private static let day: Int64 = 86_400

    /// A vehicle that is well, `days` after the begin of a certificate of 90 days.
    private func check(day: Int64 = 0, _ change: (inout IdentityFacts) -> Void = { _ in }) -> Check {
        var facts = Facts.healthy
        facts.clock.time = day * Self.day * 1000
        var identity = IdentityFacts(
            plan: RenewalPlan(from: 0, until: 90 * Self.day), key: .fits,
            device: "0198c0de-0000-7000-8000-000000000001", hasWebAddress: true, isOnAnotherComputer: false)
        change(&identity)
        facts.identity = identity
        return IdentityCheck.identity(facts)
    }

    @Test func aVehicleThatIsWellIsSo() {
        #expect(check().verdict == .ok && check().found.contains("device 0198c0de is renewed from 1970-03-02"))
        #expect(check(day: 60).verdict == .ok && check(day: 60).found.contains("is due for renewal since"))
        var facts = Facts.healthy
        facts.identity = nil
        let legacy = IdentityCheck.identity(facts)
        #expect(legacy.verdict == .warning && legacy.found.contains("access key"))
        #expect(legacy.remedy?.contains("saker-server token create") == true)
    }

    @Test func aRenewalThatDoesNotComeIsNamed() {
        #expect(check(day: 61).verdict == .warning)
        #expect(check(day: 61).remedy?.contains("saker-renew.timer") == true)
        #expect(check(day: 95).verdict == .failed && check(day: 95).found.contains("ended 5 days ago"))
        #expect(check(day: 180).remedy?.contains("saker renew") == true)
        #expect(check(day: 181).remedy?.contains("device forget") == true)
        #expect(check { $0.hasWebAddress = false }.verdict == .warning)
        #expect(check { $0.plan = nil }.verdict == .notChecked)
    }

    @Test func aCopyAndAKeyThatIsNotTheRightOneAreNamed() {
        #expect(check { $0.isOnAnotherComputer = true }.verdict == .warning)
        #expect(check { $0.isOnAnotherComputer = true }.remedy?.contains("image prepare") == true)
        #expect(check { $0.isOnAnotherComputer = nil }.verdict == .ok)
        #expect(check { $0.key = .hidden }.verdict == .notChecked)
        #expect(check { $0.key = .foreign }.verdict == .failed)
        #expect(check { $0.key = .unusable("it is no key") }.found.contains("it is no key"))
    }
}
