import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

/// The machine on a virtual clock, with a cache, a server and a network that fail at random.
struct UplinkSimulationTests {
    @Test func everyPointReachesTheServerOnceInOrderHoweverTheNetworkFails() {
        let seed = TestGenerator.printedSeed()
        for run in 0..<150 as Range<UInt64> {
            var world = UplinkWorld(seed: seed &+ run, isHostile: true)
            world.run(until: 900_000)
            world.settle()
            #expect(world.problems == [], "seed \(seed), run \(run)")
            #expect(world.stored == world.appended, "seed \(seed), run \(run)")
        }
    }

    @Test func aGoodNetworkNeedsOneBatchAPackAndNoTimer() {
        var world = UplinkWorld(seed: 4, isHostile: false)
        world.run(until: 3_600_000)
        #expect(world.problems == [])
        // 720 points in an hour, six a pack.
        #expect((119...121).contains(world.machine.counters.batches))
        #expect(world.timersFired == 0)
        #expect(world.machine.counters.sessions == 1)
    }

    @Test func anyOrderOfAnyEventsKeepsTheMachineSoundAndItEndsWhenTold() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for _ in 0..<400 {
            var machine = UplinkMachine(gatherInterval: 5, packInterval: 10, seed: generator.next())
            var watch = UplinkRecorder(machine)
            var now: MonotonicTime = 0
            for _ in 0..<300 {
                now += Int64.random(in: 0...4000, using: &generator)
                let (event, endsLink) = Self.randomEvent(&generator)
                if endsLink { watch.ended() }
                watch.saw(event(&machine, now), machine)
            }
            let through = UInt64.random(in: 0...2000, using: &generator)
            var actions = machine.stop(drainThrough: through, deadline: now + 5000, now: now)
            watch.saw(actions, machine)
            now += 5000
            if !actions.contains(where: { $0.isFinish }) {
                actions = machine.timerFired(.drain, now: now)
                watch.saw(actions, machine)
            }
            #expect(actions.contains { $0.isFinish }, "seed \(seed)")
            #expect(machine.state == .closed, "seed \(seed)")
            #expect(watch.problems == [], "seed \(seed)")
        }
    }

    private static func randomEvent(
        _ generator: inout TestGenerator
    ) -> ((inout UplinkMachine, MonotonicTime) -> [UplinkAction], endsLink: Bool) {
        let number = UInt64.random(in: 0...1200, using: &generator)
        let isStale = Int.random(in: 0..<6, using: &generator) == 0
        func link(_ machine: UplinkMachine) -> LinkID {
            isStale ? LinkID(rawValue: machine.link.rawValue &- 1) : machine.link
        }
        switch Int.random(in: 0..<22, using: &generator) {
        case 0: return ({ $0.start(first: number, next: number + 10, now: $1) }, false)
        case 1: return ({ $0.transportConnected(link($0), now: $1) }, false)
        case 2, 3: return ({ $0.connected(link($0), now: $1) }, false)
        case 4: return ({ $0.connectFailed(link($0), number.isMultiple(of: 2) ? lost : keyRefused, now: $1) }, !isStale)
        case 5, 6, 7:
            let limits = UplinkLimits(batchPoints: UInt32(number), windowBatches: UInt32(number % 20), windowBytes: 900)
            return (
                {
                    $0.welcome(
                        link($0), storedThrough: number, heartbeatSeconds: UInt32(number),
                        healthSeconds: UInt32(number % 90), limits: limits, now: $1)
                },
                false
            )
        case 8: return ({ $0.refused(link($0), keyRefused, retryAfterSeconds: UInt32(number), now: $1) }, false)
        case 9: return ({ $0.linkClosed(link($0), lost, now: $1) }, !isStale)
        case 10:
            return (
                { $0.closing(link($0), LinkTrouble(.server, "x"), retryAfterSeconds: UInt32(number), now: $1) }, false
            )
        case 11: return ({ $0.frameReceived(link($0), now: $1) }, false)
        case 12, 13: return ({ $0.uploadAcknowledged(link($0), through: number, now: $1) }, false)
        case 14:
            let isNew = number.isMultiple(of: 5)
            return (
                { $0.cacheConfirmed(link($0), first: number, next: number + 300, isNewStream: isNew, now: $1) }, false
            )
        case 15: return ({ $0.pointsAppended(next: number, now: $1) }, false)
        case 16, 17:
            let bytes = Int(number)
            return (
                { machine, now in
                    guard let id = machine.phaseRead else { return [] }
                    return machine.batchRead(id, .batch(first: number, count: 10, bytes: bytes), now: now)
                }, false
            )
        case 18:
            return (
                { machine, now in
                    guard let id = machine.phaseRead else { return [] }
                    return machine.batchRead(id, number.isMultiple(of: 2) ? .nothing : .unreadable, now: now)
                }, false
            )
        case 19:
            return ({ number.isMultiple(of: 3) ? $0.networkChanged(now: $1) : $0.reconnectRequested(now: $1) }, false)
        case 20 where number.isMultiple(of: 2): return ({ $0.healthChanged(now: $1) }, false)
        case 20: return ({ $0.configurationChanged(now: $1) }, false)
        default:
            let timer = UplinkTimer.allCases[Int(number) % UplinkTimer.allCases.count]
            return ({ $0.timerFired(timer, now: $1) }, false)
        }
    }
}

extension UplinkAction {
    var isFinish: Bool {
        if case .finished = self { return true }
        return false
    }
}
