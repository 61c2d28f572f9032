import Foundation
import ProgramTestKit
import Testing

/// Server fences on the vehicle, through the real programs: told at once without the server, and once in its history.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python)) struct ServerFenceTests {
    /// A drive that the test lets go on. The receiver's dates must not be before the fences: it runs ahead of the clock by
    /// some minutes.
    private static func drive(from first: Int = 0, seconds: Int, start: Int) throws -> ReceiverSource {
        let epochs = ReceiverSource.drive(seconds: first + seconds, from: start)
        return try ReceiverSource(epochs: Array(epochs.dropFirst(first)), pause: 0.01)
    }

    private static var start: Int { Int(Date().timeIntervalSince1970) + 60 }

    private static func online(_ fleet: Fleet) throws {
        try waitUntil("the agent is online", within: 300) {
            try fleet.saker(["reconnect"])
            return try fleet.linkState() == "online"
        }
    }

    private static func arrive(_ fleet: Fleet) throws {
        try waitUntil("the points have arrived", within: 300) {
            (try fleet.status()["cache"] as? [String: Any])?["points"] as? Int == 0
        }
    }

    /// Lets the receiver play to an epoch, and waits until the agent gathers nothing more of it.
    private static func play(_ source: ReceiverSource, to epoch: Int, _ fleet: Fleet) throws {
        source.resume()
        try waitUntil("epoch \(epoch) of the drive", within: 300) { source.sent >= epoch }
        source.pause()
        var (gathered, repeated) = (-1, 0)
        try waitUntil("the agent has gathered", within: 300) {
            let now = try fleet.counter("gathered")
            repeated = now == gathered && now > 0 ? repeated + 1 : 0
            gathered = now
            return repeated >= 30
        }
    }

    /// Three visits: with the link, without it, and behind a kill of the agent without a link.
    @Test func visitsAreToldAtOnceAndStandInTheHistoryOnce() throws {
        let fleet = try Fleet()
        let source = try Self.drive(seconds: 481, start: Self.start)
        let gpsd = try fleet.startGPSD(source: source.address)
        var server = try fleet.startServer()
        var agent = try fleet.startAgent()
        try waitUntil("the agent is online", within: 300) { try fleet.linkState() == "online" }
        for second in [100, 220, 360] { try fleet.makeFence(atSecond: second) }
        try waitUntil("the vehicle has the fences", within: 300) { try fleet.keptServerFences() == 3 }

        source.resume()
        try waitUntil("the first visit is told", within: 300) { try fleet.vehicleAlarms().early.count >= 2 }
        try waitUntil("it is confirmed", within: 300) { try fleet.vehicleAlarms().unconfirmed == 0 }
        // The drive goes on: the vehicle may be in the second visit.
        #expect(try fleet.alarmHistory().prefix(2) == fleet.vehicleAlarms().early.prefix(2))

        server.end(SIGKILL)
        try waitUntil("the second visit is told", within: 300) {
            source.resume()
            return try fleet.vehicleAlarms().early.count >= 4
        }
        let before = try fleet.vehicleAlarms().early
        agent.end(SIGKILL)
        agent = try fleet.startAgent()
        try waitUntil("the journal is back", within: 300) {
            try fleet.vehicleAlarms().early.count >= before.count
        }
        try waitUntil("the drive is over", within: 300) { source.sent == 481 }

        server = try fleet.startServer()
        try Self.online(fleet)
        let stopped = try fleet.saker(["service", "stop", "--timeout", "60"])
        #expect(stopped.status == 0, "\(stopped.all)")
        let restarted = try fleet.saker(["service", "start"])
        #expect(restarted.status == 0, "\(restarted.all)")
        try waitUntil("all alarms are confirmed", within: 300) { try fleet.vehicleAlarms().unconfirmed == 0 }
        let told = try fleet.vehicleAlarms()
        let history = try fleet.alarmHistory()
        #expect(told.others == [], "the server has told what the vehicle did not find")
        #expect(Set(told.early.map(\.key)).count == told.early.count, "told twice")
        #expect(Set(history) == Set(told.early) && history.count == told.early.count)
        #expect(told.early.prefix(4).map(\.action) == ["enter", "exit", "enter", "exit"])
        #expect(told.early.prefix(4).map(\.fence) == [1, 1, 2, 2])
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        gpsd.end(SIGKILL)
        source.end()
    }

    /// The store is put back as it was before the second visit, and the vehicle goes on.
    @Test func aRestoredServerDoublesAndLosesNoAlarm() throws {
        let fleet = try Fleet()
        let source = try Self.drive(seconds: 481, start: Self.start)
        let gpsd = try fleet.startGPSD(source: source.address)
        var server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try Self.online(fleet)
        for second in [100, 220, 360] { try fleet.makeFence(atSecond: second) }
        try waitUntil("the vehicle has the fences", within: 300) { try fleet.keptServerFences() == 3 }
        try Self.play(source, to: 150, fleet)
        try Self.arrive(fleet)
        try waitUntil("the first visit is confirmed", within: 300) {
            let told = try fleet.vehicleAlarms()
            return told.early.count == 2 && told.unconfirmed == 0
        }
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        let backup = fleet.directory.file("backup.sqlite")
        try FileManager.default.copyItem(atPath: fleet.database, toPath: backup)

        server = try fleet.startServer()
        try Self.online(fleet)
        try Self.play(source, to: 290, fleet)
        try Self.arrive(fleet)
        try waitUntil("the second visit is confirmed", within: 300) {
            let told = try fleet.vehicleAlarms()
            return told.early.count == 4 && told.unconfirmed == 0
        }
        #expect(try fleet.alarmHistory().count == 4)

        server.end(SIGKILL)
        // The vehicle goes on without the server.
        try Self.play(source, to: 330, fleet)
        for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fleet.database + ending) }
        try FileManager.default.copyItem(atPath: backup, toPath: fleet.database)
        server = try fleet.startServer()
        try Self.online(fleet)
        try Self.play(source, to: 481, fleet)
        try Self.arrive(fleet)
        try waitUntil("all alarms are in the history", within: 300) { try fleet.alarmHistory().count == 6 }
        try waitUntil("all alarms are confirmed", within: 300) { try fleet.vehicleAlarms().unconfirmed == 0 }
        let told = try fleet.vehicleAlarms()
        #expect(told.others == [] && told.early.map(\.fence) == [1, 1, 2, 2, 3, 3])
        #expect(try fleet.alarmHistory() == told.early)
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        gpsd.end(SIGKILL)
        source.end()
    }

    /// The second vehicle is ahead of the first one, whose points are late at the server then.
    @Test func twoVehiclesAsOneEntity() throws {
        let proxy = try CuttingProxy(seed: 1)
        let first = try Fleet(link: proxy)
        let start = Self.start
        let source = try Self.drive(seconds: 300, start: start)
        let gpsd = try first.startGPSD(source: source.address)
        let server = try first.startServer()
        let agent = try first.startAgent()
        try Self.online(first)
        for second in [100, 220, 360] { try first.makeFence(atSecond: second) }
        try waitUntil("the first vehicle has the fences", within: 300) { try first.keptServerFences() == 3 }
        try Self.play(source, to: 150, first)
        try Self.arrive(first)
        try waitUntil("the first visit is confirmed", within: 300) {
            let told = try first.vehicleAlarms()
            return told.early.count == 2 && told.unconfirmed == 0
        }
        // Offline it goes through the second fence.
        proxy.set(.down)
        try Self.play(source, to: 300, first)
        #expect(try first.vehicleAlarms().unconfirmed == 2)

        let second = try Fleet(beside: first)
        let other = try Self.drive(from: 300, seconds: 181, start: start)
        let otherGPSD = try second.startGPSD(source: other.address)
        let otherAgent = try second.startAgent()
        try Self.online(second)
        try waitUntil("the second vehicle has the fences", within: 300) { try second.keptServerFences() == 3 }
        try Self.play(other, to: 181, second)
        try Self.arrive(second)
        try waitUntil("the visit of the second vehicle is confirmed", within: 300) {
            let told = try second.vehicleAlarms()
            return told.early.count == 2 && told.unconfirmed == 0
        }

        proxy.set(.fair)
        try Self.online(first)
        try Self.arrive(first)
        // Both have stored every point, and the late ones made no alarm.
        let times = try first.track(around: start).map(\.time)
        #expect(try first.rows() == times.count && Set(times).count == times.count)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= 4 }, "\(times)")
        let history = try first.alarmHistory()
        let (one, two) = (try first.vehicleAlarms(), try second.vehicleAlarms())
        #expect(history.map(\.fence) == [1, 1, 3, 3])
        #expect(Set(history.map(\.key)).count == history.count)
        #expect(Set(history) == Set(one.early.prefix(2) + two.early))
        // The first vehicle's own second visit stays without the server's word: it is told as such.
        #expect(one.unconfirmed == 2 && one.early.map(\.fence) == [1, 1, 2, 2])
        let fences = try first.status()["fences"] as? [String: Any]
        let told = try require(fences?["server"] as? [String: Any], "\(String(describing: fences))")
        #expect(told["confirmations_waiting"] as? Int == 2)
        for program in [agent, otherAgent] { #expect(program.end(SIGTERM) == 0, "\(program.printed)") }
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        for program in [gpsd, otherGPSD] { program.end(SIGKILL) }
        for source in [source, other] { source.end() }
    }
}
