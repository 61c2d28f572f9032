import Testing
import TrackModel

@testable import AgentLogic

/// Receivers with wrong dates: 1024 weeks are 619,315,200 seconds.
struct SamplerDateTests {
    private let rollover: Int64 = 619_315_200_000

    @Test(arguments: [1, 2, 3, 4]) func someFixesFromTheFutureDoNotSilenceTheSampler(_ wild: Int64) {
        var sampler = Sampler(interval: 2)
        let before = sampler.pointTimes((0..<10).map { $0 * 1000 })
        let during = sampler.pointTimes((0..<wild).map { rollover + $0 * 1000 })
        let after = sampler.pointTimes((10..<20).map { $0 * 1000 })
        #expect(before.count == 5 && during.isEmpty && after.count == 5)
        #expect(sampler.counters.unconfirmedTime == UInt64(wild))
    }

    @Test func aReceiverThatFallsBack1024WeeksIsDroppedAndCounted() {
        var sampler = Sampler(interval: 2)
        _ = sampler.pointTimes((0..<10).map { $0 * 1000 })
        #expect(sampler.pointTimes((0..<1000).map { $0 * 1000 - rollover }).isEmpty)
        #expect(sampler.counters.notLater == 1000)
        #expect(sampler.pointTimes([1_020_000, 1_021_000, 1_022_000, 1_023_000, 1_024_000]).count == 1)
    }

    @Test func aReceiverThatStartsInThePastIsFollowedWhenItFindsThePresent() {
        var sampler = Sampler(interval: 2)
        _ = sampler.pointTimes((0..<10).map { $0 * 1000 - rollover })
        #expect(sampler.pointTimes((0..<10).map { $0 * 1000 }).first == 4000)
        #expect(sampler.counters.unconfirmedTime == 4)
    }

    @Test func aLongTunnelCostsTheConfirmationOnly() {
        var sampler = Sampler(interval: 2)
        _ = sampler.pointTimes([0, 1000, 2000])
        #expect(sampler.pointTimes((0..<6).map { 700_000 + $0 * 1000 }) == [704_000])
        #expect(sampler.pointTimes([706_000, 1_306_000]) == [706_000, 1_306_000])
    }

    @Test func futureFixesThatDoNotCarryEachOtherOnConfirmNothing() {
        var sampler = Sampler(interval: 2)
        _ = sampler.pointTimes([0])
        let wild = (1...50 as ClosedRange<Int64>).map { rollover + $0 * 61_000 }
        #expect(sampler.pointTimes(wild).isEmpty)
        #expect(sampler.pointTimes(wild.reversed()).isEmpty)
        #expect(sampler.pointTimes([2000]) == [2000])
    }

    @Test func aTrustedFixBetweenThemBreaksTheRowOfFutureFixes() {
        var sampler = Sampler(interval: 2)
        _ = sampler.pointTimes([0])
        for second in 1...20 as ClosedRange<Int64> {
            #expect(sampler.pointTimes([rollover + second * 1000]).isEmpty)
            _ = sampler.pointTimes([second * 1000])
        }
        #expect(sampler.counters.unconfirmedTime == 20)
    }

    @Test func aFirstDateThatProvesWrongDoesNotSilenceTheSampler() {
        var sampler = Sampler(interval: 2)
        #expect(sampler.pointTimes([rollover]) == [rollover])
        #expect(sampler.pointTimes((0..<4).map { $0 * 1000 }).isEmpty)
        #expect(sampler.pointTimes([4000, 5000, 6000]) == [4000, 6000])
        #expect(sampler.counters.timeRestarts == 1)
        #expect(sampler.counters.notLater == 4)
    }

    @Test func aDateThatFiveFixesCarriedNeverGoesBack() {
        var sampler = Sampler(interval: 2)
        _ = sampler.pointTimes((0..<5).map { rollover + $0 * 1000 })
        #expect(sampler.pointTimes((0..<100).map { $0 * 1000 }).isEmpty)
        #expect(sampler.counters.timeRestarts == 0)
    }

    /// gpsd reports an epoch to a new process that it had reported to the process before.
    @Test func whatTheProcessBeforeGatheredIsNotGatheredAgain() {
        var sampler = Sampler(interval: 2, floor: fix(at: 600_000).time)
        #expect(sampler.pointTimes([0, 599_000, 600_000, 600_001]).isEmpty)
        #expect(sampler.counters.notLater == 4)
        #expect(sampler.pointTimes([600_002, 601_000, 602_002]) == [600_002, 602_002])
    }

    @Test func aWrongDateOfTheProcessBeforeSilencesNobody() {
        var sampler = Sampler(interval: 2, floor: fix(at: 600_001).time)
        #expect(sampler.pointTimes([0, 2000, 4000, 600_000]) == [0, 2000, 4000, 600_000])
        #expect(sampler.counters.notLater == 0)
    }

    @Test func aSkippedFirstFixFromTheFutureDoesNotHoldTheGrid() {
        var sampler = Sampler(interval: 5, options: LocationOptions(desiredAccuracy: 10))
        #expect(sampler.fix(fix(at: rollover, accuracy: 900)) == .skipped(.inaccurate))
        #expect(sampler.pointTimes([0, 3000, 5000]) == [0, 5000])
    }

    @Test func wildDatesNeverSilenceForLongerThanTheConfirmation() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for _ in 0..<200 {
            var sampler = Sampler(interval: 2)
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
