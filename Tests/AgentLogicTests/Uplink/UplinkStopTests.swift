import Testing
import TrackTestKit

@testable import AgentLogic

struct UplinkStopTests {
    @Test func stoppingOnlineSendsEverythingThenSaysGoodbye() {
        var machine = UplinkMachine.online()
        _ = machine.pointsAppended(next: 4, now: 0)
        let link = machine.link
        let actions = machine.stop(drainThrough: 3, deadline: 10_000, now: 0)
        guard let id = actions.read else {
            Issue.record("did \(actions)")
            return
        }
        #expect(actions.delay(of: .drain) == 10_000)
        #expect(actions.reports == [.closing])
        _ = machine.batchRead(id, .batch(first: 1, count: 3, bytes: 30), now: 10)
        let end = machine.uploadAcknowledged(link, through: 3, now: 20)
        #expect(end.first == .acknowledgeCache(through: 3))
        #expect(end.suffix(2) == [.report(.closed), .finished(drained: true)])
        #expect(end.contains(.sendGoodbye) && end.contains(.closeLink(link)) && end.contains(.cancelTimer(.drain)))
        #expect(machine.state == .closed)
    }

    @Test func nothingLeftMeansGoodbyeAtOnce() {
        var machine = UplinkMachine.online()
        let actions = machine.stop(drainThrough: 0, deadline: 10_000, now: 0)
        #expect(actions.contains(.sendGoodbye))
        #expect(actions.last == .finished(drained: true))
    }

    @Test func whatIsNotAcknowledgedInTimeStays() {
        var machine = UplinkSetup.draining.make()
        #expect(machine.timerFired(.drain, now: 9999) == [.setTimer(.drain, milliseconds: 1)])
        let actions = machine.timerFired(.drain, now: 10_000)
        #expect(actions.contains(.sendGoodbye))
        #expect(actions.last == .finished(drained: false))
    }

    @Test func aDeadlineThatIsPastMeansNow() {
        var machine = UplinkSetup.sending.make()
        #expect(machine.stop(drainThrough: 100, deadline: 0, now: 0).last == .finished(drained: false))
    }

    @Test(arguments: [UplinkSetup.connecting, .handshaking, .loggingIn, .waiting, .refused])
    func offlineItJustStops(_ setup: UplinkSetup) {
        var machine = setup.make()
        let link = machine.link
        let hasLink = setup != .waiting && setup != .refused
        let actions = machine.stop(drainThrough: 100, deadline: 10_000, now: 0)
        #expect(actions.contains(.closeLink(link)) == hasLink)
        #expect(actions.contains(.cancelTimer(.step)))
        #expect(actions.last == .finished(drained: false))
        #expect(!actions.contains(.sendGoodbye))
        #expect(machine.timerFired(.step, now: 1_000_000) == [])
    }

    @Test func aLinkLostWhileDrainingEndsTheStop() {
        var machine = UplinkSetup.draining.make()
        #expect(machine.linkClosed(machine.link, lost, now: 5).last == .finished(drained: false))
        #expect(machine.state == .closed)
    }

    @Test func aCacheThatHasNothingMoreIsDrained() {
        var machine = UplinkSetup.reading.make()
        guard let id = machine.phaseRead else {
            Issue.record("no read")
            return
        }
        _ = machine.stop(drainThrough: 100, deadline: 10_000, now: 0)
        #expect(machine.batchRead(id, .nothing, now: 1).last == .finished(drained: true))
    }

    @Test func whatIsAppendedWhileDrainingGoesToo() {
        var machine = UplinkSetup.draining.make()
        #expect(machine.pointsAppended(next: 102, now: 1).read != nil)
    }

    @Test func aStopBeforeTheCacheHasAnsweredWaitsForIt() {
        var machine = UplinkSetup.confirming.make()
        #expect(machine.stop(drainThrough: 100, deadline: 10_000, now: 0).last == .report(.closing))
        let actions = machine.cacheConfirmed(machine.link, first: 101, next: 101, isNewStream: false, now: 1)
        #expect(actions.last == .finished(drained: true))
    }

    @Test func anotherStreamWhileDrainingEndsTheStop() {
        var machine = UplinkSetup.draining.make()
        #expect(machine.streamChanged(first: 1, next: 1, now: 1).last == .finished(drained: false))
    }

    @Test func stoppingTwiceKeepsTheEarlierDeadlineAndFinishesOnce() {
        var machine = UplinkSetup.draining.make()
        #expect(machine.stop(drainThrough: 100, deadline: 500, now: 0) == [.setTimer(.drain, milliseconds: 500)])
        #expect(machine.stop(drainThrough: 100, deadline: 9000, now: 100) == [.setTimer(.drain, milliseconds: 400)])
        #expect(machine.timerFired(.drain, now: 500).last == .finished(drained: false))
        #expect(machine.stop(drainThrough: 100, deadline: 9000, now: 600) == [.finished(drained: false)])
    }

    @Test func afterAStopItCanStartAgain() {
        var machine = UplinkSetup.draining.make()
        _ = machine.timerFired(.drain, now: 10_000)
        #expect(machine.start(first: 1, next: 101, now: 20_000).contains(.connect(LinkID(rawValue: 2))) == true)
        #expect(machine.start(first: 1, next: 101, now: 20_000) == [])
    }

    @Test func whileDrainingNothingReconnects() {
        var machine = UplinkSetup.draining.make()
        let before = machine
        #expect(machine.reconnectRequested(now: 1) == [])
        #expect(machine.configurationChanged(now: 1) == [])
        #expect(machine.start(first: 1, next: 1, now: 1) == [])
        #expect(machine == before)
    }
}
