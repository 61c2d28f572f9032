import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

/// A connection from its first byte to its Welcome, event by event.
@Suite struct SessionLoginTests {
    private func refused(_ actions: [SessionMachine.Action]) -> Refused? {
        actions.lazy.compactMap { action -> Refused? in
            guard case .send(let frame) = action else { return nil }
            return frame.message?.refused
        }.first
    }

    @Test func eachPhaseHasItsDeadline() {
        var bench = MachineBench()
        #expect(
            bench.machine.opened(isWritable: true, now: bench.now) == [.setTimer(.phase, milliseconds: 10_000)])
        #expect(bench.machine.takesFrames && !bench.machine.dropsBytes)
        bench.now += 500
        #expect(
            bench.machine.handshakeCompleted(isOurs: true, now: bench.now) == [
                .setTimer(.phase, milliseconds: 10_000)
            ])
        #expect(bench.machine.takesFrames)
        let actions = bench.receive(.hello(MachineBench.hello()))
        #expect(actions.first == .setTimer(.phase, milliseconds: 10_000))
        guard case .admit(let request)? = actions.last else { return #expect(Bool(false), "\(actions)") }
        #expect(request.entity == "car" && request.stream == MachineBench.stream)
        #expect(request.credential == .key(AccessKey("key").hash))
        // The store is being asked: nothing is read.
        #expect(!bench.machine.takesFrames && !bench.machine.dropsBytes)
    }

    @Test func aHandshakeThatTakesTooLongIsCountedAndClosed() {
        var bench = MachineBench()
        _ = bench.machine.opened(isWritable: true, now: bench.now)
        #expect(
            bench.fire(after: 10_000) == [.note(.handshakeFailed), .setTimer(.phase, milliseconds: 5000), .close])
        // TLS does not say goodbye.
        #expect(bench.fire(after: 5000) == [.cutOff])
    }

    @Test func aTimerThatFiresEarlyIsSetAgain() {
        var bench = MachineBench()
        #expect(bench.fire() == [])
        _ = bench.machine.opened(isWritable: true, now: bench.now)
        #expect(bench.fire(after: 9999) == [.setTimer(.phase, milliseconds: 1)])
        #expect(bench.fire(after: 1).first == .note(.handshakeFailed))
    }

    @Test func anotherProtocolOrAFailureInTheHandshakeIsCounted() {
        for isOurs in [true, false] {
            var bench = MachineBench()
            _ = bench.machine.opened(isWritable: true, now: bench.now)
            let actions =
                isOurs
                ? bench.machine.failed(now: bench.now)
                : bench.machine.handshakeCompleted(isOurs: false, now: bench.now)
            #expect(actions == [.note(.handshakeFailed), .setTimer(.phase, milliseconds: 5000), .close])
            #expect(bench.machine.dropsBytes)
        }
    }

    @Test func aFrameBeforeItsTimeEndsTheConnectionWithoutAWord() {
        var bench = MachineBench()
        _ = bench.machine.opened(isWritable: true, now: bench.now)
        #expect(
            bench.receive(.hello(MachineBench.hello())) == [
                .note(.violation("a frame before its time")), .setTimer(.phase, milliseconds: 5000), .close,
            ])
    }

    @Test func withoutAHelloTheConnectionIsRefused() {
        var bench = MachineBench()
        bench.connect()
        let late = bench.fire(after: 10_000)
        guard case .note(.loginEnded(let ended, nil))? = late.first else { return #expect(Bool(false), "\(late)") }
        #expect(ended.code == .protocol)
        #expect(refused(late)?.code == .protocol)
        #expect(late.last == .close)

        bench = MachineBench()
        bench.connect()
        let wrong = bench.receive(.heartbeat(Heartbeat()))
        #expect(wrong.first == .note(.violation("the first frame must be a hello")))
        #expect(refused(wrong)?.code == .protocol && refused(wrong)?.retryAfter == 60)

        bench = MachineBench()
        bench.connect()
        #expect(refused(bench.machine.malformed("no frame", now: bench.now))?.reason == "no frame")
    }

    @Test func aHelloThatBreaksARuleIsRefusedBeforeTheStoreIsAsked() {
        var bench = MachineBench()
        bench.connect()
        let actions = bench.receive(.hello(MachineBench.hello { $0.entity = "a:b" }))
        #expect(refused(actions)?.code == .parameter)
        guard case .note(.loginRefused(let refusal, "a:b"))? = actions.first else {
            return #expect(Bool(false), "\(actions)")
        }
        #expect(refusal.code == .parameter)
        #expect(!actions.contains { if case .admit = $0 { true } else { false } })
        #expect(actions.last == .close)
    }

    @Test func theStoresRefusalIsPassedOnAndNobodyWasRegistered() {
        var bench = MachineBench()
        bench.connect()
        _ = bench.receive(.hello(MachineBench.hello()))
        let refusal = LoginRefusal(.authentication, "the key opens nothing")
        let actions = bench.machine.admitted(
            .failure(refusal), session: 1, barrier: nil, now: bench.now, clock: bench.clock)
        #expect(
            actions == [
                .note(.loginRefused(refusal, entity: "car")), .send(refusal.frame),
                .setTimer(.phase, milliseconds: 5000), .close,
            ])
        #expect(bench.machine.gone() == [.abandon, .forget])
    }

    @Test func aStoreThatDoesNotAnswerInTimeIsBusyAndItsAnswerComesTooLate() {
        var bench = MachineBench()
        bench.connect()
        _ = bench.receive(.hello(MachineBench.hello()))
        let actions = bench.fire(after: 10_000)
        guard case .note(.loginEnded(let ended, "car"))? = actions.first else {
            return #expect(Bool(false), "\(actions)")
        }
        #expect(ended.code == .busy)
        #expect(refused(actions)?.code == .busy && refused(actions)?.retryAfter == 30)
        #expect(bench.admit(MachineBench.admission()) == [])
    }

    @Test func aLoginWhileTheServerStopsIsBusy() {
        var bench = MachineBench()
        bench.connect()
        _ = bench.receive(.hello(MachineBench.hello()))
        let actions = bench.admit(MachineBench.admission(), barrier: .stopping)
        #expect(refused(actions)?.code == .busy && refused(actions)?.retryAfter == 5)

        bench = MachineBench()
        bench.connect()
        #expect(refused(bench.machine.stopped(now: bench.now))?.code == .busy)
    }

    @Test func whileTheClockIsWrongNobodyLogsIn() {
        var bench = MachineBench()
        bench.connect()
        _ = bench.receive(.hello(MachineBench.hello()))
        let actions = bench.admit(MachineBench.admission(), barrier: .clockWrong("it says 1970"))
        #expect(refused(actions)?.code == .unable && refused(actions)?.reason == "it says 1970")
        #expect(refused(actions)?.retryAfter == 30)
    }

    /// TLS has asked for no certificate: a vehicle that has no key either hears the reason, and nobody gets in, also when the clock
    /// is right by then.
    @Test func aConnectionThatWasTakenByAWrongClockLetsNobodyIn() {
        for change in [{ _ in }, { $0.ak = "" }] as [(inout Hello) -> Void] {
            var bench = MachineBench(clockProblem: "it says 1970")
            bench.connect()
            let actions = bench.receive(.hello(MachineBench.hello(change)))
            #expect(refused(actions)?.code == .unable && refused(actions)?.reason == "it says 1970")
            #expect(actions.last == .close && bench.machine.dropsBytes)
        }
    }

    @Test func aWelcomeComesAfterTheRegistrationAndPushesAreAskedFor() throws {
        var bench = MachineBench()
        let actions = bench.logIn(storedThrough: 40)
        guard case .register(let request, began: bench.clock)? = actions.first else {
            return #expect(Bool(false), "\(actions)")
        }
        #expect(request.agentVersion == "test")
        #expect(
            Array(actions[1...3]) == [
                .acceptFrames(upTo: WireLimits.frameBytes), .setTimer(.phase, milliseconds: 180_000),
                .note(.loggedIn(agentVersion: "test")),
            ])
        guard case .send(let frame) = actions[4] else { return #expect(Bool(false), "\(actions)") }
        let welcome = try #require(frame.message?.welcome)
        #expect(welcome.session == 12 && welcome.storedThrough == 40)
        #expect(welcome.serverTime == bench.clock.milliseconds)
        #expect(actions.last == .loadPushes(after: nil, limit: 16))
        #expect(bench.machine.takesFrames)
        // Only once.
        #expect(bench.admit(MachineBench.admission()) == [])
    }

    @Test func aConnectionThatIsGoneHearsNothing() {
        var bench = MachineBench()
        bench.connect()
        _ = bench.receive(.hello(MachineBench.hello()))
        #expect(bench.machine.gone() == [.abandon, .forget])
        #expect(bench.machine.gone() == [])
        #expect(bench.admit(MachineBench.admission()) == [])
        #expect(bench.fire(after: 100_000) == [])
        #expect(bench.machine.failed(now: bench.now) == [])
        #expect(bench.receive(.hello(MachineBench.hello())) == [])
        #expect(bench.machine.dropsBytes)
    }
}
