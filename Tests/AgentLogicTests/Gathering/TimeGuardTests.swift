import Testing
import TrackModel

@testable import AgentLogic

/// Dates judged with the system clock. Without one: ``SamplerDateTests``.
struct TimeGuardTests {
    private let year: Int64 = 365 * 86_400_000

    private typealias Arrival = (time: Int64?, reading: ClockReading)

    private func arrivals(_ seconds: Range<Int64>, _ make: (Int64) -> Arrival) -> [Arrival] { seconds.map(make) }

    /// The dates that fixes get, milliseconds after the start; nil: none.
    private func dates(
        _ guarded: inout TimeGuard, _ fixes: [Arrival]
    ) -> [Int64?] {
        fixes.map { time, reading in
            let verdict = guarded.judge(
                Epoch(fix: fix(at: time ?? 0), hasTime: time != nil, arrival: reading))
            guard case .dated(let fix, _) = verdict else { return nil }
            #expect(fix.isClockTime == (time.map { $0 + epochStart != fix.time.milliseconds } ?? true))
            return fix.time.milliseconds - epochStart
        }
    }

    @Test(arguments: [86_400_000, 619_315_200_000, 700_000, -86_400_000, -619_315_200_000] as [Int64])
    func aKeptClockDatesFixesWithAWrongDateFromTheFirst(_ wrong: Int64) {
        var guarded = TimeGuard()
        let during =
            arrivals(0..<12) { (time: $0 * 1000 + wrong, ClockReading(at: $0 * 1000, isKept: true)) }
        #expect(dates(&guarded, during) == (0..<12).map { $0 * 1000 })
        let after =
            arrivals(12..<20) { (time: $0 * 1000, ClockReading(at: $0 * 1000, isKept: true)) }
        #expect(dates(&guarded, after) == (12..<20).map { $0 * 1000 })
        #expect(guarded.takeDisproved().isEmpty)
    }

    @Test func aKeptClockDatesFixesWithoutATimeAndAnUnkeptOneDoesNot() {
        var guarded = TimeGuard()
        #expect(dates(&guarded, [(nil, ClockReading(at: 0)), (nil, ClockReading(at: 1000))]) == [nil, nil])
        #expect(dates(&guarded, [(nil, ClockReading(at: 2000, isKept: true))]) == [2000])
        // Nobody keeps it any more: it goes on all the same, until it is set.
        #expect(dates(&guarded, [(nil, ClockReading(at: 9_000_000))]) == [9_000_000])
        #expect(dates(&guarded, [(nil, ClockReading(at: 9_001_000, system: 9_100_000))]) == [nil])
    }

    /// The clock is kept from the second minute on.
    @Test func aClockThatIsSetDisprovesWhatWasBelieved() {
        var guarded = TimeGuard()
        let before = arrivals(0..<100) { (time: $0 * 1000 + year, ClockReading(at: $0 * 1000)) }
        #expect(dates(&guarded, before) == before.map(\.time))
        #expect(guarded.takeDisproved().isEmpty)
        let reading = ClockReading(at: 100_000, isKept: true)
        let verdict = guarded.judge(Epoch(fix: fix(at: 100_000 + year), arrival: reading))
        guard case .dated(let fix, beginsAnew: true) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(fix.time == reading.system && fix.isClockTime)
        let range = AgentLogicTests.fix(at: year).time...AgentLogicTests.fix(at: 99_000 + year).time
        #expect(guarded.takeDisproved() == [range])
        #expect(guarded.takeDisproved().isEmpty)
    }

