import Foundation
import ProgramTestKit
import Testing

/// Real gpsd, real TLS, real SQLite, real kills: what the agent says it took is stored once, in order.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python)) struct ExactlyOnceTests {
    private let start = 1_780_000_020

    @Test func everyPointThatTheSamplerHadToChooseIsStored() throws {
        let fleet = try Fleet()
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 601, from: start), pause: 0.01)
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("the agent is online", within: 300) { try fleet.linkState() == "online" }
        source.resume()
        try waitUntil("the last epoch is sent", within: 300) { source.sent == 601 }
        // The last epoch ends when the receiver has been silent for a while.
        try waitUntil("the last fix is out", within: 300) {
            let feed = try fleet.status()["feed"] as? [String: Any]
            return (feed?["last_fix"] as? [String: Any])?["time"] as? Int == (start + 600) * 1000
        }
        let stopped = try fleet.saker(["service", "stop"])
        #expect(stopped.status == 0, "\(stopped.all)")
        let gathered = try fleet.counter("gathered")
        let stored = try fleet.track(around: start)
        #expect(stored.count == gathered)
        #expect(try fleet.rows() == gathered)
        let first = try #require(stored.first)
        // gpsd needs some epochs to know the receiver; from the first on, the grid has no hole.
        #expect(first.time - start < 30)
        #expect(stored.map(\.time) == Array(stride(from: first.time, through: start + 600, by: 2)))
        for point in stored {
            let second = Double(point.time - start)
            #expect(abs(point.latitude - (52.0 + second * 0.0001)) < 2e-7)
            #expect(abs(point.longitude - (4.3 + second * 0.00015)) < 2e-7)
        }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        gpsd.end(SIGKILL)
        source.end()
    }

    @Test func killsOfAgentAndServerLoseAndDoubleNothing() throws {
        let seed = ProcessInfo.processInfo.environment["SAKER_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        print("seed: SAKER_SEED=\(seed)")
        var dice = Dice(seed: seed)
        let fleet = try Fleet()
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 3600, from: start), pause: 0.01)
        let gpsd = try fleet.startGPSD(source: source.address)
        var server = try fleet.startServer()
        var agent = try fleet.startAgent()
        source.resume()
        var taken: Set<Int> = []
        var watch = try GatheredPointCollector(fleet)
        for _ in 0..<8 {
            let goal = source.sent + Int.random(in: 50...250, using: &dice)
            try waitUntil("the drive goes on", within: 300) { source.sent >= min(goal, 3600) }
            if Bool.random(using: &dice) {
                server.end(SIGKILL)
                server = try fleet.startServer()
                try fleet.saker(["reconnect"])
            } else {
                agent.end(SIGKILL)
                taken.formUnion(watch.seen())
                agent = try fleet.startAgent()
                watch = try GatheredPointCollector(fleet)
            }
        }
        source.pause()
        try waitUntil("the agent is online", within: 300) {
            try fleet.saker(["reconnect"])
            return try fleet.linkState() == "online"
        }
        let stopped = try fleet.saker(["service", "stop", "--timeout", "30"])
        #expect(stopped.status == 0, "\(stopped.all)")
        taken.formUnion(watch.seen())
        watch.end()
        let stored = try fleet.track(around: start)
        let times = stored.map(\.time)
        #expect(taken.count > 100)
        #expect(taken.subtracting(times) == [], "lost")
        #expect(try fleet.rows() == Set(times).count, "doubled")
        #expect(times == times.sorted())
        agent.end(SIGTERM)
        server.end(SIGTERM)
        gpsd.end(SIGKILL)
        source.end()
    }
}
