import ProgramTestKit
import Testing
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadMatching

@Suite struct ClientTests {
    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }

    // MARK: Circuit breaker

    @Test func fiveFailuresInARowOpenTheBreaker() {
        var breaker = CircuitBreaker()
        for _ in 0..<4 { breaker.failed(at: at(0)) }
        breaker.succeeded()
        for _ in 0..<4 { breaker.failed(at: at(0)) }
        #expect(breaker.permission(at: at(0)) == .call && !breaker.isOpen)
        breaker.failed(at: at(0))
        #expect(breaker.permission(at: at(0)) == .fallBack && breaker.isOpen)
        #expect(breaker.permission(at: at(4999)) == .fallBack)
        #expect(breaker.permission(at: at(5000)) == .probe)
        // One at a time.
        #expect(breaker.permission(at: at(5001)) == .fallBack)
    }

    @Test func waitsDoubleUpToAMinute() {
        var breaker = CircuitBreaker()
        for _ in 0..<5 { breaker.failed(at: at(0)) }
        var now: Int64 = 0
        for wait: Int64 in [5000, 10_000, 20_000, 40_000, 60_000, 60_000] {
            #expect(breaker.permission(at: at(now + wait - 1)) == .fallBack)
            #expect(breaker.permission(at: at(now + wait)) == .probe)
            now += wait
            breaker.probeFailed(at: at(now))
        }
        #expect(breaker.permission(at: at(now + 60_000)) == .probe)
        breaker.probeSucceeded()
        #expect(breaker.permission(at: at(now)) == .call)
        for _ in 0..<5 { breaker.failed(at: at(now)) }
        #expect(breaker.permission(at: at(now + 5000)) == .probe)
    }

    @Test func callsFromBeforeDoNotDisturbAnOpenBreaker() {
        var breaker = CircuitBreaker()
        for _ in 0..<5 { breaker.failed(at: at(0)) }
        let open = breaker
        breaker.succeeded()
        breaker.failed(at: at(4000))
        #expect(breaker == open)
        #expect(breaker.permission(at: at(5000)) == .probe)
        breaker.failed(at: at(5000))
        breaker.succeeded()
        #expect(breaker.permission(at: at(9000)) == .fallBack)
    }

    // MARK: Queue

    @Test func fourCallAndTheRestWaitsInOrder() {
        var queue = CallQueue<Int>()
        #expect((0..<4).map { queue.admit($0) } == [.start, .start, .start, .start])
        #expect((4..<68).allSatisfy { queue.admit($0) == .wait })
        #expect(queue.admit(68) == .busy)
        #expect(queue.leave(2) == 4)
        #expect(queue.admit(69) == .wait)
        // One that waits no longer lets nobody start.
        #expect(queue.leave(5) == nil)
        #expect(queue.leave(0) == 6)
        #expect(queue.leave(99) == nil)
    }

    @Test func theQueueEmpties() {
        for seed in Dice.seeds(50) {
            var random = Dice(seed: seed)
            var queue = CallQueue<Int>(concurrency: 3, waiting: 5)
            var (underWay, waiting, next): (Set<Int>, [Int], Int) = ([], [], 0)
            for _ in 0..<500 {
                if Bool.random(using: &random) {
                    switch queue.admit(next) {
                    case .start: underWay.insert(next)
                    case .wait: waiting.append(next)
                    case .busy: #expect(waiting.count == 5, "seed \(seed)")
                    }
                    next += 1
                } else if let one = underWay.sorted().first {
                    underWay.remove(one)
                    let started = queue.leave(one)
                    #expect(started == waiting.first, "seed \(seed)")
                    if let started {
                        waiting.removeFirst()
                        underWay.insert(started)
                    }
                }
                #expect(underWay.count <= 3 && (waiting.isEmpty || underWay.count == 3), "seed \(seed)")
            }
        }
    }

    @Test func deadlinesEndWithTheRequest() {
        let deadlines = RoadDeadlines(start: at(1000))
        #expect(deadlines.deadline(at: at(1000)) == at(3000))
        #expect(deadlines.deadline(at: at(2000)) == at(3500))
        #expect(deadlines.deadline(at: at(3499)) == at(3500))
        #expect(deadlines.deadline(at: at(3500)) == nil)
    }

    // MARK: Memory

    @Test func matchesAreRememberedWithinTheirBytes() throws {
        let samples = (0..<50).map { sample($0, Double($0) * 5, along: 30 + Double($0) * 50) }
        let plan = TracePlan(samples)
        let match = try #require(MadeEngine().matches(plan)[0])
        func key(_ owner: Int, tiles: Int64 = 1) -> MatchKey {
            MatchKey(owner: "\(owner)", samples, .car, tiles: tiles)
        }
        var memory = RoadAnswerCache<MatchKey, ChunkMatch>(bytes: 3 * match.bytes)
        for owner in 0..<3 { memory.remember(match, key(owner), bytes: match.bytes) }
        #expect(memory.value(key(0)) == match && memory.value(key(0, tiles: 2)) == nil)
        memory.remember(match, key(3), bytes: match.bytes)
        // The one that was used longest ago goes.
        #expect((0..<4).map { memory.value(key($0)) != nil } == [true, false, true, true])
        memory.remember(match, key(3), bytes: match.bytes)
        #expect(memory.bytes == 3 * match.bytes)
        var small = RoadAnswerCache<MatchKey, ChunkMatch>(bytes: match.bytes - 1)
        small.remember(match, key(0), bytes: match.bytes)
        #expect(small.bytes == 0 && small.value(key(0)) == nil)
    }

    @Test func aKeyNamesItsPlaces() {
        let samples = (0..<5).map { sample($0, Double($0), along: Double($0) * 10) }
        let other = samples.map { $0.index == 2 ? sample(2, 2, along: 20.5) : $0 }
        func key(_ samples: [TrackSample], _ costing: RoadCosting = .car) -> MatchKey {
            MatchKey(owner: "a", samples, costing, tiles: 1)
        }
        #expect(key(samples) == key(samples) && key(samples) != key(other))
        #expect(key(samples) != key(samples, .bicycle) && key(samples) != key(Array(samples.dropLast())))
    }
}
