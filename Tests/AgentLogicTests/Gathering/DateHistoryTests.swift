import Testing
import TrackModel

@testable import AgentLogic

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
