import Foundation

/// Carries out one plan on the real programs, and judges what the server has in the end.
package final class CrashRound {
    package struct Outcome: Sendable {
        package internal(set) var input = ""
        package internal(set) var kills = 0
        package internal(set) var cuts = 0
        /// Points that the agent took, points that the server has, and the differences.
        package internal(set) var taken = 0
        package internal(set) var stored = 0
        package internal(set) var lost: [Int] = []
        package internal(set) var doubled = 0
        package internal(set) var problems: [String] = []
        /// The directory, which is kept when there are problems.
        package internal(set) var kept: String?
        package var isGood: Bool { problems.isEmpty }
    }

    private let plan: CrashPlan
    private let recording: RecordedInput
    private let fleet: Fleet
    private let link: any VehicleLink
    private let source: ReceiverSource
    private var disk: SmallDisk?
    private var agent: Program
    private var server: Program
    private var gpsd: Program
    private var watch: GatheredPointCollector
    private var witnesses: [GPSDObserver] = []
    /// Seconds since 1970 of every point in the agent's events or in its ring.
    private var taken: Set<Int> = []
    private var outcome = Outcome()
    private let isShort: Bool

    /// Runs a whole round. Throws nothing: problems are in the outcome, and then the directory is kept.
    package static func run(
        _ plan: CrashPlan, _ inputs: [RecordedInput], over link: any VehicleLink, isShort: Bool, canFill: Bool
    ) -> Outcome {
        do {
            let round = try CrashRound(plan, inputs[plan.input], over: link, isShort: isShort, canFill: canFill)
            return round.run()
        } catch {
            var outcome = Outcome()
            outcome.problems = ["the programs could not be started: \(error)"]
            return outcome
        }
    }

    private init(
        _ plan: CrashPlan, _ recording: RecordedInput, over link: any VehicleLink, isShort: Bool, canFill: Bool
    ) throws {
        self.plan = plan
        self.recording = recording
        self.link = link
        self.isShort = isShort
        outcome.input = recording.name
        fleet = try Fleet(gather: plan.gather, pack: plan.pack, link: link)
        disk = canFill ? try SmallDisk(over: fleet.cache, megabytes: 8) : nil
        // A recording lasts about ten seconds of test. A long one runs at a hundred times its speed.
        let pause = min(max(10.0 / Double(recording.pieces.count), 0.01), 0.25)
        source = try ReceiverSource(pieces: recording.pieces, pause: pause, in: link.agentNetwork)
        gpsd = try fleet.startGPSD(source: source.address)
        witnesses.append(try GPSDObserver(port: fleet.gpsdPort, in: link.agentNetwork))
        server = try fleet.startServer()
        agent = try fleet.startAgent()
        watch = try GatheredPointCollector(fleet)
    }

    private func run() -> Outcome {
        source.resume()
        var done: [String] = []
        do {
            for step in plan.steps {
                done.append("\(step)")
                try perform(step)
            }
            done.append("the end")
            try arrive()
            try judge()
        } catch {
            outcome.problems.append("at \"\(done.last ?? "")\": \(error)")
        }
        for program in [agent, server, gpsd] {
            program.signal(SIGCONT)
            program.end(SIGKILL)
        }
        watch.end()
        source.end()
        if !outcome.isGood { keep() }
        // The disk must be unmounted before the directory around it is removed.
        disk = nil
        return outcome
    }

    /// Keeps what a person needs to find the reason.
    private func keep() {
        fleet.directory.keep()
        let path = fleet.directory.path
        outcome.kept = path
        for (name, program) in [("agent", agent), ("server", server), ("gpsd", gpsd)] {
            try? program.printed.write(toFile: "\(path)/\(name).printed", atomically: true, encoding: .utf8)
        }
        // The small disk disappears with the round.
        if disk != nil { try? FileManager.default.copyItem(atPath: fleet.cache, toPath: path + "/cache.copy") }
    }

    // MARK: Steps

    private func perform(_ step: CrashPlan.Step) throws {
        switch step {
        case .drive(let time): pause(milliseconds: time)
        case .kill(let victim): try replace(victim, SIGKILL)
        case .killTwice(let victim, let time): try replace(victim, SIGKILL, again: time)
        case .killBoth:
            server.end(SIGKILL)
            try replace(.agent, SIGKILL)
            outcome.kills += 1
            server = try fleet.startServer()
        case .restart(let victim): try replace(victim, SIGTERM)
        case .freeze(let victim, let time):
            let program = victim == .agent ? agent : server
            program.signal(SIGSTOP)
            pause(milliseconds: time)
            program.signal(SIGCONT)
        case .weather(let weather, let time):
            if weather.isCut { outcome.cuts += 1 }
            try link.set(weather)
            pause(milliseconds: time)
            try link.heal()
        case .fullDisk(let time):
            guard let disk else { return }
            try disk.fill()
            pause(milliseconds: time)
            disk.empty()
            // A kill loses the points in memory, as the status says. So no kill comes before the ring is on disk again.
            try waitUntil("the ring is back on its disk", within: 300) { try fleet.cacheState() == "disk" }
        }
    }

    private func replace(_ victim: CrashPlan.Victim, _ signal: Int32, again: Int? = nil) throws {
        if signal == SIGKILL { outcome.kills += again == nil ? 1 : 2 }
        switch victim {
        case .agent:
            let status = agent.end(signal)
            try require(signal == SIGKILL || status == 0, "the agent ended with \(status): \(agent.printed)")
            taken.formUnion(try watch.last())
            taken.formUnion(try CacheContents.times(of: fleet.cache).map { $0 / 1000 })
            if let again {
                let brief = try Program(
                    Built.path("sakerd"), ["--config", fleet.agent + "/agent.toml"], in: link.agentNetwork)
                pause(milliseconds: again)
                brief.end(SIGKILL)
                taken.formUnion(try CacheContents.times(of: fleet.cache).map { $0 / 1000 })
            }
            agent = try fleet.startAgent()
            watch = try GatheredPointCollector(fleet)
        case .server:
            let status = server.end(signal)
            try require(signal == SIGKILL || status == 0, "the server ended with \(status): \(server.printed)")
            if let again {
                let brief = try Program(
                    Built.path("saker-server"), ["serve", "--config", fleet.server + "/server.toml"],
                    in: link.serverNetwork)
                pause(milliseconds: again)
                brief.end(SIGKILL)
            }
            server = try fleet.startServer()
        case .gpsd:
            gpsd.end(signal)
            // The witness must not miss what the agent receives.
            source.pause()
            gpsd = try fleet.startGPSD(source: source.address)
            witnesses.append(try GPSDObserver(port: fleet.gpsdPort, in: link.agentNetwork))
            source.resume()
        }
    }

    // MARK: The end

    /// The drive ends, everything works again, and all cached points arrive.
    private func arrive() throws {
        source.pause()
        try link.heal()
        if isShort { try fleet.saker(["reconnect"]) }
        let begin = ContinuousClock.now
        var nextCall = begin + .seconds(30)
        try waitUntil("everything is acknowledged", within: 300) {
            if ContinuousClock.now > nextCall {
                nextCall = .now + .seconds(10)
                try fleet.saker(["reconnect"])
            }
            let status = try fleet.status()
            let points = (status["cache"] as? [String: Any])?["points"] as? Int
            return try points == 0 && fleet.linkState() == "online"
        }
        let reply = try fleet.varlink("io.saker.Agent.StopService", ["timeout": 60], seconds: 90)
        let remaining = (reply["parameters"] as? [String: Any])?["remaining"] as? Int
        try require(remaining == 0, "after stopping the service \(reply)")
        let counters = try require(try fleet.status()["counters"] as? [String: Any], "no counters")
        if let lost = counters["lost"] as? [String: Int], lost.values.contains(where: { $0 > 0 }) {
            outcome.problems.append("the agent says that it lost \(lost)")
        }
        if counters["refused"] as? Int != 0 { outcome.problems.append("points were refused: \(counters)") }
        taken.formUnion(watch.seen())
        agent.end(SIGTERM)
        taken.formUnion(try watch.last())
    }

    private func judge() throws {
        let chunks = try fleet.chunks()
        outcome.taken = taken.count
        try require(!taken.isEmpty, "the agent took nothing")
        let begin = try require(chunks.map(\.first).min(), "the server has nothing, the agent took \(taken.count)")
        let verdict = Verdict(
            taken: taken, chunks: chunks, points: try fleet.track(around: begin / 1000),
            reports: witnesses.map { $0.reports() })
        outcome.stored = verdict.stored
        outcome.lost = verdict.lost
        outcome.doubled = verdict.doubled
        outcome.problems += verdict.problems
    }
}

