import Testing

@testable import SystemSimulation

@Suite struct LostAnswerTests {
    /// The store does what it is asked, and says that it did not.
    @Test func commitsAreAnsweredWithErrors() {
        var total = HistorySummary()
        for seed in UInt64(900)..<920 where total.answersLost == 0 {
            let outcome = History(seed: seed, options: HistoryOptions(hours: 0.5, storePowerShare: 30)).run()
            #expect(outcome.violation == nil, "seed \(seed)")
            total.add(outcome.summary)
        }
        #expect(total.answersLost > 0)
    }
}
