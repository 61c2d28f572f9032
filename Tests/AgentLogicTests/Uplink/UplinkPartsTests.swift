import Testing
import TrackTestKit

@testable import AgentLogic

struct BackoffTests {
    @Test func theCeilingDoublesFromOneSecondToFiveMinutes() {
        var backoff = Backoff(range: Backoff.Range(), seed: 1)
        var ceilings: [Int64] = []
        for _ in 0..<12 {
            ceilings.append(backoff.ceiling)
            #expect((0...backoff.ceiling).contains(backoff.next()))
        }
        #expect(
            ceilings == [
                1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000, 300_000,
            ])
    }

    @Test func theJitterIsFull() {
        let seed = TestGenerator.printedSeed()
        var backoff = Backoff(range: Backoff.Range(), seed: seed)
        for _ in 0..<20 { _ = backoff.next() }
        let delays = (0..<2000).map { _ in backoff.next() }
        #expect(delays.contains { $0 < 15_000 }, "seed \(seed)")
        #expect(delays.contains { $0 > 285_000 }, "seed \(seed)")
        let mean = delays.reduce(0, +) / Int64(delays.count)
        #expect((130_000...170_000).contains(mean), "seed \(seed)")
    }

    @Test func onlyASessionOfAMinuteStartsTheRowAgain() {
        var backoff = Backoff(range: Backoff.Range(), seed: 1)
        for _ in 0..<5 { _ = backoff.next() }
        backoff.sessionEnded(after: 59_999)
        #expect(backoff.ceiling == 32_000)
        backoff.sessionEnded(after: 60_000)
        #expect(backoff.ceiling == 1000)
    }

    @Test func theSameSeedGivesTheSameWaits() {
        var first = Backoff(range: Backoff.Range(), seed: 7)
        var second = Backoff(range: Backoff.Range(), seed: 7)
        #expect((0..<20).map { _ in first.next() } == (0..<20).map { _ in second.next() })
    }

    @Test func jitterComesOnTopOfAFloor() {
        var backoff = Backoff(range: Backoff.Range(), seed: 3)
        #expect((5000...6000).contains(backoff.next(atLeast: 5000)))
    }

    /// First outputs of SplitMix64 for seed 1234567, as published with its reference code.
    @Test func theGeneratorIsSplitMix64() {
        var generator = SplitMix64(state: 1_234_567)
        #expect(generator.next() == 6_457_827_717_110_365_317)
        #expect(generator.next() == 3_203_168_211_198_807_973)
    }
}

struct SendWindowTests {
    @Test func itClosesAtSixteenBatches() {
        var window = SendWindow(limits: UplinkLimits())
        for sequence in 1...16 as ClosedRange<UInt64> {
            #expect(window.isOpen && window.admits(bytes: 1))
            window.sent(through: sequence, points: 1, bytes: 1, now: 0)
        }
        #expect(!window.isOpen && !window.admits(bytes: 0))
        #expect(window.acknowledged(through: 3, now: 5) == true)
        #expect(window.batches.count == 13 && window.bytes == 13 && window.points == 13)
    }

    @Test func itClosesAtItsBytesButAnEmptyOneTakesAnything() {
        var window = SendWindow(limits: UplinkLimits(windowBytes: 1000))
        #expect(window.admits(bytes: 5000))
        window.sent(through: 1, points: 1, bytes: 600, now: 0)
        #expect(window.isOpen && window.admits(bytes: 400) && !window.admits(bytes: 401))
        window.sent(through: 2, points: 1, bytes: 400, now: 0)
        #expect(!window.isOpen)
    }

    @Test func aPartOfABatchReleasesNothing() {
        var window = SendWindow(limits: UplinkLimits())
        window.sent(through: 10, points: 10, bytes: 100, now: 7)
        #expect(window.acknowledged(through: 9, now: 8) == false)
        #expect(window.waitingSince == 7)
        window.sent(through: 20, points: 10, bytes: 100, now: 9)
        #expect(window.acknowledged(through: 10, now: 12) == true)
        #expect(window.waitingSince == 12)
        #expect(window.acknowledged(through: .max, now: 13) == true)
        #expect(window.waitingSince == nil && window.isEmpty)
    }

    @Test func aServerMayLowerLimitsAndNotRaiseThem() {
        let standard = UplinkLimits()
        #expect(standard.batchPoints == 1000 && standard.windowBatches == 16 && standard.windowBytes == 262_144)
        #expect(UplinkLimits(batchPoints: .max, windowBatches: 17, windowBytes: 262_145) == standard)
        let lower = UplinkLimits(batchPoints: 10, windowBatches: 1, windowBytes: 1)
        #expect(lower.batchPoints == 10 && lower.windowBatches == 1 && lower.windowBytes == 1)
    }
}

struct PackScheduleTests {
    @Test func aPackIsDueWhenItsPointsAreThere() {
        let schedule = PackSchedule(gather: 5, pack: 30)
        #expect(!schedule.isDue(sent: 0, next: 1))
        #expect(!schedule.isDue(sent: 0, next: 6))
        #expect(schedule.isDue(sent: 0, next: 7))
        #expect(schedule.isDue(sent: 100, next: 107))
        #expect(!schedule.isDue(sent: 107, next: 100))
        #expect(!schedule.isDue(sent: 0, next: 0))
        #expect(schedule.longestWait == 35_000)
    }

    @Test func aFlushMakesEverythingDueUpToItsSequence() {
        var schedule = PackSchedule(gather: 5, pack: 30)
        schedule.flush(through: 3)
        #expect(schedule.isDue(sent: 2, next: 4))
        #expect(!schedule.isDue(sent: 3, next: 5))
    }

    @Test func strangeIntervalsDoNotTrap() {
        #expect(PackSchedule(gather: .max, pack: .min).pointsPerPack == 1)
        #expect(PackSchedule(gather: 0, pack: 0).pointsPerPack == 1)
    }
}

struct TimerSetTests {
    @Test func aTimerThatWasCancelledOrSetAgainDoesNotFire() {
        var timers = TimerSet()
        #expect(timers.fired(.step, now: 0) == .stale)
        #expect(timers.set(.step, after: 100, now: 0) == .setTimer(.step, milliseconds: 100))
        _ = timers.set(.step, after: 200, now: 0)
        #expect(timers.fired(.step, now: 100) == .early(.setTimer(.step, milliseconds: 100)))
        #expect(timers.fired(.step, now: 200) == .due)
        #expect(timers.fired(.step, now: 200) == .stale)
        _ = timers.set(.pack, after: -5, now: 0)
        #expect(timers.cancelAll() == [.cancelTimer(.pack)])
        #expect(timers.cancel(.pack) == [])
    }
}
