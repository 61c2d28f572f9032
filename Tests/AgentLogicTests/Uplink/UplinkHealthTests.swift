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
