import Testing

@testable import SystemSimulation

/// Whole histories of agent, wire, gateway and store in virtual time; `make simulate` runs thousands of them.
@Suite struct SimulationTests {
    /// Seeds of one test case: cases run side by side.
    private static let seedsACase: UInt64 = 12
    /// The same seeds in every run, so that a change of the program is compared with itself.
    private static let fixedSeeds = Array(stride(from: UInt64(1), to: 61, by: 12))
    /// Seeds that no run has tried before. The first is printed; a failure prints the command that repeats its seed.
    private static let freshSeeds: [UInt64] = {
        let first = UInt64.random(in: 1_000_000..<1 << 40)
        print("simulation: fresh seeds \(first) to \(first + 4 * seedsACase - 1)")
        return (0..<4).map { first + $0 * seedsACase }
    }()

    @Test(arguments: fixedSeeds + freshSeeds)
    func everyGuaranteeHolds(from first: UInt64) {
        for seed in first..<first + Self.seedsACase {
            let options = HistoryOptions(hours: 0.2, storePowerShare: 4, pushShare: 50)
            let outcome = History(seed: seed, options: options).run()
            guard let violation = outcome.violation else { continue }
            Issue.record(
                """
                seed \(seed) breaks \(violation)
                \(outcome.trace.suffix(30).joined(separator: "\n"))
                again: saker-simulate --first-seed \(seed) --seeds 1 --hours 0.2 --store-power 4 --pushes 50 --trace
                """)
        }
    }

    /// Fences on the vehicle, at the server, or on both: the same seeds in every run.
    @Test func everyGuaranteeHoldsWithFences() {
        var total = HistorySummary()
        for seed in UInt64(101)..<117 {
            let options = HistoryOptions(hours: 0.3, storePowerShare: 5, pushShare: 50, fenceShare: 100)
            let outcome = History(seed: seed, options: options).run()
            total.add(outcome.summary)
            if let violation = outcome.violation {
                Issue.record(
                    """
                    seed \(seed) breaks \(violation)
                    \(outcome.trace.suffix(30).joined(separator: "\n"))
                    again: saker-simulate --first-seed \(seed) --seeds 1 --hours 0.3 --store-power 5 --pushes 50 --fences 100 --trace
                    """)
            }
        }
        #expect(total.fenced == 16 && total.fenceChanges > 50 && total.pushes > 20)
        #expect(total.ownAlarms > 20 && total.earlyAlarms > 10 && total.serverAlarms > 20 && total.hookRuns > 0)
    }

    /// Options of `--mix` follow from the seed alone, and each of them is met.
    @Test func mixedOptionsAreDrawnFromTheSeed() {
        let base = HistoryOptions(directory: "/tmp")
        let drawn = (UInt64(0)..<4000).map { base.mixed(seed: $0) }
        #expect(drawn.map(\.arguments) == (UInt64(0)..<4000).map { base.mixed(seed: $0).arguments })
        #expect((1800...2200).contains(drawn.count { $0.hours == 4 }))
        #expect(Set(drawn.map(\.hours)) == [0.5, 1, 2, 4] && drawn.allSatisfy { $0.directory == "/tmp" })
        for share in [
            \HistoryOptions.storePowerShare, \.pushShare, \.fenceShare, \.olderShare, \.restoreShare, \.twinShare,
        ] {
            #expect(Set(drawn.map { $0[keyPath: share] }).count >= 3)
        }
    }

    private func play(_ seeds: Range<UInt64>, _ options: HistoryOptions) -> HistorySummary {
        var total = HistorySummary()
        for seed in seeds {
            let outcome = History(seed: seed, options: options).run()
            total.add(outcome.summary)
            if let violation = outcome.violation { Issue.record("seed \(seed) breaks \(violation)") }
        }
        return total
    }

