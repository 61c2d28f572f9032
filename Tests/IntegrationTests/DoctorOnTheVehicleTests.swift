import Foundation
import ProgramTestKit
import Testing

/// What `saker doctor` says of things that break on the vehicle itself: settings, receiver, clock, files, disk.
/// ``DoctorTests`` has the rest of its checks.
@Suite(.serialized, .timeLimit(.minutes(60))) struct DoctorOnTheVehicleTests {
    private let start = 1_780_000_020

    /// Of a receiver that sees no satellite.
    private static let noFix =
        "$GPRMC,,V,,,,,,,,,,N*53\r\n$GPGGA,,,,,,0,00,99.99,,,,,,*48\r\n"
        + "$GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99*30\r\n"

    @Test func gatheringThatIsStopped() throws {
        let fleet = try Fleet()
        let agent = try fleet.startAgent()
        #expect(try DoctorVisit(fleet).verdict("gather") == "ok")
        #expect(try fleet.saker(["gather", "stop"]).status == 0)
        let visit = try DoctorVisit(fleet)
        visit.expect("gather", "failed", "no points are made", remedy: "saker gather start --keep-trying")
        #expect(try fleet.saker(["gather", "start", "--keep-trying"]).status == 0)
        #expect(try DoctorVisit(fleet).verdict("gather") == "ok")
        #expect(visit.status == 1 && visit.verdict("service") == "ok", "\(visit.text)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
    }

    @Test(.needs(.gpsd)) func settingsThatSkipMostFixes() throws {
        let fleet = try Fleet()
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 3600, from: start), pause: 0.02)
        defer { source.end() }
        source.resume()
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        try waitUntil("a point", within: 300) { try fleet.counter("gathered") > 0 }
        #expect(try DoctorVisit(fleet).verdict("settings") == "ok")
        #expect(try fleet.saker(["settings", "location", "--desired-accuracy", "1"]).status == 0)
        try waitUntil("most fixes are skipped", within: 300) {
            let counters = try require(try fleet.status()["counters"] as? [String: Any], "no counters")
            let (fixes, skipped) = (counters["fixes"] as? Int ?? 0, counters["skipped"] as? [String: Int])
            return fixes >= 100 && (skipped?["inaccurate"] ?? 0) * 100 > fixes * 55
        }
        try DoctorVisit(fleet).expect(
            "settings", "warning", "less accurate than 1 m", remedy: "saker settings location --desired-accuracy 0")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        gpsd.end(SIGKILL)
    }

    @Test(.needs(.gpsd)) func aReceiverThatSeesNothingOrSaysNothing() throws {
        let fleet = try Fleet()
        let source = try ReceiverSource(epochs: Array(repeating: Self.noFix, count: 2000), pause: 0.2)
        defer { source.end() }
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        try DoctorVisit(fleet).expect("fix", "failed", "says nothing", remedy: "cable and power")
        source.resume()
        try waitUntil("gpsd knows the receiver", within: 300) { source.sent > 10 }
        try DoctorVisit(fleet).expect("fix", "failed", "reports and has no fix", remedy: "cgps -s")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        gpsd.end(SIGKILL)
    }

    @Test(.needs(.python)) func aClockThatDiffersFromTheServers() throws {
        let fleet = try Fleet()
        let server = try ScriptedServer(.clockAhead, for: fleet)
        let agent = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        try DoctorVisit(fleet).expect("clock", "warning", "ahead", remedy: "systemctl enable --now systemd-timesyncd")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        server.program.end(SIGKILL)
    }

    @Test func certificatesThatEndSoonOrAreNone() throws {
        let fleet = try Fleet()
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        #expect(try DoctorVisit(fleet).verdict("certificates") == "ok")
        let file = fleet.agent + "/ca.pem"
        let right = try String(contentsOfFile: file, encoding: .utf8)
        // An authority beside the right one: the agent goes on.
        let brief = try Authority(named: "brief", in: fleet.directory.path, days: 9)
        try (right + String(contentsOfFile: brief.certificate, encoding: .utf8))
            .write(toFile: file, atomically: true, encoding: .utf8)
        var visit = try DoctorVisit(fleet)
        visit.expect("certificates", "warning", "\(file) ends in", remedy: "into \(file)")
        #expect(visit.failed == ["gpsd"], "\(visit.text)")
        try "no certificate\n".write(toFile: file, atomically: true, encoding: .utf8)
        visit = try DoctorVisit(fleet)
        visit.expect("certificates", "failed", "holds no certificate", remedy: "into \(file)")
        try FileManager.default.removeItem(atPath: file)
        visit = try DoctorVisit(fleet)
        visit.expect("certificates", "failed", "No such file", remedy: "into \(file)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        server.end(SIGTERM)
    }

    @Test(.needs(.gpsd, .smallDisks)) func aDiskThatIsReadOnlyOrSmallOrFull() throws {
        let fleet = try Fleet()
        let disk = try SmallDisk(over: fleet.cache, megabytes: 4)
        try disk.setReadOnly(true)
        try DoctorVisit(fleet).expect("disk", "failed", "mounted read-only", remedy: "mount -o remount,rw")
        try disk.setReadOnly(false)
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 3600, from: start), pause: 0.1)
        defer { source.end() }
        source.resume()
        let gpsd = try fleet.startGPSD(source: source.address)
        // The ring takes its disk in large pieces: it notices a full one when it wants the next piece.
        try disk.fill()
        let agent = try fleet.startAgent()
        try waitUntil("points in memory", within: 300) {
            try fleet.counter("gathered") > 0 && fleet.cacheState() == "memory"
        }
        let visit = try DoctorVisit(fleet)
        visit.expect("disk", "failed", "points are in memory only", remedy: "df -h \(fleet.cache)")
        #expect(visit.found("disk").contains("ENOSPC"), "\(visit.text)")
        disk.empty()
        try waitUntil("points on the disk", within: 300) { try fleet.cacheState() == "disk" }
        try DoctorVisit(fleet).expect("disk", "warning", "free", remedy: "df -h")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        gpsd.end(SIGKILL)
    }

    @Test(.needs(.gpsd)) func aCacheThatHasLostPoints() throws {
        let fleet = try Fleet()
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 20_000, from: start), pause: 0.01)
        defer { source.end() }
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        #expect(try fleet.saker(["settings", "cache-limit", "2MiB"]).status == 0)
        // Ten kilobytes a point.
        let long = (0..<10).map { "note\($0)=" + String(repeating: "x", count: 1000) }
        let set = try fleet.saker(["attributes", "set"] + long)
        #expect(set.status == 0, "\(set.all)")
        #expect(try DoctorVisit(fleet).verdict("cache") == "ok")
        source.resume()
        // Two megabytes, each point synchronised to a disk that others use too.
        try waitUntil("the oldest points are dropped", within: 900) {
            let counters = try fleet.status()["counters"] as? [String: Any]
            return ((counters?["lost"] as? [String: Int])?["bound"] ?? 0) > 0
        }
        try DoctorVisit(fleet).expect("cache", "warning", "bound", remedy: "saker settings cache-limit 1GiB")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        gpsd.end(SIGKILL)
    }

    @Test(.needs(.root)) func filesOfAnotherUserAndASecretThatAllMayRead() throws {
        let fleet = try Fleet()
        let agent = try fleet.startAgent()
        #expect(try DoctorVisit(fleet).verdict("permissions") == "ok")
        let key = fleet.agent + "/credentials/ak"
        try require(chmod(key, 0o644) == 0, "chmod: errno \(errno)")
        try DoctorVisit(fleet).expect(
            "permissions", "warning", "\(key) holds a secret", remedy: "sudo chmod o-rwx \(key)")
        try require(chmod(key, 0o600) == 0, "chmod: errno \(errno)")
        // As if the agent ran as a user of its own: the socket tells whom.
        try require(chown(fleet.socket, 12_345, 12_345) == 0, "chown: errno \(errno)")
        let file = fleet.agent + "/agent.toml"
        try require(chmod(file, 0o600) == 0, "chmod: errno \(errno)")
        try DoctorVisit(fleet).expect("permissions", "failed", "may not read it", remedy: "sudo chgrp saker \(file)")
        try require(chmod(file, 0o644) == 0, "chmod: errno \(errno)")
        let state = fleet.directory.file("state")
        try DoctorVisit(fleet).expect(
            "permissions", "failed", "\(state) belongs to user 0, the agent runs as user 12345",
            remedy: "sudo chown -R 12345 \(state)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
    }
}
