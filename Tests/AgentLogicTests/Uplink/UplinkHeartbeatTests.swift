import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

/// Reports of the vehicle's health, which go as heartbeats.
struct UplinkHealthTests {
    /// Logged in at time 0 with a report each minute, and the answer to the first report has come.
    private func online(healthSeconds: UInt32 = 60, heartbeatSeconds: UInt32 = 60) -> (UplinkMachine, [UplinkAction]) {
        var machine = UplinkMachine.fresh()
        _ = machine.start(first: 1, next: 1, now: 0)
        _ = machine.connected(machine.link, now: 0)
        _ = machine.welcome(
            machine.link, storedThrough: 0, heartbeatSeconds: heartbeatSeconds, healthSeconds: healthSeconds,
            limits: UplinkLimits(), now: 0)
        let actions = machine.cacheConfirmed(machine.link, first: 1, next: 1, isNewStream: false, now: 0)
        _ = machine.frameReceived(machine.link, now: 0)
        return (machine, actions)
    }

    @Test func theFirstReportFollowsTheLogin() {
        #expect(online().1.contains(.sendHeartbeat))
        #expect(online().1.delay(of: .health) == 67_500)
        #expect(!online(healthSeconds: 0).1.contains(.sendHeartbeat))
    }

    /// Uploads keep heartbeats away, and reports not.
    @Test func aReportGoesBesideOtherFrames() {
        var (machine, _) = online()
        var reports: [Int64] = []
        for second in 1...200 as ClosedRange<Int64> {
            let now = MonotonicTime(milliseconds: second * 1000)
            machine.frameSent(machine.link, now: now)
            var actions = machine.timerFired(.heartbeat, now: now)
            actions += machine.timerFired(.health, now: now)
            if actions.contains(.sendHeartbeat) {
                reports.append(second)
                _ = machine.frameReceived(machine.link, now: now)
            }
        }
        #expect(reports == [68, 136])
    }

    /// One frame is the heartbeat and the report.
    @Test func aSilentVehicleSendsOneFrameAMinute() {
        var (machine, _) = online()
        var frames = 0
        for second in 1...300 as ClosedRange<Int64> {
            let now = MonotonicTime(milliseconds: second * 1000)
            let actions = machine.timerFired(.heartbeat, now: now) + machine.timerFired(.health, now: now)
            frames += actions.count { $0 == .sendHeartbeat }
            if actions.contains(.sendHeartbeat) { _ = machine.frameReceived(machine.link, now: now) }
        }
        #expect(frames == 5)
    }

    @Test func aChangeGoesAtOnceAndTheNextOneWaitsFiveSeconds() {
        var (machine, _) = online()
        #expect(machine.healthChanged(now: 2000) == [.setTimer(.health, milliseconds: 3000)])
        #expect(machine.timerFired(.health, now: 5000).contains(.sendHeartbeat))
        _ = machine.frameReceived(machine.link, now: 5100)
        let actions = machine.healthChanged(now: 30_000)
        #expect(actions.contains(.sendHeartbeat) && actions.delay(of: .health) == 67_500)
    }

    /// The link may be dead: a second question would say no more.
    @Test func aReportWaitsForTheAnswerToTheOneBefore() {
        var (machine, _) = online()
        #expect(machine.healthChanged(now: 10_000).contains(.sendHeartbeat))
        #expect(machine.healthChanged(now: 16_000) == [.setTimer(.health, milliseconds: 5000)])
        _ = machine.frameReceived(machine.link, now: 17_000)
        #expect(machine.timerFired(.health, now: 21_000).contains(.sendHeartbeat))
        // No answer comes: the link is given up as after any heartbeat.
        #expect(machine.timerFired(.acknowledgement, now: 41_000).contains(.closeLink(machine.link)))
    }

    /// Two packs a minute, and every other one has a report beside it: no timer fires.
    @Test func aReportGoesBesideAPackWhenItIsDueBeforeTheNextOne() {
        var (machine, _) = online()
        var reports: [Int64] = []
        for pack in 1...6 as ClosedRange<Int64> {
            let now = MonotonicTime(milliseconds: pack * 30_000 - 500)
            var actions: [UplinkAction] = []
            for point in 1...6 {
                actions += machine.pointsAppended(next: UInt64(pack - 1) * 6 + UInt64(point) + 1, now: now)
            }
            let first = UInt64(pack - 1) * 6 + 1
            if let id = actions.read {
                actions = machine.batchRead(id, .batch(first: first, count: 6, bytes: 60), now: now)
            }
            if actions.contains(.sendHeartbeat) { reports.append(pack) }
            _ = machine.uploadAcknowledged(machine.link, through: first + 5, now: now)
        }
        #expect(reports == [2, 4, 6])
    }