    /// An older agent or an older server, for all of the history or a part of it.
    @Test func everyGuaranteeHoldsBesideOlderPrograms() {
        let total = play(
            1..<13, HistoryOptions(hours: 0.3, pushShare: 30, fenceShare: 100, olderShare: 100, restoreShare: 0))
        #expect(total.olderPrograms == 12 && total.earlyAlarms > 0 && total.alarmsByPush > 10 && total.ownAlarms > 10)
    }

    /// Fences count on floors, and the vehicle is on one, on another, or nobody knows on which.
    @Test func everyGuaranteeHoldsWithFloors() {
        let total = play(
            1..<17, HistoryOptions(hours: 0.3, pushShare: 30, fenceShare: 100, olderShare: 0, floorShare: 100))
        #expect(total.floored == 16 && total.pointsOnFloors > 500 && total.ownAlarms > 10 && total.serverAlarms > 10)
    }

    /// A backup of the server's store is put back.
    @Test func everyGuaranteeHoldsWithARestoredServer() {
        let total = play(
            1..<17, HistoryOptions(hours: 0.4, pushShare: 0, fenceShare: 100, olderShare: 0, restoreShare: 100))
        #expect(total.restores > 3 && total.restoredAway > 50 && total.alarmsReported > 10)
    }

    /// Another box logs in as the same entity, for a part of the history.
    @Test func everyGuaranteeHoldsBesideASecondBox() {
        let total = play(
            1..<13,
            HistoryOptions(
                hours: 0.3, pushShare: 30, fenceShare: 50, olderShare: 0, restoreShare: 0, twinShare: 100))
        #expect(total.twins == 12 && total.twinPoints > 100 && total.serverAlarms > 10)
    }

    @Test func aSeedWithFencesIsOneHistory() {
        let options = HistoryOptions(hours: 0.2, fenceShare: 100)
        let first = History(seed: 101, options: options).run()
        let second = History(seed: 101, options: options).run()
        #expect(first.summary == second.summary)
    }

    @Test(arguments: [UInt64(3), 14])
    func aSeedIsOneHistory(seed: UInt64) {
        let options = HistoryOptions(hours: 0.2, storePowerShare: 30, pushShare: 50)
        let first = History(seed: seed, options: options).run()
        let second = History(seed: seed, options: options).run()
        #expect(first.summary == second.summary)
        #expect(first.summary.traceHash == second.summary.traceHash)
        #expect(first.summary.traceHash != History(seed: seed + 1, options: options).run().summary.traceHash)
    }

    @Test func theWorldIsAsBadAsItSays() {
        var total = HistorySummary()
        for seed in UInt64(500)..<515 {
            total.add(History(seed: seed, options: HistoryOptions(hours: 0.5)).run().summary)
        }
        #expect(total.stored > 1000)
        #expect(total.agentCuts > 0 && total.agentKills > 0 && total.agentStops > 0)
        #expect(total.serverCuts > 0 && total.serverRestarts > 0)
        #expect(total.batchesSent > 0 && total.bytesLost > 0 && total.linksCut > 0)
        #expect(total.lostWithPower > 0 && total.diskFaults > 0 && total.commands > 0)
    }

    /// On real files the server's power cuts take what was not synchronised, and some fall between commit and answer.
    @Test func theServersDiskLosesPower() {
        var total = HistorySummary()
        for seed in UInt64(700)..<712 {
            let outcome = History(seed: seed, options: HistoryOptions(hours: 0.5, storePowerShare: 100)).run()
            #expect(outcome.violation == nil, "seed \(seed)")
            total.add(outcome.summary)
        }
        #expect(total.storeCuts > 0)
    }

    /// On real files, which the reference store has none of.
    @Test func chunksAreMergedWhileBatchesCome() {
        var merged = 0
        for seed in UInt64(524)..<540 where merged == 0 {
            let outcome = History(seed: seed, options: HistoryOptions(hours: 3, storePowerShare: 100)).run()
            #expect(outcome.violation == nil, "seed \(seed)")
            merged = outcome.summary.chunksMerged
        }
        #expect(merged > 0)
    }
}