    /// A fix that was not believed before the first date is no burst: two fixes with another date do not replace this date.
    @Test func aFixThatWasNotBelievedDoesNotMakeTheFirstDateBursty() {
        var guarded = TimeGuard(newest: fix(at: 0).time)
        #expect(dates(&guarded, [(-140_000, ClockReading(at: 0))]) == [nil])
        let right = arrivals(1..<12) { (time: $0 * 1000, ClockReading(at: $0 * 1000)) }
        #expect(dates(&guarded, right) == right.map(\.time))
        // Four seconds of steady fixes confirm a date that goes back, fewer do not.
        let back = arrivals(12..<17) { (time: $0 * 1000 - 253_000, ClockReading(at: $0 * 1000)) }
        #expect(dates(&guarded, back) == [nil, nil, nil, nil, -237_000])
    }

    /// The clock is no receiver that goes on along its line.
    @Test func aClockThatJumpedDoesNotHoldTheReceiverUp() {
        var guarded = TimeGuard()
        func judge(_ second: Int64, system: Int64, isKept: Bool) -> TimeGuard.Verdict {
            let reading = ClockReading(at: second * 1000, system: system, isKept: isKept)
            return guarded.judge(
                Epoch(fix: fix(at: second * 1000 - 3_600_000), device: "/dev/ttyS0", arrival: reading))
        }
        for second in 0..<60 as Range<Int64> {
            guard case .dated(let fix, _) = judge(second, system: second * 1000, isKept: true), fix.isClockTime else {
                Issue.record("\(second) s")
                return
            }
        }
        let after = (60..<70).map { judge($0, system: $0 * 1000 - 86_400_000, isKept: false) }
        // Three fixes over four seconds confirm a date.
        #expect(after.prefix(4).allSatisfy { $0 == .notLater }, "\(after)")
        #expect(after.dropFirst(4).allSatisfy { if case .dated = $0 { true } else { false } }, "\(after)")
    }

    /// A receiver that went on as before and agreed with the clock knows better than a clock that jumps.
    @Test(arguments: [-86_400_000, 3_600_000, 619_315_200_000] as [Int64]) func aKeptClockThatJumpsChangesNothing(
        _ step: Int64
    ) {
        var guarded = TimeGuard()
        let fixes =
            arrivals(0..<60) { second in
                let system = second * 1000 + (second >= 30 ? step : 0)
                return (second * 1000, ClockReading(at: second * 1000, system: system, isKept: true))
            }
        #expect(dates(&guarded, fixes) == fixes.map(\.time))
    }

    /// The computer slept, and its system clock knows how long.
    @Test func aKeptClockConfirmsAHoleThatTheMonotonicClockDidNotSee() {
        var guarded = TimeGuard()
        let fixes =
            arrivals(0..<20) { second in
                let slept: Int64 = second >= 10 ? 36_000_000 : 0
                return (
                    second * 1000 + slept, ClockReading(at: second * 1000, system: second * 1000 + slept, isKept: true)
                )
            }
        #expect(dates(&guarded, fixes) == fixes.map(\.time))
    }

    /// The newest point in the ring is dated ahead of the clock.
    @Test func aKeptClockDisprovesThePointsOfTheProcessBefore() {
        var guarded = TimeGuard(newest: fix(at: year).time)
        #expect(dates(&guarded, [(0, ClockReading(at: 100, isKept: true))]) == [0])
        #expect(guarded.takeDisproved() == [fix(at: 1).time...fix(at: year).time])
    }

    // MARK: What is dropped

    /// Nobody keeps a clock: the date that was believed for longer is right.
    @Test func theDateThatIsBelievedForLongerDisprovesTheOther() {
        func disproved(wrong: Int64, right: Int64) -> [ClosedRange<Timestamp>] {
            var guarded = TimeGuard()
            let all =
                arrivals(0..<wrong + right) { second in
                    (second * 1000 + (second < wrong ? year : 0), ClockReading(at: second * 1000))
                }
            _ = dates(&guarded, all)
            return guarded.takeDisproved()
        }
        let range = fix(at: year).time...fix(at: 11_000 + year).time
        #expect(disproved(wrong: 12, right: 10).isEmpty)
        #expect(disproved(wrong: 12, right: 30) == [range])
    }

