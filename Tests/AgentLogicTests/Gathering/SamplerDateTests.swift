import Testing
import TrackModel

@testable import AgentLogic

/// Receivers with wrong dates: 1024 weeks are 619,315,200 seconds.
struct SamplerDateTests {
    private let rollover: Int64 = 619_315_200_000

    @Test(arguments: [1, 2, 3, 4]) func someFixesFromTheFutureDoNotSilenceTheSampler(_ wild: Int64) {
        var sampler = GuardedSampler(interval: 2)
        let before = sampler.pointTimes((0..<10).map { $0 * 1000 })
        let during = sampler.pointTimes((0..<wild).map { rollover + $0 * 1000 })
        let after = sampler.pointTimes((10..<20).map { $0 * 1000 })
        #expect(before.count == 5 && during.isEmpty && after.count == 5)
        #expect(sampler.counters.unconfirmedTime == UInt64(wild))
    }

    /// Such a date is wrong for certain, and the monotonic clock knows the right one.
    @Test func aReceiverThatFallsBack1024WeeksIsDatedByTheMonotonicClock() {
        var sampler = GuardedSampler(interval: 2)
        _ = sampler.pointTimes((0..<70).map { $0 * 1000 })
        let made = sampler.pointTimes((70..<1010).map { $0 * 1000 - rollover })
        #expect(made == (35..<505).map { $0 * 2000 })
        #expect(sampler.pointTimes([1_010_000, 1_011_000, 1_012_000]) == [1_010_000, 1_012_000])
    }

    /// A recording is older than this program: some fixes from the future do not outweigh its dates, and a date that is ahead by
    /// 1,024 weeks never does.
    @Test(arguments: [(12, 283_996_800_000), (12, 619_315_200_000), (600, 619_315_200_000)] as [(Int64, Int64)])
    func aRecordingThatCorrectsItsDateIsFollowed(_ seconds: Int64, _ ahead: Int64) {
        let start: Int64 = -150 * 86_400_000
        var sampler = GuardedSampler(interval: 2)
        _ = sampler.pointTimes((0..<seconds).map { start + ahead + $0 * 1000 })
        let right = (seconds..<seconds + 60).map { start + $0 * 1000 }
        let made = sampler.pointTimes(right)
        #expect(made.first == right[4] && made.count == 28)
        #expect(sampler.counters.timeRestarts == 1 && sampler.counters.notLater == 4)
    }

    @Test func aReceiverThatStartsInThePastIsFollowedWhenItFindsThePresent() {
        var sampler = GuardedSampler(interval: 2)
        _ = sampler.pointTimes((0..<10).map { $0 * 1000 - rollover })
        #expect(sampler.pointTimes((0..<10).map { $0 * 1000 }).first == 4000)
        #expect(sampler.counters.unconfirmedTime == 4)
    }

    /// Time that has passed is no jump.
    @Test(arguments: [601, 605, 3600, 7 * 86_400, 400 * 86_400] as [Int64]) func anHonestHoleCostsNoFix(
        _ seconds: Int64
    ) {
        var sampler = GuardedSampler(interval: 2)
        _ = sampler.pointTimes([0, 1000, 2000])
        sampler.pass(seconds * 1000)
        let after = (0..<6).map { (3 + seconds) * 1000 + $0 * 1000 }
        let made = sampler.pointTimes(after)
        #expect(made.first == after[0] && made.count >= 3)
        #expect(sampler.counters.unconfirmedTime == 0 && sampler.counters.notLater == 0)
    }

    /// A fix each 61 s after a hole of ten minutes.
    @Test func aReceiverWithSparseFixesIsGathered() {
        var sampler = GuardedSampler(interval: 5)
        _ = sampler.pointTimes((0..<10).map { $0 * 1000 })
        sampler.pass(605_000 - 61_000)
        let sparse = (0..<20).map { 614_000 + $0 * 61_000 } as [Int64]
        #expect(sampler.pointTimes(sparse, every: 61_000) == sparse)
    }

    /// The computer slept: its monotonic clock did not go on.
    @Test func aHoleThatNoClockSawCostsTheConfirmationOnly() {
        var sampler = GuardedSampler(interval: 2)
        _ = sampler.pointTimes([0, 1000, 2000])
        #expect(sampler.pointTimes((0..<6).map { 700_000 + $0 * 1000 }) == [704_000])
        #expect(sampler.pointTimes([706_000, 1_306_000]) == [706_000, 1_306_000])
    }

