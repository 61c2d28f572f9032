import Diagnosing
import Testing

@testable import SakerCommand

/// What is made of gpsd's words, and of those of others.
@Suite struct GPSDConversationTests {
    private let greeting = "{\"class\":\"VERSION\",\"release\":\"3.25\",\"proto_major\":3}\r\n"
    private let devices =
        "{\"class\":\"DEVICES\",\"devices\":[{\"class\":\"DEVICE\",\"path\":\"/dev/ttyACM0\",\"driver\":\"u-blox\"}]}\r\n"

    private func result(_ text: String, wantsFix: Bool = false, piece: Int = 7) -> (GPSDFacts.Result, isOver: Bool) {
        var conversation = GPSDConversation(wantsFix: wantsFix)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            conversation.hear(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        return (conversation.result, conversation.isOver)
    }

    @Test(arguments: [1, 7, 10_000]) func devicesAreHeardHoweverTheyArrive(piece: Int) {
        let heard = result(greeting + devices, piece: piece)
        #expect(
            heard.0
                == .answers(
                    release: "3.25", devices: [GPSDFacts.Device(path: "/dev/ttyACM0", driver: "u-blox")], fix: nil))
        #expect(heard.isOver)
    }

    @Test func aFixIsWaitedFor() {
        let none = "{\"class\":\"TPV\",\"mode\":1}\n"
        #expect(!result(greeting + devices + none, wantsFix: true).isOver)
        let fixed = result(greeting + devices + none + "{\"class\":\"TPV\",\"mode\":3,\"eph\":4.5}\n", wantsFix: true)
        #expect(fixed.isOver)
        guard case .answers(_, _, let fix) = fixed.0 else {
            Issue.record("\(fixed.0)")
            return
        }
        #expect(fix == GPSDFacts.Fix(mode: 3, accuracy: 4.5))
    }

    @Test func silenceAndStrangersAreTold() {
        #expect(result("").0 == .unreachable("connected, and it says nothing"))
        let stranger = result("SSH-2.0-OpenSSH\u{1B}\r\n")
        #expect(stranger.isOver)
        guard case .foreign(let start) = stranger.0 else {
            Issue.record("\(stranger.0)")
            return
        }
        #expect(start.hasPrefix("SSH-2.0-OpenSSH?"))
        // Much of nothing: bounded, and no gpsd.
        #expect(result("{" + String(repeating: "x", count: 300_000) + "\n", piece: 4096).0 != .unreachable(""))
    }

    @Test func aPlaceIsReadFromItsEnd() throws {
        let place = try #require(Examination.place("2001:db8::7:7443"))
        #expect(place.host == "2001:db8::7" && place.port == 7443)
        #expect(
            Examination.place("host:0") == nil && Examination.place("host") == nil && Examination.place(":1") == nil)
    }
}

@Suite struct IdentityCheckTests {
    private static let day: Int64 = 86_400

    /// A vehicle that is well, `days` after the begin of a certificate of 90 days.
    private func check(day: Int64 = 0, _ change: (inout IdentityFacts) -> Void = { _ in }) -> Finding {
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