    /// Half an hour of right dates, some seconds of yesterday, and right ones again.
    @Test func someFixesOfYesterdayCostNoPointOfToday() {
        var guarded = TimeGuard()
        let all =
            arrivals(0..<1900) { second in
                let isWrong = (1800..<1820).contains(second)
                return (second * 1000 - (isWrong ? 86_400_000 : 0), ClockReading(at: second * 1000))
            }
        _ = dates(&guarded, all)
        #expect(guarded.takeDisproved().isEmpty)
    }

    // MARK: What people are told

    @Test func whatIsWrongIsToldAsSoonAsItLasts() {
        var (guarded, watch) = (TimeGuard(), ReceiverDateMonitor())
        func hear(_ time: Int64?, _ reading: ClockReading) -> Bool {
            let epoch = Epoch(fix: fix(at: time ?? 0), hasTime: time != nil, arrival: reading)
            return watch.judged(epoch, guarded.judge(epoch))
        }
        for second in 0..<5 as Range<Int64> { #expect(!hear(nil, ClockReading(at: second * 1000))) }
        #expect(hear(nil, ClockReading(at: 5000)))
        #expect(watch.trouble == .missing(isClockUsed: false))
        // What becomes of it is told at once.
        #expect(hear(nil, ClockReading(at: 6000, isKept: true)))
        #expect(watch.trouble == .missing(isClockUsed: true))
        #expect(hear(7000, ClockReading(at: 7000)))
        #expect(watch.trouble == nil)
        for second in 8..<20 as Range<Int64> {
            _ = hear(second * 1000 + year, ClockReading(at: second * 1000, isKept: true))
        }
        #expect(
            watch.trouble
                == .disagreement(
                    receiver: fix(at: 19_000 + year).time, clock: fix(at: 19_000).time, isClockUsed: true))
        #expect(
            watch.trouble.map { "\($0)" }
                == "the receiver's date is 2027-11-21; the computer's clock says 2026-11-21: points have the clock's time"
        )
        #expect(watch.receiversGone() && watch.trouble == nil)
        // A clock that nobody keeps may be wrong by hours.
        for second in 20..<30 as Range<Int64> {
            _ = hear(second * 1000, ClockReading(at: second * 1000, system: 20_000_000))
        }
        #expect(watch.trouble == nil)
    }
}

/// Whole histories of receivers with wrong dates, judged by somebody who knows the true time.
struct DateHistoryTests {
    /// One fix of a made-up history, milliseconds after the start of it.
    private struct Moment {
        /// When the receiver was there.
        let truth: Int64
        let arrival: Int64
        /// By how much the receiver's date is wrong.
        let error: Int64
        /// Fixes in a row with this error, this one included, and since when.
        var run: Int
        var since: Int64
    }

    private static let errors: [Int64] = [
        0, 0, 0, 86_400_000, -86_400_000, 619_315_200_000, -619_315_200_000, 283_996_800_000, 300_000, 45_000,
        -7_200_000,
    ]

    /// Stretches of right and wrong dates, at any rate, with holes between them.
    private func history(_ generator: inout TestGenerator, honest: Bool) -> [Moment] {
        var (moments, time) = ([Moment](), Int64(0))
        for _ in 0..<Int.random(in: 2...8, using: &generator) {
            let error = honest ? 0 : Self.errors.randomElement(using: &generator) ?? 0
            let step = [100, 1000, 1000, 5000, 61_000].randomElement(using: &generator) ?? 1000 as Int64
            if Bool.random(using: &generator) { time += Int64.random(in: 0...3_000_000, using: &generator) }
            var since: Int64?
            for run in 1...Int.random(in: 1...80, using: &generator) {
                time += step
                let arrival = time + Int64.random(in: 50...700, using: &generator)
                let first = since ?? arrival
                since = first
                moments.append(Moment(truth: time, arrival: arrival, error: error, run: run, since: first))
            }
        }
        return moments
    }

    private func reading(_ moment: Moment, isKept: Bool) -> ClockReading {
        ClockReading(at: moment.arrival, isKept: isKept)
    }

