import ArgumentParser
import Glibc
import SystemSimulation

/// Runs histories of the whole system in virtual time, one for each seed.
@main struct SakerSimulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker-simulate",
        abstract: "Runs agent, wire, gateway and store through seeded histories of faults, and checks every point.")

    @Option(help: "How many histories.")
    var seeds: UInt64 = 100

    @Option(help: "The seed of the first.")
    var firstSeed: UInt64 = 1

    @Option(help: "Virtual hours of each history before the world heals.")
    var hours = 4.0

    @Option(help: "Of how many of 100 histories the server's machine loses power, and the store with it.")
    var storePower = 5

    @Option(help: "How many of 100 histories have pushes, alarms and hooks.")
    var pushes = HistoryOptions.usualPushShare

    @Option(help: "How many of 100 histories have fences on the vehicle or at the server.")
    var fences = HistoryOptions.usualFenceShare

    @Option(help: "How many of 100 histories with fences have an older agent or server.")
    var older = HistoryOptions.usualOlderShare

    @Option(help: "How many of 100 histories with server fences have a backup of the server that is put back.")
    var restores = HistoryOptions.usualRestoreShare

    @Option(
        help: """
            How many of 100 histories without an older program and without a backup have a second box that logs in as the same \
            entity.
            """)
    var twins = HistoryOptions.usualTwinShare

    @Option(help: "How many of 100 histories with fences and without an older program have floors.")
    var floors = 0

    @Option(help: "Directory for the files of stores, which are removed afterwards.")
    var directory = "/dev/shm"

    @Option(help: "Histories run at the same time; default: as many as the machine has cores.")
    var jobs: Int?

    @Flag(
        help: """
            Draw hours and shares for each history from its seed, half of the histories with four hours; what is given for them \
            here does not count.
            """)
    var mix = false

    @Flag(help: "Go on after a history that breaks a guarantee, and name all of them at the end.")
    var keepGoing = false

    @Flag(help: "Print what happens in each history, one after the other.")
    var trace = false

    func validate() throws {
        guard hours > 0, hours <= 10_000 else { throw ValidationError("--hours must be above 0 and at most 10000") }
        guard jobs.map({ (1...1024).contains($0) }) != false else { throw ValidationError("--jobs is 1 to 1024") }
        guard (0...100).contains(storePower) else { throw ValidationError("--store-power is a share of 100") }
        guard (0...100).contains(pushes) else { throw ValidationError("--pushes is a share of 100") }
        guard (0...100).contains(fences) else { throw ValidationError("--fences is a share of 100") }
        guard (0...100).contains(older) else { throw ValidationError("--older is a share of 100") }
        guard (0...100).contains(restores) else { throw ValidationError("--restores is a share of 100") }
        guard (0...100).contains(twins) else { throw ValidationError("--twins is a share of 100") }
        guard (0...100).contains(floors) else { throw ValidationError("--floors is a share of 100") }
        guard seeds > 0, firstSeed <= UInt64.max - seeds else { throw ValidationError("--seeds must be at least 1") }
    }

    func run() throws {
        try Self.makeHashingRepeatable()
        var options = HistoryOptions(
            hours: hours, storePowerShare: storePower, pushShare: pushes, fenceShare: fences,
            olderShare: older, restoreShare: restores, twinShare: twins, floorShare: floors,
            directory: directory)
        if trace { options.follow = { line in print(line) } }
        let start = Self.seconds()
        let workers = Workers(
            seeds: firstSeed..<firstSeed + seeds, options: options, isMixed: mix, keepsGoing: keepGoing)
        let (total, broken) = workers.run(threads: trace ? 1 : jobs ?? sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        for outcome in broken {
            guard let violation = outcome.violation else { continue }
            if !trace { outcome.trace.forEach { print($0) } }
            print("\nseed \(outcome.seed) breaks \(violation)")
            print("again: saker-simulate --first-seed \(outcome.seed) --seeds 1 \(outcome.options.arguments) --trace")
        }
        if keepGoing, !broken.isEmpty {
            print("\n\(broken.count) of \(seeds) histories broke; \(Self.seconds() - start) s")
        }
        guard broken.isEmpty else { throw ExitCode.failure }
        report(total, seconds: Self.seconds() - start)
    }

    private func report(_ total: HistorySummary, seconds: Double) {
        let days = Double(total.virtualMilliseconds) / 86_400_000
        func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
        print("\(seeds) seeds from \(firstSeed), every guarantee held; \(rounded(Double(seeds) / seconds)) seeds/s")
        print("virtual days \(rounded(days)), \(rounded(seconds / days)) s each")
        print(
            "points gathered \(total.points), parked \(total.parked), stored \(total.stored); not stored: cleared \(total.cleared), bound "
                + "\(total.droppedByBound), memory \(total.droppedInMemory), lost with power \(total.lostWithPower)")
        let gaps = total.gaps.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("gaps of tracks: \(gaps)")
        print(
            "agent: \(total.agentCuts) power cuts, \(total.agentKills) kills, \(total.agentStops) stops, "
                + "\(total.diskFaults) disk faults, \(total.commands) commands, \(total.slowReplies) "
                + "changes answered before they were on the disk, \(total.refusedStates) refused by it")
        print(
            "server: \(total.serverCuts) cuts and kills, \(total.serverRestarts) restarts, "
                + "\(total.chunksMerged) chunks merged, \(total.answersLost) commits answered with an error")
        print(
            "store: \(total.storeCuts) power cuts under SQLite's files, \(total.storeCutsAfterCommit) of them between "
                + "commit and answer")
        print(
            "link: \(total.connections) connections, \(total.linksCut) cut, \(total.bytesLost) bytes lost, "
                + "\(total.batchesSent) batches sent, \(total.batchesTwice) came twice")
        print("weakened: \(total.weakenedHistories) histories ended with a check that does not hold for some points")
        for weakness in Weakness.allCases {
            guard let weakened = total.weakened[weakness] else { continue }
            print("  \(weakened.histories) histories: \(weakened.points) \(weakness.rawValue)")
        }
        print(
            "alarms: \(total.pushes) taken, \(total.pushesDropped) of them dropped by the bound, "
                + "\(total.hookRuns) hooks run")
        print(
            "fences: \(total.fenced) histories, \(total.floored) with floors and \(total.pointsOnFloors) points on them, \(total.fenceChanges) changes; own alarms \(total.ownAlarms), early "
                + "\(total.earlyAlarms), \(total.alarmsBeforeDisk) of them told before the disk had them; by push "
                + "\(total.alarmsByPush); at the server \(total.serverAlarms), \(total.alarmsReported) of them reported"
        )
        print(
            "beside: \(total.olderPrograms) histories with an older program, \(total.restores) restored servers that lacked "
                + "\(total.restoredAway) points, \(total.twins) second boxes with \(total.twinPoints) points")
        print("trace \(String(total.traceHash, radix: 16))")
    }

    /// Swift's hashing differs between processes, and so does the order of dictionaries. The same seed must give the
    /// same history.
    private static func makeHashingRepeatable() throws {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard getenv(name) == nil else { return }
        setenv(name, "1", 1)
        var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        execv("/proc/self/exe", arguments)
        throw ValidationError("this program cannot start itself again: errno \(errno)")
    }

    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
