import Logging
import Systemd
import Testing
import TrackModel
import TrackTestKit

@testable import Ingest

@Suite struct ClockRuleTests {
    private let made = Timestamp(milliseconds: 1_000_000_000)

    @Test func aClockBeforeTheProgramIsWrong() {
        let rule = ClockRule(made: made)
        #expect(rule.problem(at: Timestamp(milliseconds: 0))?.contains("before this program was made") == true)
        #expect(rule.problem(at: made.adding(milliseconds: -1)) != nil)
        #expect(rule.problem(at: made) == nil)
        #expect(rule.problem(at: Timestamp(milliseconds: .max)) == nil)
    }

    @Test func aClockFarBehindWhatIsStoredIsWrong() {
        let stored = made.adding(milliseconds: 10 * ClockRule.tolerance)
        var rule = ClockRule(newest: stored, made: made)
        let limit = stored.adding(milliseconds: -ClockRule.tolerance)
        #expect(rule.problem(at: limit) == nil)
        let problem = rule.problem(at: limit.adding(milliseconds: -1))
        #expect(problem?.contains("clock_may_go_back") == true)
        // What is stored later moves the limit, what was received earlier does not.
        rule.stored(at: made)
        #expect(rule.problem(at: limit) == nil)
        rule.stored(at: stored.adding(milliseconds: 1))
        #expect(rule.problem(at: limit) != nil)
    }

    @Test func nothingStoredSaysNothing() {
        var rule = ClockRule(made: Timestamp(milliseconds: .min))
        #expect(rule.problem(at: Timestamp(milliseconds: .min)) == nil)
        rule.stored(at: Timestamp(milliseconds: .min))
        #expect(rule.problem(at: Timestamp(milliseconds: .min)) == nil)
    }

    @Test func theJournalHearsOfEachChangeOnce() {
        let log = EventRecorder()
        let clock = ClockGuard(ClockRule(made: made), logger: Logger(label: "test") { _ in log })
        let early = Timestamp(milliseconds: 5)
        #expect(clock.problem(at: made) == nil)
        for _ in 1...3 { #expect(clock.problem(at: early) != nil) }
        for _ in 1...3 { #expect(clock.problem(at: made) == nil) }
        #expect(log.ids == [MessageID.clockWrong, .clockRight].map(\.description))
    }
}
