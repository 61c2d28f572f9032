import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

struct UplinkConnectionTests {
    @Test func theWayToOnline() {
        var machine = UplinkMachine.fresh()
        let link = LinkID(rawValue: 1)
        #expect(
            machine.start(first: 5, next: 9, now: 0) == [
                .setTimer(.step, milliseconds: 20_000), .report(.connecting), .connect(link),
            ])
        #expect(
            machine.transportConnected(link, now: 100) == [
                .setTimer(.step, milliseconds: 10_000), .report(.handshaking),
            ])
        #expect(
            machine.connected(link, now: 200) == [
                .sendHello(link), .setTimer(.step, milliseconds: 10_000), .report(.loggingIn),
            ])
        #expect(
            machine.welcome(link, storedThrough: 6, heartbeatSeconds: 0, limits: UplinkLimits(), now: 300) == [
                .cancelTimer(.step), .setTimer(.heartbeat, milliseconds: 60_000),
                .confirmCache(link, storedThrough: 6), .report(.online),
            ])
        #expect(
            machine.cacheConfirmed(link, first: 7, next: 9, isNewStream: false, now: 400) == [
                .read(ReadID(link: link, number: 1), after: 6, maximumPoints: 1000, maximumBytes: 262_144)
            ])
        #expect(machine.counters.sessions == 1 && machine.counters.attemptsSinceLogin == 0)
        #expect(machine.acknowledgedThrough == 6)
    }

    @Test func nothingIsReadBeforeTheCacheHasSaidWhereToBegin() {
        var machine = UplinkSetup.confirming.make()
        #expect(machine.pointsAppended(next: 500, now: 0) == [])
    }

    @Test(
        arguments: [(UplinkSetup.connecting, 20_000), (.handshaking, 10_000), (.loggingIn, 10_000)]
            as [(UplinkSetup, MonotonicTime)])
    func eachStepHasItsDeadline(_ setup: UplinkSetup, _ deadline: MonotonicTime) {
        var machine = setup.make()
        let link = machine.link
        #expect(machine.timerFired(.step, now: deadline + -1) == [.setTimer(.step, milliseconds: 1)])
        let actions = machine.timerFired(.step, now: deadline)
        #expect(actions.first == .closeLink(link))
        guard case .waiting(let until, let trouble)? = actions.reports.first else {
            Issue.record("did \(actions)")
            return
        }
        #expect(trouble.kind == .timeout)
        #expect((deadline...deadline + 1000).contains(until))
        #expect(actions.delay(of: .step) == until - deadline)
    }

    @Test func afterAFailureItConnectsAgainWhenTheWaitIsOver() {
        var machine = UplinkSetup.connecting.make()
        let wait = machine.connectFailed(machine.link, lost, now: 50).delay(of: .step) ?? -1
        #expect(machine.timerFired(.step, now: 50 + wait).last == .connect(LinkID(rawValue: 2)))
    }

    @Test func waitsGrowUntilASessionHasLastedAMinute() {
        var machine = UplinkMachine.fresh()
        _ = machine.start(first: 1, next: 1, now: 0)
        var longest: [Int64] = []
        for _ in 0..<4 {
            longest.append(machine.backoff.ceiling)
            _ = machine.connectFailed(machine.link, lost, now: 0)
            _ = machine.timerFired(.step, now: 1_000_000)
        }
        #expect(longest == [1000, 2000, 4000, 8000])
        for (length, ceiling) in [(59_999, 32_000), (60_000, 2000)] as [(Int64, Int64)] {
            var copy = machine
            _ = copy.connected(copy.link, now: 0)
            _ = copy.welcome(copy.link, storedThrough: 0, heartbeatSeconds: 0, limits: UplinkLimits(), now: 0)
            _ = copy.linkClosed(copy.link, lost, now: 0 + length)
            #expect(copy.backoff.ceiling == ceiling)
        }
    }

    @Test func aRefusedKeyIsTriedAgainNoSoonerThanAfterFiveMinutes() {
        for retryAfter in [0, 1, 300] as [UInt32] {
            var machine = UplinkSetup.loggingIn.make()
            let actions = machine.refused(machine.link, keyRefused, retryAfterSeconds: retryAfter, now: 0)
            #expect(actions.first == .closeLink(machine.link))
            guard case .refused(let until, keyRefused)? = actions.reports.first else {
                Issue.record("did \(actions)")
                return
            }
            #expect((300_000...301_000).contains(until))
            #expect(machine.networkChanged(now: 10) == [])
            // A person may have mended it at the server a moment ago.
            var asked = machine
            #expect(asked.reconnectRequested(now: 1000).last == .connect(LinkID(rawValue: 2)))
            var started = machine
            #expect(started.loginRequested(now: 1000).last == .connect(LinkID(rawValue: 2)))
            #expect(machine.configurationChanged(now: 10).last == .connect(LinkID(rawValue: 2)))
        }
    }

    @Test func aRefusedCertificateCountsAsARefusedKey() {
        var machine = UplinkSetup.connecting.make()
        guard case .refused? = machine.connectFailed(machine.link, keyRefused, now: 0).reports.first else {
            Issue.record("no refusal")
            return
        }
    }

    @Test func whatTheServerAsksToWaitIsObeyedWithJitterOnTopAndABound() {
        for (asked, floor) in [(60, 60_000), (.max, 3_600_000)] as [(UInt32, Int64)] {
            var machine = UplinkMachine.online()
            let actions = machine.closing(
                machine.link, LinkTrouble(.server, "maintenance"), retryAfterSeconds: asked, now: 0)
            let delay = actions.delay(of: .step) ?? -1
            #expect((floor...floor + 1000).contains(delay))
            #expect(machine.networkChanged(now: 0 + (floor - 1)).contains(.connect(LinkID(rawValue: 2))) == false)
            // But a person's command is never without effect.
            #expect(machine.reconnectRequested(now: 1000).last == .connect(LinkID(rawValue: 2)))
        }
    }

    @Test func aProgramThatAsksWithoutEndMakesOneAttemptASecond() {
        var machine = UplinkSetup.loggingIn.make()
        _ = machine.refused(machine.link, keyRefused, retryAfterSeconds: 300, now: 10)
        let soon = machine.reconnectRequested(now: 400)
        #expect(soon.delay(of: .step) == 600 && soon.reports == [.refused(until: 1000, keyRefused)])
        #expect(machine.reconnectRequested(now: 500) == [] && machine.loginRequested(now: 600) == [])
        #expect(machine.timerFired(.step, now: 1000).last == .connect(machine.link))
        // An attempt that is under way goes on: who starts a service that runs may do so each second.
        #expect(machine.loginRequested(now: 5000) == [])
    }

    @Test func aChangeOfNetworkCutsAWaitShortButNotMoreThanOnceASecond() {
        var machine = UplinkSetup.waiting.make()
        for _ in 0..<10 { _ = machine.backoff.next() }
        _ = machine.timerFired(.step, now: 1000)
        _ = machine.connectFailed(machine.link, lost, now: 1001)
        let soon = machine.networkChanged(now: 1500)
        #expect(soon.delay(of: .step) == 500)
        #expect(machine.networkChanged(now: 1600).delay(of: .step) == nil)
        #expect(machine.timerFired(.step, now: 2000).last == .connect(machine.link))
    }

    @Test func aChangeOfNetworkAsksALinkForASignOfLife() {
        var machine = UplinkMachine.online()
        #expect(machine.networkChanged(now: 5) == [.sendHeartbeat, .setTimer(.acknowledgement, milliseconds: 20_000)])
        #expect(machine.networkChanged(now: 6) == [])
        #expect(machine.frameReceived(machine.link, now: 7) == [.cancelTimer(.acknowledgement)])
    }

    @Test func aPersonMayAskForANewConnection() {
        var waiting = UplinkSetup.waiting.make()
        #expect(waiting.reconnectRequested(now: 1000).last == .connect(LinkID(rawValue: 2)))
        var online = UplinkMachine.online()
        let old = online.link
        let actions = online.reconnectRequested(now: 1)
        #expect(actions.prefix(2) == [.sendGoodbye, .closeLink(old)])
        #expect(actions.contains(.connect(LinkID(rawValue: 2))))
        #expect(online.linkClosed(old, lost, now: 2) == [])
        #expect(online.uploadAcknowledged(old, through: 9, now: 2) == [])
    }

    @Test(arguments: [UplinkSetup.connecting, .handshaking])
    func anAttemptThatHangsIsGivenUpForAPersonOrAnotherNetwork(_ setup: UplinkSetup) {
        for (age, byPerson, byNetwork) in [(999, false, false), (1000, true, false), (5000, true, true)]
            as [(Int64, Bool, Bool)]
        {
            var (asked, moved) = (setup.make(), setup.make())
            let (old, begun) = (asked.link, asked.attemptedAt)
            let actions = asked.reconnectRequested(now: begun + age)
            #expect(actions.contains(.connect(asked.link)) == byPerson && (asked.link > old) == byPerson)
            if byPerson { #expect(actions.first == .closeLink(old)) }
            #expect(moved.networkChanged(now: begun + age).contains(.connect(moved.link)) == byNetwork)
        }
    }

    /// A proxy that answers in the server's place belongs to a network; a key that the server refuses does not.
    @Test(arguments: [LinkTrouble.Cause.certificateUntrusted, .certificateWrongName, .pinMismatch])
    func anotherNetworkIsAReasonToTryAnUntrustedServerAgain(_ cause: LinkTrouble.Cause) {
        let trouble = LinkTrouble(.authentication, "a stranger answers", cause: cause)
        var machine = UplinkSetup.connecting.make()
        guard case .refused(let until, trouble)? = machine.connectFailed(machine.link, trouble, now: 10).reports.first
        else {
            Issue.record("no refusal")
            return
        }
        #expect(until >= 300_000)
        var person = machine
        #expect(person.reconnectRequested(now: 1000).contains(.connect(person.link)))
        let soon = machine.networkChanged(now: 20)
        #expect(soon.delay(of: .step) == machine.attemptedAt + 1000 - 20)
        #expect(soon.reports == [.refused(until: machine.attemptedAt + 1000, trouble)])
        #expect(machine.timerFired(.step, now: machine.attemptedAt + 1000).contains(.connect(machine.link)))
    }

    @Test func otherCertificatesEndAWaitAndNoConnection() {
        var refused = UplinkSetup.loggingIn.make()
        _ = refused.refused(refused.link, keyRefused, retryAfterSeconds: 0, now: 0)
        #expect(refused.trustChanged(now: 10).last == .connect(LinkID(rawValue: 2)))
        // What the server asked for is obeyed.
        var asked = UplinkMachine.online()
        _ = asked.closing(asked.link, LinkTrouble(.server, "maintenance"), retryAfterSeconds: 60, now: 0)
        #expect(asked.trustChanged(now: 10).contains(.connect(LinkID(rawValue: 2))) == false)
        for setup in [UplinkSetup.off, .connecting, .handshaking, .loggingIn, .online] {
            var machine = setup.make()
            #expect(machine.trustChanged(now: 10) == [])
        }
    }

    @Test(arguments: [UplinkSetup.connecting, .handshaking, .loggingIn, .online, .reading, .sending])
    func anotherConfigurationMeansAnotherConnection(_ setup: UplinkSetup) {
        var machine = setup.make()
        let old = machine.link
        let actions = machine.configurationChanged(now: 1)
        #expect(actions.contains(.closeLink(old)))
        #expect(actions.contains(.connect(machine.link)) && machine.link > old)
    }

    @Test func anotherStreamNeedsAnotherLogin() {
        var machine = UplinkSetup.confirming.make()
        let actions = machine.cacheConfirmed(machine.link, first: 1, next: 4, isNewStream: true, now: 0)
        #expect(actions.contains(.connect(LinkID(rawValue: 2))))
        #expect(machine.next == 4 && machine.acknowledgedThrough == 0)
        var waiting = UplinkSetup.waiting.make()
        #expect(waiting.streamChanged(first: 3, next: 4, now: 0) == [])
        #expect(waiting.acknowledgedThrough == 2)
    }

    @Test func aServerThatIsAheadIsToldOnceAndTheCacheDecides() {
        var machine = UplinkSetup.loggingIn.make()
        let link = machine.link
        let actions = machine.welcome(link, storedThrough: .max, heartbeatSeconds: 0, limits: UplinkLimits(), now: 0)
        #expect(actions.contains(.serverAhead(through: .max)))
        let reading = machine.cacheConfirmed(link, first: 1, next: 101, isNewStream: false, now: 0)
        #expect(reading.read != nil)
        #expect(machine.counters.serverAhead == 1)
    }

    @Test func aQuietLinkIsKeptOpenByHeartbeats() {
        var machine = UplinkMachine.online(heartbeatSeconds: 30)
        machine.frameSent(machine.link, now: 10_000)
        #expect(machine.timerFired(.heartbeat, now: 30_000) == [.setTimer(.heartbeat, milliseconds: 10_000)])
        #expect(
            machine.timerFired(.heartbeat, now: 40_000) == [
                .sendHeartbeat, .setTimer(.acknowledgement, milliseconds: 20_000),
                .setTimer(.heartbeat, milliseconds: 30_000),
            ])
        let link = machine.link
        #expect(machine.timerFired(.acknowledgement, now: 60_000).first == .closeLink(link))
        #expect(machine.counters.deadLinks == 1)
    }

    @Test func aLinkOnWhichALongFrameArrivesIsNotDead() {
        var machine = UplinkMachine.online(heartbeatSeconds: 30)
        let link = machine.link
        #expect(machine.timerFired(.heartbeat, now: 30_000).first == .sendHeartbeat)
        machine.frameArriving(LinkID(rawValue: link.rawValue + 1), now: 48_000)
        machine.frameArriving(link, now: 45_000)
        #expect(
            machine.timerFired(.acknowledgement, now: 50_000) == [.setTimer(.acknowledgement, milliseconds: 15_000)])
        #expect(machine.timerFired(.acknowledgement, now: 65_000).first == .closeLink(link))
    }

    @Test func crumbsOfAFrameDoNotKeepALinkForEver() {
        var machine = UplinkMachine.online(heartbeatSeconds: 30)
        let link = machine.link
        _ = machine.timerFired(.heartbeat, now: 30_000)
        var last: MonotonicTime = 0
        for now in stride(from: 31_000, through: 400_000, by: 1000) as StrideThrough<Int64> {
            let now = MonotonicTime(milliseconds: now)
            machine.frameArriving(link, now: now)
            guard machine.timerFired(.acknowledgement, now: now).first == .closeLink(link) else { continue }
            last = now
            break
        }
        #expect(last == 170_000)
    }

    @Test func anOverdueAnswerAsksForASignOfLifeOnce() {
        var machine = UplinkMachine.online()
        #expect(machine.answerOverdue(now: 5).first == .sendHeartbeat)
        #expect(machine.answerOverdue(now: 6).isEmpty)
        #expect(machine.limits == UplinkLimits())
    }

    @Test func heartbeatIntervalsOfAServerAreKeptWithinReason() {
        for (asked, interval) in [(0, 60_000), (1, 5000), (.max, 3_600_000)] as [(UInt32, Int64)] {
            var machine = UplinkSetup.loggingIn.make()
            let actions = machine.welcome(
                machine.link, storedThrough: 0, heartbeatSeconds: asked, limits: UplinkLimits(), now: 0)
            #expect(actions.delay(of: .heartbeat) == interval)
        }
    }

    @Test func aPeerThatBreaksTheProtocolIsLeft() {
        var machine = UplinkMachine.online()
        #expect(machine.protocolViolated(machine.link, reason: "no frame", now: 0).first == .closeLink(machine.link))
    }
}
