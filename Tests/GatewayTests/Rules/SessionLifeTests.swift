import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

/// Calls, pushes, silence and the ends of an open session, event by event.
@Suite struct SessionLifeTests {
    private typealias Action = SessionMachine.Action

    private func frames(_ actions: [Action]) -> [ServerFrame.OneOf_Message] {
        actions.compactMap { if case .send(let frame) = $0 { frame.message } else { nil } }
    }

    private func call(_ id: UInt64, _ path: String = "entity/list", _ parameters: [String: String] = [:]) -> Call {
        var call = Call()
        call.id = id
        call.path = path
        call.parameters = parameters
        return call
    }

    private func push(_ message: Int64) -> PendingPush {
        PendingPush(
            id: UInt64(message) * 1000, message: message, type: 65, body: "{}", created: MachineBench.clock)
    }

    // MARK: Calls

    @Test func aCallIsStartedAndAnsweredOnce() {
        var bench = MachineBench.opened()
        #expect(bench.receive(.call(call(77))) == [.startCall(1, call(77))])
        #expect(
            bench.machine.callStarted(1, true, now: bench.now) == [.setTimer(.call(1), milliseconds: 20_000)])
        let answered = bench.machine.callAnswered(1, status: 7, json: "{}", now: bench.now)
        #expect(answered.first == .cancelTimer(.call(1)))
        let reply = frames(answered).first?.callReply
        #expect(reply?.id == 77 && reply?.status == 7)
        #expect(bench.machine.callAnswered(1, status: 7, json: "{}", now: bench.now) == [])
        #expect(bench.fire(.call(1), after: 20_000) == [])
    }

    @Test func aCallThatTakesTooLongIsGivenUp() {
        var bench = MachineBench.opened()
        _ = bench.receive(.call(call(77)))
        _ = bench.machine.callStarted(1, true, now: bench.now)
        #expect(bench.fire(.call(1), after: 19_999) == [.setTimer(.call(1), milliseconds: 1)])
        let late = bench.fire(.call(1), after: 1)
        #expect(late.first == .cancelCall(1))
        #expect(frames(late).first?.callReply?.status == 1)
        #expect(frames(late).first?.callReply?.json.contains("no answer within 20 s") == true)
        #expect(bench.machine.callAnswered(1, status: 0, json: "{}", now: bench.now) == [])
    }

    @Test func callsThatCannotBeAreRefused() {
        var without = MachineBench.opened(offersCalls: false)
        #expect(frames(without.receive(.call(call(1)))).first?.callReply?.status == 240)
        var bench = MachineBench.opened { limits, _ in limits.callBytes = 10 }
        #expect(frames(bench.receive(.call(call(1, "a/b", ["x": "12345678"])))).first?.callReply?.status == 10)
        #expect(bench.receive(.call(call(2, "a/b", ["x": "123456"]))).count == 1)
        // Too many of all connections are at work.
        let refused = bench.machine.callStarted(1, false, now: bench.now)
        #expect(frames(refused).first?.callReply?.json.contains("try again") == true)
        #expect(bench.machine.callStarted(9, true, now: bench.now) == [.cancelCall(9)])
    }

    @Test func anAnswerLongerThanAFrameBecomesAnError() {
        var bench = MachineBench.opened()
        _ = bench.receive(.call(call(1)))
        let long = String(repeating: "x", count: WireLimits.frameBytes)
        let reply = frames(bench.machine.callAnswered(1, status: 0, json: long, now: bench.now)).first?.callReply
        #expect(reply?.status == 1 && reply?.json.contains("too long") == true)
    }

    @Test func callsHaveAWindowOfTheirOwn() {
        var bench = MachineBench.opened { limits, _ in limits.calls = 2 }
        _ = bench.receive(.call(call(1)))
        #expect(bench.machine.takesFrames)
        // The same number twice is two calls.
        _ = bench.receive(.call(call(1)))
        #expect(!bench.machine.takesFrames)
        #expect(bench.fire(after: 500_000) == [.setTimer(.phase, milliseconds: 180_000)])
        _ = bench.machine.callAnswered(1, status: 0, json: "{}", now: bench.now)
        #expect(bench.machine.takesFrames)
    }

    @Test func aCallThatStartsBehindTheEndIsCancelled() {
        var bench = MachineBench.opened()
        _ = bench.receive(.call(call(1)))
        _ = bench.machine.stopped(now: bench.now)
        #expect(bench.machine.callStarted(1, true, now: bench.now) == [.cancelCall(1)])
        #expect(bench.machine.callStarted(1, false, now: bench.now) == [])
        #expect(bench.machine.callAnswered(1, status: 0, json: "{}", now: bench.now) == [])
        #expect(bench.fire(.call(1), after: 60_000) == [])
    }

    // MARK: Pushes

    @Test func pushesAreSentAndSettledForAll() {
        var bench = MachineBench.opened()
        let sent = bench.machine.pushesLoaded((StoreCursor(0), [push(1), push(2)]), now: bench.now, clock: bench.clock)
        #expect(
            sent == [
                .sendPush(Push(push(1))), .sendPush(Push(push(2))), .setTimer(.pushes, milliseconds: 15_000),
            ])
        var acknowledgement = PushAck()
        acknowledgement.ids = [1000, 1000, 5]
        let actions = bench.receive(.pushAck(acknowledgement))
        #expect(actions.first == .note(.pushAcknowledged))
        guard case .settlePushes(let outcomes)? = actions.last else { return #expect(Bool(false), "\(actions)") }
        #expect(outcomes.map(\.entity) == ["car"])
        #expect(
            outcomes.map(\.settlement) == [PushSettlement(id: 1000, outcome: .acknowledged, time: bench.clock)])
        #expect(
            bench.machine.pushesSettled([2000], now: bench.now, clock: bench.clock) == [.cancelTimer(.pushes)])
    }

    @Test func pushesAreRepeatedAndGivenUp() {
        var bench = MachineBench.opened { limits, _ in
            limits.pushes = .init(interval: 10, effort: 20, window: 16)
        }
        _ = bench.machine.pushesLoaded((StoreCursor(0), [push(1)]), now: bench.now, clock: bench.clock)
        #expect(bench.fire(.pushes, after: 10).first == .sendPush(Push(push(1))))
        let end = bench.fire(.pushes, after: 10)
        #expect(end.first == .note(.pushGivenUp(id: 1000, type: 65)))
        guard case .settlePushes? = end.last else { return #expect(Bool(false), "\(end)") }
    }

    @Test func aStoreThatCannotTellOfPushesIsAskedAgain() {
        var bench = MachineBench.opened()
        #expect(
            bench.machine.pushesLoaded(nil, now: bench.now, clock: bench.clock) == [
                .setTimer(.pushes, milliseconds: 15_000)
            ])
        #expect(bench.machine.pushesMayWait(now: bench.now, clock: bench.clock) == [])
        #expect(bench.fire(.pushes, after: 15_000) == [.loadPushes(after: nil, limit: 16)])
        // Outside a session nothing waits.
        var early = MachineBench()
        early.connect()
        #expect(early.machine.pushesMayWait(now: early.now, clock: early.clock) == [])
    }

    // MARK: Silence

    @Test func silenceEndsASessionAndAFrameDoesNot() {
        var bench = MachineBench.opened { _, deadlines in deadlines.idle = .seconds(10) }
        bench.now += 4000
        #expect(frames(bench.receive(.heartbeat(Heartbeat()))).first?.isHeartbeat == true)
        #expect(bench.fire(after: 6000) == [.setTimer(.phase, milliseconds: 4000)])
        let end = bench.fire(after: 4000)
        #expect(frames(end).first?.closing?.code == .idle)
        #expect(frames(end).first?.closing?.reason == "nothing came for 10 s")
    }

    @Test func anAgentThatDoesNotReadIsNotReadFrom() {
        var bench = MachineBench.opened()
        #expect(bench.machine.writabilityChanged(false) == [])
        #expect(!bench.machine.takesFrames && !bench.machine.dropsBytes)
        // It is the agent's doing: its silence counts.
        #expect(frames(bench.fire(after: 180_000)).first?.closing?.code == .idle)
        var other = MachineBench.opened()
        _ = other.machine.writabilityChanged(false)
        _ = other.machine.writabilityChanged(true)
        #expect(other.machine.takesFrames)
        // Before the login the Hello is taken all the same.
        var early = MachineBench()
        _ = early.machine.opened(isWritable: false, now: early.now)
        #expect(early.machine.takesFrames)
    }

    // MARK: The end

    @Test func eachEndSaysItsReasonOnce() {
        let ends: [(ClosingCode, (inout MachineBench) -> [Action])] = [
            (.internal, { $0.machine.keyEnded(now: $0.now) }),
            (.replaced, { $0.machine.replaced(now: $0.now) }), (.shutdown, { $0.machine.stopped(now: $0.now) }),
            (.protocol, { $0.machine.malformed("no frame", now: $0.now) }),
            (.protocol, { $0.receive(.hello(MachineBench.hello())) }),
            (.protocol, { $0.machine.received(ClientFrame(), now: $0.now, clock: $0.clock) }),
        ]
        for (code, end) in ends {
            var bench = MachineBench.opened()
            let actions = end(&bench)
            #expect(frames(actions).map { $0.closing?.code } == [code])
            #expect(Array(actions.suffix(3)) == [.unregister, .setTimer(.phase, milliseconds: 5000), .close])
            // Whatever comes then: nothing is said twice, and bytes are dropped.
            for (_, again) in ends { #expect(again(&bench) == []) }
            #expect(!bench.machine.takesFrames && bench.machine.dropsBytes)
            #expect(bench.machine.gone() == [.abandon, .forget])
        }
    }

    @Test func goodbyeClosesWithoutAWord() {
        var bench = MachineBench.opened()
        #expect(
            bench.receive(.goodbye(Goodbye())) == [.left, .unregister, .setTimer(.phase, milliseconds: 5000), .close])
    }

    @Test func aConnectionThatBreaksLeavesTheRegistry() {
        var bench = MachineBench.opened()
        #expect(bench.machine.gone() == [.abandon, .unregister, .forget])
        #expect(bench.machine.gone() == [])
        var failed = MachineBench.opened()
        #expect(
            failed.machine.failed(now: failed.now) == [.unregister, .setTimer(.phase, milliseconds: 5000), .close])
    }
}