    @Test func aServerThatTakesNoneIsToldNothing() {
        var (machine, _) = online(healthSeconds: 0)
        #expect(machine.healthChanged(now: 10_000) == [])
        #expect(machine.timerFired(.health, now: 70_000) == [])
    }
}

/// Live hints; six points a pack of 30 s.
struct UplinkHintTests {
    /// Logged in, with `points` in the cache; one of them was gathered by this process unless `isNew` is false.
    private func online(points: UInt64, isNew: Bool = true, tells: Bool = true) -> (UplinkMachine, [UplinkAction]) {
        var machine = UplinkMachine(gatherInterval: 5, packInterval: 30, seed: 1, sendsLiveHint: tells)
        _ = machine.start(first: 1, next: points, now: 0)
        if isNew { _ = machine.pointsAppended(next: points + 1, now: 0) }
        _ = machine.connected(machine.link, now: 0)
        _ = machine.welcome(machine.link, storedThrough: 0, heartbeatSeconds: 0, limits: UplinkLimits(), now: 0)
        let actions = machine.cacheConfirmed(machine.link, first: 1, next: points + 1, isNewStream: false, now: 0)
        return (machine, actions)
    }

    @Test func afterALoginWithABacklogItGoesFirst() {
        let (machine, actions) = online(points: 100_000)
        #expect(actions.first == .sendLiveHint)
        #expect(actions.read != nil)
        #expect(machine.counters.hints == 1)
    }

    @Test func whileBehindItGoesOnceAPackInterval() {
        var (machine, actions) = online(points: 100_000)
        var next: UInt64 = 100_001
        var hints: [Int64] = []
        // Nothing is acknowledged for a long time.
        for second in stride(from: Int64(5), through: 100, by: 5) {
            next += 1
            if let id = actions.read {
                actions = machine.batchRead(id, .batch(first: 1, count: 1000, bytes: 7000), now: 0 + second * 1000)
            }
            actions += machine.pointsAppended(next: next, now: 0 + second * 1000)
            if actions.contains(.sendLiveHint) { hints.append(second) }
            actions.removeAll { $0 == .sendLiveHint }
        }
        #expect(hints == [30, 60, 90])
    }

    @Test func itNeverGoesWhileLive() {
        var (machine, actions) = online(points: 0, isNew: false)
        #expect(!actions.contains(.sendLiveHint))
        for point in 1...600 as ClosedRange<UInt64> {
            let now = 0 + Int64(point) * 5000 as MonotonicTime
            actions = machine.pointsAppended(next: point + 1, now: now)
            #expect(!actions.contains(.sendLiveHint))
            if let id = actions.read {
                _ = machine.batchRead(id, .batch(first: point - 5, count: 6, bytes: 60), now: now)
                // The acknowledgement of a pack comes just before the next one.
                if point > 6 { _ = machine.uploadAcknowledged(machine.link, through: point - 6, now: now) }
            }
        }
        #expect(machine.counters.hints == 0)
        #expect(machine.counters.batches == 100)
    }

    @Test func withoutASettingWithoutAPointAndWithLittleToCatchUpItDoesNot() {
        #expect(!online(points: 100_000, tells: false).1.contains(.sendLiveHint))
        #expect(!online(points: 100_000, isNew: false).1.contains(.sendLiveHint))
        #expect(!online(points: 12).1.contains(.sendLiveHint))
        #expect(online(points: 13).1.contains(.sendLiveHint))
        // The first point after a start with an old backlog.
        var (machine, _) = online(points: 100_000, isNew: false)
        #expect(machine.pointsAppended(next: 100_002, now: 5000).first == .sendLiveHint)
    }

    @Test func itChangesNeitherHeartbeatsNorDeadlines() {
        var (telling, first) = online(points: 100_000)
        var (silent, other) = online(points: 100_000, tells: false)
        for second in 1...200 as ClosedRange<Int64> {
            let now: MonotonicTime = 0 + second * 1000
            #expect(first.filter { $0 != .sendLiveHint } == other)
            first = telling.pointsAppended(next: 100_001 + UInt64(second), now: now)
            other = silent.pointsAppended(next: 100_001 + UInt64(second), now: now)
            for timer in UplinkTimer.allCases {
                first += telling.timerFired(timer, now: now)
                other += silent.timerFired(timer, now: now)
            }
        }
        // At 0 s, and every 30 s until the link is given up at 20 s for want of an acknowledgement, or goes on.
        #expect(telling.counters.hints >= 1)
    }
}
