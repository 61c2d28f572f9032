import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

struct UplinkFlowTests {
    @Test func liveOneBatchGoesEachPackInterval() {
        var machine = UplinkMachine.online()
        #expect(machine.pointsAppended(next: 2, now: 0) == [.setTimer(.pack, milliseconds: 35_000)])
        for point in 2...5 as ClosedRange<UInt64> {
            #expect(machine.pointsAppended(next: point + 1, now: 0 + Int64(point) * 5000) == [])
        }
        let reading = machine.pointsAppended(next: 7, now: 25_000)
        guard let id = reading.read else {
            Issue.record("did \(reading)")
            return
        }
        #expect(
            machine.batchRead(id, .batch(first: 1, count: 6, bytes: 60), now: 25_001) == [
                .sendUpload(id, first: 1, count: 6), .cancelTimer(.pack),
                .setTimer(.acknowledgement, milliseconds: 20_000), .setTimer(.heartbeat, milliseconds: 60_000),
            ])
        #expect(machine.unacknowledgedPoints == 6)
        #expect(
            machine.uploadAcknowledged(machine.link, through: 6, now: 25_100) == [
                .acknowledgeCache(through: 6), .cancelTimer(.acknowledgement),
            ])
        #expect(machine.unacknowledgedPoints == 0 && machine.acknowledgedThrough == 6)
        #expect(machine.uploadAcknowledged(machine.link, through: 6, now: 25_200) == [])
        #expect(machine.pointsAppended(next: 8, now: 30_000) == [.setTimer(.pack, milliseconds: 35_000)])
    }

    @Test func pointsThatStopComingGoWhenTheyHaveWaitedLongEnough() {
        var machine = UplinkMachine.online()
        _ = machine.pointsAppended(next: 3, now: 0)
        #expect(machine.timerFired(.pack, now: 34_000) == [.setTimer(.pack, milliseconds: 1000)])
        #expect(machine.timerFired(.pack, now: 35_000).read != nil)
    }

    @Test func shorterPacksTakeEffectAtOnce() {
        var machine = UplinkMachine.online()
        _ = machine.pointsAppended(next: 4, now: 0)
        #expect(machine.intervalsChanged(gather: 5, pack: 15, now: 1).read != nil)
    }

    @Test func aChangeOfSettingsDoesNotBeginTheWaitOfAPointAnew() {
        var machine = UplinkMachine.online()
        #expect(machine.pointsAppended(next: 2, now: 0) == [.setTimer(.pack, milliseconds: 35_000)])
        #expect(
            machine.intervalsChanged(gather: 5, pack: 30, now: 10_000) == [
                .cancelTimer(.pack), .setTimer(.pack, milliseconds: 25_000),
            ])
        #expect(machine.intervalsChanged(gather: 5, pack: 5, now: 11_000).read != nil)
    }

    /// Numbers that are missing between its points make several batches of a pack.
    @Test func allBatchesOfAPackThatIsDueGoAtOnce() throws {
        var machine = UplinkMachine.online()
        let first = try #require(machine.pointsAppended(next: 8, now: 0).read)
        let rest = try #require(machine.batchRead(first, .batch(first: 1, count: 3, bytes: 30), now: 0).read)
        #expect(machine.batchRead(rest, .batch(first: 5, count: 3, bytes: 30), now: 0).read == nil)
    }

    @Test func aBacklogGoesAsFastAsTheWindowAllows() {
        var machine = UplinkMachine.online(points: 100_000)
        var sent: [UInt64] = []
        var id = machine.phaseRead
        while let read = id {
            let first = (sent.last ?? 0) + 1
            sent.append(first + 999)
            id = machine.batchRead(read, .batch(first: first, count: 1000, bytes: 7000), now: 0).read
        }
        #expect(sent.count == 16)
        #expect(machine.uploadAcknowledged(machine.link, through: 500, now: 1) == [.acknowledgeCache(through: 500)])
        #expect(machine.uploadAcknowledged(machine.link, through: 1000, now: 1).read != nil)
    }

    @Test func aBatchTooLargeForTheWindowWaitsForRoom() {
        var machine = UplinkMachine.online(points: 3000, limits: UplinkLimits(windowBytes: 1000))
        guard let first = machine.phaseRead,
            let second = machine.batchRead(first, .batch(first: 1, count: 10, bytes: 600), now: 0).read
        else {
            Issue.record("no read")
            return
        }
        #expect(machine.batchRead(second, .batch(first: 11, count: 10, bytes: 500), now: 0) == [])
        #expect(machine.pointsAppended(next: 4000, now: 0) == [])
        let actions = machine.uploadAcknowledged(machine.link, through: 10, now: 1)
        #expect(actions.contains(.sendUpload(second, first: 11, count: 10)))
    }

    @Test func whatWasHeldIsForgottenWhenTheLinkIsLost() {
        var machine = UplinkMachine.online(points: 3000, limits: UplinkLimits(windowBytes: 1000))
        guard let first = machine.phaseRead,
            let second = machine.batchRead(first, .batch(first: 1, count: 10, bytes: 600), now: 0).read
        else {
            Issue.record("no read")
            return
        }
        _ = machine.batchRead(second, .batch(first: 11, count: 10, bytes: 500), now: 0)
        #expect(machine.linkClosed(machine.link, lost, now: 1).first == .discard(second))
    }

    @Test func aReadThatComesTooLateIsForgotten() throws {
        var machine = UplinkSetup.reading.make()
        let id = try #require(machine.phaseRead)
        _ = machine.linkClosed(machine.link, lost, now: 0)
        #expect(machine.batchRead(id, .batch(first: 1, count: 1, bytes: 1), now: 1) == [.discard(id)])
        #expect(machine.batchRead(id, .nothing, now: 1) == [])
    }

    @Test(
        arguments: [
            .batch(first: 0, count: 5, bytes: 1), .batch(first: 1, count: 0, bytes: 1),
            .batch(first: 1, count: -1, bytes: 1),
            .batch(first: .max, count: 2, bytes: 1), .batch(first: 1, count: 1, bytes: -1),
        ] as [UplinkMachine.ReadOutcome])
    func aReadThatMakesNoSenseIsForgottenAndNotAskedForAgainAtOnce(_ outcome: UplinkMachine.ReadOutcome) throws {
        var machine = UplinkSetup.reading.make()
        let id = try #require(machine.phaseRead)
        #expect(machine.batchRead(id, outcome, now: 0) == [.discard(id)])
        #expect(machine.pointsAppended(next: 200, now: 0).read != nil)
    }

    @Test func whatTheCacheDoesNotHaveIsNotAskedForAgain() throws {
        var machine = UplinkSetup.reading.make()
        let id = try #require(machine.phaseRead)
        #expect(machine.batchRead(id, .nothing, now: 0) == [])
        #expect(machine.pointsAppended(next: 102, now: 0) == [.setTimer(.pack, milliseconds: 35_000)])
        let actions = machine.pointsAppended(next: 107, now: 0)
        guard case .read(_, let after, _, _)? = actions.first(where: { if case .read = $0 { true } else { false } })
        else {
            Issue.record("did \(actions)")
            return
        }
        #expect(after == 0)
    }

    @Test func aCacheThatCannotBeReadIsAskedAgainAfterAPause() throws {
        var machine = UplinkSetup.reading.make()
        let id = try #require(machine.phaseRead)
        #expect(machine.batchRead(id, .unreadable, now: 0) == [.setTimer(.pack, milliseconds: 2000)])
        #expect(machine.pointsAppended(next: 500, now: 1) == [])
        #expect(machine.timerFired(.pack, now: 2000).read != nil)
    }

    @Test func otherIntervalsDoNotEndThePauseForGood() throws {
        var machine = UplinkSetup.reading.make()
        let id = try #require(machine.phaseRead)
        #expect(machine.batchRead(id, .unreadable, now: 0) == [.setTimer(.pack, milliseconds: 2000)])
        #expect(machine.intervalsChanged(gather: 2, pack: 6, now: 1) == [])
        #expect(machine.timerFired(.pack, now: 2000).read != nil)
    }

    @Test func aSequenceTheCacheLeftOutIsNoObstacle() throws {
        var machine = UplinkSetup.reading.make()
        let id = try #require(machine.phaseRead)
        let actions = machine.batchRead(id, .batch(first: 50, count: 51, bytes: 9), now: 0)
        #expect(actions.contains(.sendUpload(id, first: 50, count: 51)))
    }

    @Test func aLinkWithoutAcknowledgementIsDeadAfterTwentySeconds() {
        var machine = UplinkSetup.sending.make()
        let link = machine.link
        _ = machine.frameReceived(link, now: 19_000)
        #expect(machine.timerFired(.acknowledgement, now: 20_000).first == .closeLink(link))
        #expect(machine.ceiling == 500)
    }

    @Test func aSlowLinkThatMakesProgressLives() {
        var machine = UplinkMachine.online(points: 3000)
        var id = machine.phaseRead
        for batch in 0..<3 as Range<UInt64> {
            guard let read = id else { break }
            id = machine.batchRead(read, .batch(first: batch * 1000 + 1, count: 1000, bytes: 7000), now: 0).read
        }
        _ = machine.uploadAcknowledged(machine.link, through: 1000, now: 15_000)
        #expect(
            machine.timerFired(.acknowledgement, now: 20_000) == [.setTimer(.acknowledgement, milliseconds: 15_000)])
        _ = machine.uploadAcknowledged(machine.link, through: 2000, now: 34_000)
        #expect(
            machine.timerFired(.acknowledgement, now: 35_000) == [.setTimer(.acknowledgement, milliseconds: 19_000)])
        #expect(machine.timerFired(.acknowledgement, now: 54_000).first == .closeLink(machine.link))
    }

    @Test func afterADeadLinkBatchesAreSmallerUntilTheyArrive() throws {
        var machine = UplinkMachine.online(points: 3000)
        for _ in 0..<10 {
            if let id = machine.phaseRead { _ = machine.batchRead(id, .batch(first: 1, count: 9, bytes: 9), now: 0) }
            _ = machine.timerFired(.acknowledgement, now: 1_000_000)
            _ = machine.timerFired(.step, now: 9_000_000)
            _ = machine.connected(machine.link, now: 0)
            _ = machine.welcome(machine.link, storedThrough: 0, heartbeatSeconds: 0, limits: UplinkLimits(), now: 0)
            _ = machine.cacheConfirmed(machine.link, first: 1, next: 3001, isNewStream: false, now: 0)
        }
        #expect(machine.ceiling == 32)
        let id = try #require(machine.phaseRead)
        _ = machine.batchRead(id, .batch(first: 1, count: 32, bytes: 9), now: 0)
        _ = machine.uploadAcknowledged(machine.link, through: 32, now: 0)
        guard case .online(let session) = machine.phase else {
            Issue.record("not online")
            return
        }
        #expect(session.ceiling == 64)
    }

    @Test func aServerThatAcknowledgesWhatWasNeverSentReleasesOnlyWhatWas() {
        var machine = UplinkSetup.sending.make()
        let actions = machine.uploadAcknowledged(machine.link, through: .max, now: 0)
        #expect(actions.prefix(2) == [.serverAhead(through: .max), .acknowledgeCache(through: 100)])
        #expect(
            machine.uploadAcknowledged(machine.link, through: .max, now: 0).contains(.serverAhead(through: .max))
                == false)
    }
}

extension UplinkMachine {
    /// Everything up to here is known to be the server's.
    var acknowledgedThrough: UInt64 {
        guard case .online(let session) = phase else { return acknowledged }
        return max(acknowledged, session.acknowledged)
    }

    /// The read whose answer the session waits for.
    var phaseRead: ReadID? {
        guard case .online(let session) = phase, case .asked(let id, _) = session.reading else { return nil }
        return id
    }
}