    @Test func futureFixesThatDoNotCarryEachOtherOnConfirmNothing() {
        var sampler = GuardedSampler(interval: 2)
        _ = sampler.pointTimes([0])
        let wild = (1...50 as ClosedRange<Int64>).map { rollover + $0 * 61_000 }
        #expect(sampler.pointTimes(wild).isEmpty)
        #expect(sampler.pointTimes(wild.reversed()).isEmpty)
        #expect(sampler.pointTimes([101_000]) == [101_000])
    }

    @Test func aTrustedFixBetweenThemBreaksTheRowOfFutureFixes() {
        var sampler = GuardedSampler(interval: 2)
        _ = sampler.pointTimes([0])
        for second in 1...20 as ClosedRange<Int64> {
            #expect(sampler.pointTimes([rollover + second * 1000]).isEmpty)
            _ = sampler.pointTimes([second * 1000])
        }
        #expect(sampler.counters.unconfirmedTime == 20)
    }

    @Test func aFirstDateThatProvesWrongDoesNotSilenceTheSampler() {
        var sampler = GuardedSampler(interval: 2)
        #expect(sampler.pointTimes([rollover]) == [rollover])
        #expect(sampler.pointTimes((0..<4).map { $0 * 1000 }).isEmpty)
        #expect(sampler.pointTimes([4000, 5000, 6000]) == [4000, 6000])
        #expect(sampler.counters.timeRestarts == 1)
        #expect(sampler.counters.notLater == 4)
    }

    /// However many fixes had the wrong date.
    @Test(arguments: [1, 3, 5, 12, 600] as [Int64], [60_000, 300_000, 86_400_000, 619_315_200_000] as [Int64])
    func aWrongDateIsGivenUp(_ seconds: Int64, _ ahead: Int64) {
        var sampler = GuardedSampler(interval: 2)
        _ = sampler.pointTimes((0..<seconds).map { ahead + $0 * 1000 })
        let right = (seconds..<seconds + 60).map { $0 * 1000 }
        let made = sampler.pointTimes(right)
        #expect(made.first == right[4] && made.count == 28)
        #expect(sampler.counters.timeRestarts == 1 && sampler.counters.notLater == 4)
    }

    /// gpsd reports an epoch to a new process that it had reported to the process before.
    @Test func whatTheProcessBeforeGatheredIsNotGatheredAgain() {
        var sampler = GuardedSampler(interval: 2, newest: 600_000)
        #expect(sampler.pointTimes([0, 599_000, 600_000, 600_001]).isEmpty)
        #expect(sampler.counters.notLater == 4)
        #expect(sampler.pointTimes([600_002, 601_000, 602_002]) == [600_002, 602_002])
    }

    @Test func aWrongDateOfTheProcessBeforeSilencesNobody() {
        var sampler = GuardedSampler(interval: 2, newest: 600_001)
        #expect(sampler.pointTimes([0, 2000, 4000, 6000], every: 2000) == [0, 2000, 4000, 6000])
        #expect(sampler.counters.notLater == 0)
        // A date that is wrong by less must be continued first.
        var other = GuardedSampler(interval: 2, newest: 300_000)
        #expect(other.pointTimes((0..<6).map { $0 * 1000 }) == [4000])
    }

    @Test func aSkippedFirstFixFromTheFutureDoesNotHoldTheGrid() {
        var sampler = Sampler(interval: 5, options: LocationOptions(desiredAccuracy: 10))
        #expect(sampler.fix(fix(at: rollover, accuracy: 900)) == .skipped(.inaccurate))
        sampler.beginAnew()
        #expect(sampler.pointTimes([0, 3000, 5000]) == [0, 5000])
    }

    @Test func wildDatesNeverSilenceForLongerThanTheConfirmation() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for _ in 0..<200 {
            var sampler = GuardedSampler(interval: 2)
            var silent = 0
            for second in 0..<300 as Range<Int64> {
                let isWild = second > 5 && Int.random(in: 0..<4, using: &generator) == 0
                let shift = Int64.random(in: 700_000...rollover, using: &generator)
                let sign: Int64 = Bool.random(using: &generator) ? 1 : -1
                let made = sampler.pointTimes([second * 1000 + (isWild ? sign * shift : 0)])
                silent = made.isEmpty ? silent + 1 : 0
                #expect(silent < 20, "seed \(seed)")
            }
        }
    }
}
