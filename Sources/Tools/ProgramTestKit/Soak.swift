import Foundation

/// Runs agent and server for a long time on a link that is cut every few seconds. Their memory, descriptors and threads
/// must not grow.
package final class Soak {
    package struct Outcome: Sendable {
        package internal(set) var checks: [FlatnessCheck] = []
        package internal(set) var cuts = 0
        package internal(set) var samples = 0
        package internal(set) var taken = 0
        package internal(set) var stored = 0
        package internal(set) var problems: [String] = []
        package internal(set) var kept: String?
        package var isGood: Bool { problems.isEmpty && checks.allSatisfy(\.isFlat) }
    }

    private let fleet: Fleet
    private let link: any VehicleLink
    private let start = 1_780_000_020

    package init(over link: any VehicleLink) throws {
        self.link = link
        fleet = try Fleet(link: link)
    }

    /// `minutes`: the duration. `seed`: of the cuts. `progress`: gets a line for people from time to time.
    package func run(minutes: Int, seed: UInt64, progress: (String) -> Void) -> Outcome {
        var outcome = Outcome()
        do {
            try run(minutes, Dice(seed: seed), progress, &outcome)
        } catch {
            outcome.problems.append("\(error)")
        }
        if !outcome.isGood {
            fleet.directory.keep()
            outcome.kept = fleet.directory.path
        }
        return outcome
    }

    private func run(_ minutes: Int, _ seeded: Dice, _ progress: (String) -> Void, _ outcome: inout Outcome) throws {
        var dice = seeded
        // Ten epochs a second make five points.
        let epochs = ReceiverSource.drive(seconds: minutes * 600 + 600, from: start)
        let source = try ReceiverSource(
            pieces: epochs.map { Array($0.utf8) }, pause: 0.1, in: link.agentNetwork)
        defer { source.end() }
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        let watch = try GatheredPointCollector(fleet)
        defer { watch.end() }
        source.resume()
        var figures: [(agent: ProcessFigures, server: ProcessFigures)] = []
        let begin = ContinuousClock.now
        let end = begin + .seconds(60 * minutes)
        var nextCut = begin + .seconds(10)
        var nextLine = begin
        while ContinuousClock.now < end {
            pause(milliseconds: 1000)
            let one = try require(ProcessFigures(of: agent.identifier), "the agent is gone: \(agent.printed)")
            let other = try require(ProcessFigures(of: server.identifier), "the server is gone: \(server.printed)")
            figures.append((one, other))
            if ContinuousClock.now >= nextLine {
                nextLine = .now + .seconds(max(minutes * 6, 10))
                let time = Int(begin.duration(to: .now) / .seconds(1))
                progress("\(time) s: agent \(one.line), server \(other.line), \(outcome.cuts) cuts")
            }
            if ContinuousClock.now >= nextCut {
                try cut(using: &dice)
                outcome.cuts += 1
                nextCut = .now + .seconds(Int.random(in: 2...6, using: &dice))
            }
        }
        outcome.samples = figures.count
        outcome.checks = Self.checks("agent", figures.map(\.agent)) + Self.checks("server", figures.map(\.server))
        source.pause()
        try fleet.saker(["reconnect"])
        try waitUntil("everything is acknowledged", within: 300) {
            let points = (try fleet.status()["cache"] as? [String: Any])?["points"] as? Int
            return try points == 0 && fleet.linkState() == "online"
        }
        agent.end(SIGTERM)
        let taken = try watch.last()
        let chunks = try fleet.chunks()
        outcome.taken = taken.count
        outcome.stored = chunks.reduce(0) { $0 + $1.count }
        // One agent ran all the time, so the taken and the stored points must be equal.
        try require(outcome.taken == outcome.stored, "\(outcome.taken) points taken, \(outcome.stored) stored")
        server.end(SIGTERM)
        gpsd.end(SIGKILL)
    }

    private func cut(using dice: inout Dice) throws {
        let weather: LinkWeather =
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: .down
            case 1: .silent
            case 2: .silentAfter(bytes: Int.random(in: 0...4000, using: &dice))
            default: .reset
            }
        try link.set(weather)
        pause(milliseconds: Int.random(in: 100...1500, using: &dice))
        try link.heal()
        // Asks for a connection instead of waiting for the backoff: more connections make a harder test.
        try fleet.saker(["reconnect"])
    }

    private static func checks(_ name: String, _ figures: [ProcessFigures]) -> [FlatnessCheck] {
        [
            FlatnessCheck("\(name): RSS", "KB", figures.map(\.resident), share: 5, floor: 1024),
            FlatnessCheck("\(name): private anonymous", "KB", figures.map(\.anonymous), share: 10, floor: 512),
            FlatnessCheck("\(name): descriptors", "", figures.map(\.descriptors), share: 0, floor: 2),
            FlatnessCheck("\(name): threads", "", figures.map(\.threads), share: 0, floor: 2),
        ]
    }
}

extension ProcessFigures {
    fileprivate var line: String {
        "\(resident) KB (\(anonymous) private), \(descriptors) descriptors, \(threads) threads"
    }
}

/// The resources that a process uses at one moment.
package struct ProcessFigures: Hashable, Sendable {
    /// Kilobytes resident, and those of them that are private and anonymous.
    package let resident: Int
    package let anonymous: Int
    package let descriptors: Int
    package let threads: Int

    /// Nil when the process is gone.
    package init?(of process: Int32) {
        guard let rollup = try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8),
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd"),
            let resident = Self.number("Rss:", rollup), let anonymous = Self.number("Anonymous:", rollup),
            let threads = Self.number("Threads:", status)
        else { return nil }
        self.resident = resident
        self.anonymous = anonymous
        self.threads = threads
        descriptors = files.count
    }

    private static func number(_ key: String, _ text: String) -> Int? {
        text.split(separator: "\n").first { $0.hasPrefix(key) }?.split(whereSeparator: \.isWhitespace).dropFirst()
            .first.flatMap { Int($0) }
    }
}

/// A figure over a long time, and whether it is flat at the end.
package struct FlatnessCheck: Hashable, Sendable {
    package let name: String
    package let unit: String
    /// Medians of the second and of the last quarter.
    package let early: Int
    package let late: Int
    /// How much larger the late median may be.
    package let tolerance: Int
    package var isFlat: Bool { late <= early + tolerance }

    /// `share`: the tolerance in percent. `floor`: the least tolerance, in the figure's unit.
    package init(_ name: String, _ unit: String, _ samples: [Int], share: Int, floor: Int) {
        self.name = name
        self.unit = unit
        let quarter = samples.count / 4
        early = Self.median(samples.dropFirst(quarter).prefix(quarter))
        late = Self.median(samples.suffix(quarter))
        tolerance = max(early * share / 100, floor)
    }

    private static func median(_ samples: ArraySlice<Int>) -> Int {
        samples.isEmpty ? 0 : samples.sorted()[samples.count / 2]
    }
}