    private func judge(_ moment: Moment, _ guarded: inout TimeGuard, isKept: Bool) -> Fix? {
        let epoch = Epoch(fix: fix(at: moment.truth + moment.error), arrival: reading(moment, isKept: isKept))
        guard case .dated(let fix, _) = guarded.judge(epoch) else { return nil }
        return fix
    }

    /// Nobody keeps a clock: no history silences a receiver that goes on for longer than the confirmation.
    @Test func noHistorySilencesAReceiver() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for round in 0..<300 {
            var guarded = TimeGuard()
            for moment in history(&generator, honest: false) {
                let found = judge(moment, &guarded, isKept: false)
                guard moment.run > 3, moment.arrival - moment.since > 5000 else { continue }
                #expect(found != nil, "seed \(seed), round \(round), \(moment)")
            }
        }
    }

    /// A clock is kept: no fix gets a time that is wrong by more than ten minutes, and each that is wrong by more gets one.
    @Test func aKeptClockLeavesNoWrongDate() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for round in 0..<300 {
            var guarded = TimeGuard()
            for moment in history(&generator, honest: false) {
                let found = judge(moment, &guarded, isKept: true)
                if abs(moment.error) > 601_000 { #expect(found != nil, "seed \(seed), round \(round), \(moment)") }
                guard let found else { continue }
                let wrong = found.time.milliseconds - epochStart - moment.truth
                #expect(abs(wrong) <= 601_000, "seed \(seed), round \(round), \(moment)")
            }
            for range in guarded.takeDisproved() {
                #expect(range.upperBound > fix(at: 0).time, "seed \(seed), round \(round)")
            }
        }
    }

    @Test(arguments: [false, true]) func anHonestHistoryLosesNoFix(isKept: Bool) {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for round in 0..<300 {
            var guarded = TimeGuard()
            for moment in history(&generator, honest: true) {
                let found = judge(moment, &guarded, isKept: isKept)
                #expect(
                    found?.time.milliseconds == epochStart + moment.truth && found?.isClockTime == false,
                    "seed \(seed), round \(round), \(moment)")
            }
            #expect(guarded.takeDisproved().isEmpty)
        }
    }

    /// Nobody keeps a clock, and the right date came for longer than all wrong ones: what is dropped has a wrong date, and what
    /// has a date ahead of the present, or before this program was made, is dropped.
    @Test func whatIsDroppedIsWrong() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for round in 0..<300 {
            var guarded = TimeGuard()
            var time: Int64 = 0
            var wrong: [Int64] = []
            var right: [Int64] = []
            var dropped: [ClosedRange<Timestamp>] = []
            func play(_ seconds: Int64, error: Int64) {
                for _ in 0..<seconds {
                    time += 1000
                    let moment = Moment(truth: time, arrival: time + 100, error: error, run: 1, since: 0)
                    guard let found = judge(moment, &guarded, isKept: false) else { continue }
                    let date = found.time.milliseconds - epochStart
                    if abs(date - time) > 1000 { wrong.append(date) } else { right.append(date) }
                    dropped += guarded.takeDisproved()
                }
            }
            if Bool.random(using: &generator) { play(Int64.random(in: 200...400, using: &generator), error: 0) }
            // The last is a receiver whose counter of weeks has begun anew: its date is before this program was made.
            let errors: [Int64] = [86_400_000, 619_315_200_000, 3_600_000, -619_315_200_000]
            play(Int64.random(in: 1...100, using: &generator), error: errors.randomElement(using: &generator) ?? 0)
            play(300, error: 0)
            func isDropped(_ date: Int64) -> Bool { dropped.contains { $0.contains(fix(at: date).time) } }
            #expect(wrong.allSatisfy(isDropped), "seed \(seed), round \(round)")
            #expect(!right.contains(where: isDropped), "seed \(seed), round \(round)")
        }
    }
}