/// One round of crashes as a value. The same seed makes the same plan.
package struct CrashPlan: Hashable, Sendable {
    package enum Victim: String, Hashable, Sendable, CaseIterable {
        case agent, server, gpsd
    }

    package enum Step: Hashable, Sendable {
        /// The drive continues for so many milliseconds.
        case drive(Int)
        /// SIGKILL, then a new start.
        case kill(Victim)
        /// SIGKILL, and another SIGKILL so many milliseconds after the new start has begun.
        case killTwice(Victim, Int)
        case killBoth
        /// SIGTERM, then a new start.
        case restart(Victim)
        /// SIGSTOP for so many milliseconds.
        case freeze(Victim, Int)
        /// The link has this weather for so many milliseconds, then fair weather again.
        case weather(LinkWeather, Int)
        /// The agent's disk is full for so many milliseconds, and then until the agent has noticed.
        case fullDisk(Int)
    }

    package let seed: UInt64
    package let input: Int
    package let gather: Int
    package let pack: Int
    package let steps: [Step]

    /// `inputs`: how many recordings there are. `isShort`: no step that makes the agent wait the 21 s after which it
    /// notices a dead link. `canFill`: the test can fill the disk.
    package init(seed: UInt64, inputs: Int, isShort: Bool, canFill: Bool) {
        var dice = Dice(seed: seed)
        self.seed = seed
        input = Int.random(in: 0..<max(inputs, 1), using: &dice)
        gather = Int.random(in: 2...3, using: &dice)
        pack = gather * Int.random(in: 1...3, using: &dice)
        let count = isShort ? 5 : Int.random(in: 4...9, using: &dice)
        steps =
            (0..<count).flatMap { _ in
                [
                    Step.drive(Int.random(in: 100...1500, using: &dice)),
                    Self.step(isShort: isShort, canFill: canFill, using: &dice),
                ]
            } + [.drive(Int.random(in: 100...1500, using: &dice))]
    }

    private static func step(isShort: Bool, canFill: Bool, using dice: inout Dice) -> Step {
        switch Int.random(in: 0..<22, using: &dice) {
        case 0..<4: return .kill(.agent)
        case 4..<8: return .kill(.server)
        case 8: return .kill(.gpsd)
        case 9: return .killTwice(.agent, Int.random(in: 0...120, using: &dice))
        case 10: return .killTwice(.server, Int.random(in: 0...200, using: &dice))
        case 11: return .killBoth
        case 12: return .restart(dice.one(in: 2) ? .agent : .server)
        case 13: return .freeze(dice.one(in: 2) ? .agent : .server, Int.random(in: 200...3000, using: &dice))
        case 14 where canFill: return .fullDisk(Int.random(in: 100...1500, using: &dice))
        default: return weather(isShort: isShort, using: &dice)
        }
    }

    private static func weather(isShort: Bool, using dice: inout Dice) -> Step {
        let moment = Int.random(in: 300...3000, using: &dice)
        switch Int.random(in: 0..<(isShort ? 5 : 10), using: &dice) {
        case 0: return .weather(.reset, moment)
        case 1: return .weather(.down, moment)
        case 2: return .weather(.slow(20...Int.random(in: 30...400, using: &dice)), moment)
        case 3: return .weather(.rough(lost: 100, doubled: 50, late: 200), moment)
        case 4: return .weather(.silent, moment)
        case 5: return .weather(.forgotten, moment)
        case 6: return .weather(.silentAfter(bytes: Int.random(in: 0...6000, using: &dice)), moment)
        case 7: return .weather(.deafAgent, moment)
        case 8: return .weather(.deafServer, moment)
        // Longer than the agent takes to notice a dead link.
        default: return .weather(.silent, Int.random(in: 22_000...26_000, using: &dice))
        }
    }
}

extension CrashPlan.Step: CustomStringConvertible {
    package var description: String {
        switch self {
        case .drive(let time): "drive \(time) ms"
        case .kill(let victim): "kill \(victim)"
        case .killTwice(let victim, let time): "kill \(victim), again after \(time) ms"
        case .killBoth: "kill agent and server"
        case .restart(let victim): "restart \(victim)"
        case .freeze(let victim, let time): "freeze \(victim) \(time) ms"
        case .weather(let weather, let time): "link \(weather) \(time) ms"
        case .fullDisk(let time): "disk full \(time) ms"
        }
    }
}

/// The link that a run uses.
package enum ChosenLink: String, CaseIterable, Sendable {
    /// Namespaces if the machine has them, otherwise a proxy.
    case auto
    case namespaces
    case proxy

    /// Throws when the caller wants namespaces and the machine refuses them.
    package func make(seed: UInt64) throws -> any VehicleLink {
        switch self {
        case .proxy: return try CuttingProxy(seed: seed)
        case .namespaces: return try PacketLink(seed: seed)
        case .auto:
            if NetworkNamespace.obstacle == nil { return try PacketLink(seed: seed) }
            return try CuttingProxy(seed: seed)
        }
    }
}
