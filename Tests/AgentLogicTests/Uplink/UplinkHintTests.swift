import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

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
