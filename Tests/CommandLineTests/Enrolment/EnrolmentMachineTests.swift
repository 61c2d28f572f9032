import Testing

@testable import SakerCommand

@Suite struct EnrolmentMachineTests {
    private func refusal(_ code: String, after seconds: Int64? = nil) -> EnrolmentAnswer {
        .refused(EnrolmentRefusal(code: code, message: "so it is", retryAfter: seconds))
    }

    private func pending(after seconds: Int64? = nil) -> EnrolmentAnswer {
        .pending(
            device: "0198c0de-0000-7000-8000-000000000001", entity: "van", message: "ask the office",
            retryAfter: seconds)
    }

    private func wait(_ action: EnrolmentMachine.Action) -> Int64? {
        guard case .again(let milliseconds, _) = action else { return nil }
        return milliseconds
    }

    @Test(arguments: ["token_of_a_later_version", "device_of_a_later_version"])
    func aFinalRefusalEndsItAlsoWhenNobodyWatches(code: String) {
        var machine = EnrolmentMachine(patience: .endless, waitsForApproval: true)
        guard case .stop(let failure) = machine.answered(refusal(code), chance: 0.5) else {
            Issue.record("\(code) goes on")
            return
        }
        #expect(failure.code == .failed && failure.description.contains(code))
        #expect(failure.description.contains("so it is"))
    }

    @Test(arguments: ["too_many", "busy", "no_authority", "not_on_list", "of a later version", ""])
    func anotherRefusalIsTriedAgainAndItsWaitIsKept(code: String) {
        var machine = EnrolmentMachine(patience: .endless, waitsForApproval: true)
        for _ in 0..<100 {
            #expect(wait(machine.answered(refusal(code, after: 90), chance: 0)) ?? 0 >= 90_000)
        }
        // No server may send a vehicle away for ever, or make it ask without a pause.
        #expect(wait(machine.answered(refusal(code, after: .max), chance: 0.999)) ?? .max <= 4_500_000)
        #expect(wait(machine.answered(refusal(code, after: -5), chance: 0)) ?? 0 >= 100_000)
    }

    @Test func aPersonIsToldOfALongWaitAndNotKeptInIt() {
        var machine = EnrolmentMachine(patience: .failures(6), waitsForApproval: true)
        #expect(wait(machine.answered(refusal("busy", after: 60), chance: 0)) == 60_000)
        guard case .stop(let failure) = machine.answered(refusal("too_many", after: 590), chance: 0) else {
            Issue.record("waits")
            return
        }
        #expect(failure.code == .failed && failure.description.contains("again in 10 min"))
    }

    @Test func failuresWaitLongerAndLongerAndAPersonIsNotKeptWaiting() {
        var machine = EnrolmentMachine(patience: .failures(6), waitsForApproval: true)
        var waits: [Int64] = []
        for _ in 0..<5 {
            waits.append(wait(machine.failed("no way", code: .unreachable, canPass: true, chance: 1)) ?? -1)
        }
        #expect(waits == [1000, 2000, 4000, 8000, 16_000])
        #expect(
            machine.failed("no way", code: .unreachable, canPass: true, chance: 1)
                == .stop(CommandFailure(.unreachable, "no way")))
        var endless = EnrolmentMachine(patience: .endless, waitsForApproval: true)
        for _ in 0..<200 {
            let wait = wait(endless.failed("no way", code: .unreachable, canPass: true, chance: 0))
            #expect((500...150_000).contains(wait ?? -1))
        }
    }

    @Test func whatCannotPassStopsAPersonOnly() {
        var attended = EnrolmentMachine(patience: .failures(6), waitsForApproval: true)
        #expect(
            attended.failed("another server", code: .unreachable, canPass: false, chance: 0)
                == .stop(CommandFailure(.unreachable, "another server")))
        var unattended = EnrolmentMachine(patience: .endless, waitsForApproval: true)
        #expect(wait(unattended.failed("a sign-in page", code: .unreachable, canPass: false, chance: 0)) != nil)
    }

    @Test func anApprovalIsWaitedForAndToldOnce() {
        var machine = EnrolmentMachine(patience: .failures(2), waitsForApproval: true)
        guard case .again(60_000, let note?) = machine.answered(pending(), chance: 0) else {
            Issue.record("no wait")
            return
        }
        #expect(note.contains("device approve 0198c0de") && note.contains("ask the office"))
        for _ in 0..<100 {
            #expect(machine.answered(pending(after: 0), chance: 0) == .again(milliseconds: 5000, note: nil))
        }
        // A broken line between two answers is no reason to give up.
        for _ in 0..<10 {
            #expect(wait(machine.failed("cut", code: .unreachable, canPass: true, chance: 0)) != nil)
            #expect(wait(machine.answered(pending(after: .max), chance: 1)) == 4_500_000)
        }
        var hurried = EnrolmentMachine(patience: .failures(2), waitsForApproval: false)
        guard case .stop(let failure) = hurried.answered(pending(), chance: 0) else {
            Issue.record("waits")
            return
        }
        #expect(failure.description.contains("device approve 0198c0de"))
    }
}
