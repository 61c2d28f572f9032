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
        var (guarded, watch) = (TimeGuard(), DateWatch())
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
