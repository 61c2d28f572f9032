import Foundation
import ProgramTestKit
import Testing

/// The drill that an operator should make: a backup is taken while a vehicle uploads, the machine is lost, and the server
/// begins again from the backup.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python)) struct BackupDrillTests {
    private static func backup(_ arguments: String...) throws {
        let done = try Program.run(Built.path("saker-server"), ["backup"] + arguments)
        try require(done.status == 0, "\(done.all)")
    }

    @Test func aVehicleGoesOnWithARestoredServer() throws {
        let proxy = try CuttingProxy(seed: 1)
        let fleet = try Fleet(link: proxy)
        let start = Int(Date().timeIntervalSince1970) - 3600
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 900, from: start), pause: 0.02)
        let gpsd = try fleet.startGPSD(source: source.address)
        var server = try fleet.startServer()
        let agent = try fleet.startAgent()
        source.resume()
        try waitUntil("points arrive", within: 300) { try fleet.rows() > 20 }

        // While the server stores points, several times: each backup is whole.
        let folder = fleet.directory.file("backups")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        var names: [String] = []
        while try fleet.rows() < 120 {
            names.append("\(folder)/\(names.count)")
            try Self.backup("make", names[names.count - 1], "--config", fleet.server + "/server.toml")
        }
        let last = try #require(names.last)
        for name in names { try Self.backup("check", name) }

        // A server that runs keeps its store.
        let refused = try Program.run(Built.path("saker-server"), ["backup", "restore", last, "--replace"])
        #expect(refused.status == 1 && refused.all.contains("stop it first"), "\(refused.all)")

        // Everything of the server is gone.
        proxy.set(.down)
        server.end(SIGKILL)
        let lost = try fleet.storedTimes()
        try FileManager.default.removeItem(atPath: fleet.server)
        try Self.backup("restore", last)
        let kept = try fleet.storedTimes()
        #expect(!kept.isEmpty && kept.count <= lost.count && Array(lost.prefix(kept.count)) == kept)

        server = try fleet.startServer()
        proxy.set(.fair)
        try waitUntil("the drive is over", within: 300) { source.sent == 900 }
        let stopped = try fleet.saker(["service", "stop", "--timeout", "60"])
        #expect(stopped.status == 0, "\(stopped.all)")
        let times = try fleet.track(around: start).map(\.time)
        #expect(try fleet.rows() == times.count && Set(times).count == times.count, "doubled")
        #expect(Array(times.prefix(kept.count)) == kept, "a point of the backup is gone")
        #expect(try #require(times.last) >= start + 890, "\(times.suffix(3))")
        // Only points that the lost server had taken after the backup are missing.
        let missing = Set(lost).subtracting(times)
        #expect(missing.allSatisfy { $0 > (kept.last ?? 0) })
        let gaps = zip(times, times.dropFirst()).filter { $1 - $0 > 4 }
        #expect(gaps.count <= 1, "\(gaps)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        gpsd.end(SIGKILL)
        source.end()
    }
}

extension Fleet {
    /// Times of the points of a store that nobody serves, in seconds, ascending, as a server tells them that nobody uploads to.
    fileprivate func storedTimes() throws -> [Int] {
        let server = try startServer()
        defer { server.end(SIGKILL) }
        let now = Int(Date().timeIntervalSince1970)
        return try track(around: now).map(\.time)
    }
}
