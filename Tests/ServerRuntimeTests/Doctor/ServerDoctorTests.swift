import Diagnosing
import Foundation
import Geofencing
import JSON
import ProgramTestKit
import Testing
import TrackModel
import TrackStore

@testable import ServerRuntime

/// The real doctor beside a real server.
@Suite(.timeLimit(.minutes(10)))
struct ServerDoctorTests {
    private let directory: TemporaryDirectory
    private var home: String { directory.path + "/server" }
    private var configuration: String { home + "/server.toml" }
    private var store: String { home + "/tracks.sqlite" }

    init() async throws {
        directory = try TemporaryDirectory()
        let made = try await run(
            serverPath,
            ["init", "--directory", home, "--host", "127.0.0.1", "--https-port", "0", "--http-port", "0"])
        try #require(made.status == 0, "\(made.errors)")
        try replace("# port = 7443\n# Lowest", with: "port = 0\n# Lowest")
    }

    private func replace(_ text: String, with other: String) throws {
        let all = try String(contentsOfFile: configuration, encoding: .utf8)
        try #require(all.contains(text), "\(text)")
        try all.replacingOccurrences(of: text, with: other)
            .write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    private func doctor(
        _ arguments: String...
    ) async throws -> (status: Int32, checks: [String: JSONValue], errors: String) {
        let result = try await run(serverPath, ["doctor", "--json", "--config", configuration] + arguments)
        let value = try JSONReader.value(of: Array(result.output.utf8))
        let checks = (value["checks"]?.arrayValue ?? []).map { ($0["name"]?.stringValue ?? "", $0) }
        return (result.status, Dictionary(checks) { first, _ in first }, result.errors)
    }

    private func expect(
        _ checks: [String: JSONValue], _ name: String, _ verdict: String, _ found: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(checks[name]?["verdict"]?.stringValue == verdict, "\(checks[name] ?? .null)", sourceLocation: location)
        #expect(
            found.isEmpty || checks[name]?["found"]?.stringValue?.contains(found) == true, "\(checks[name] ?? .null)",
            sourceLocation: location)
    }

    @Test func aNewServerIsHealthyAndNothingIsLeftBehind() async throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: home).sorted()
        let (status, checks, errors) = try await doctor()
        #expect(status == 0, "\(checks) \(errors)")
        for name in [
            "configuration", "certificates", "store", "ports", "roads", "tiles", "callbacks", "identity", "vehicles",
        ] {
            expect(checks, name, "ok", "")
        }
        expect(checks, "server", "warning", "no saker-server")
        #expect(try FileManager.default.contentsOfDirectory(atPath: home).sorted() == before)
        let table = try await sakerServer("doctor", "--config", configuration)
        #expect(table.output.hasPrefix("ok           configuration  \(configuration) is sound\n"))
        #expect(try await sakerServer("doctor", "--nonsense").status == 2)
    }

    @Test func aRunningServerIsKnownByItsPorts() async throws {
        let ports = [try freePort(), try freePort(), try freePort()]
        try replace("[device]\n", with: "[device]\nhost = \"127.0.0.1\"\n")
        try replace("http_port = 0", with: "http_port = \(ports[2])")
        try replace("https_port = 0", with: "https_port = \(ports[1])")
        try replace("port = 0\n# Lowest", with: "port = \(ports[0])\n# Lowest")
        let portsFile = home + "/ports.json"
        let server = try RunningProcess(serverPath, ["serve", "--config", configuration, "--ports-file", portsFile])
        _ = try await eventually { FileManager.default.contents(atPath: portsFile) }
        let (status, checks, _) = try await doctor()
        #expect(status == 0, "\(checks)")
        expect(checks, "server", "ok", "serves this store")
        expect(checks, "ports", "ok", "127.0.0.1:\(ports[0]) is the server's")
        expect(checks, "ports", "ok", "127.0.0.1:\(ports[2]) is the server's")
        expect(checks, "store", "ok", "no error found")
        // The certificate of the file is another one from now on, and the server has not heard of it.
        server.send(SIGSTOP)
        let renewed = try await sakerServer("certificate", "renew", "--config", configuration)
        #expect(renewed.status == 0, "\(renewed.errors)")
        server.send(SIGCONT)
        // Another store's configuration names the same ports.
        let other = directory.path + "/other"
        let made = try await run(
            serverPath, ["init", "--directory", other, "--host", "127.0.0.1", "--https-port", "\(ports[1])"])
        try #require(made.status == 0, "\(made.errors)")
        let foreign = try await run(serverPath, ["doctor", "--json", "--config", other + "/server.toml"])
        #expect(foreign.status == 1)
        #expect(foreign.output.contains("another TLS server answers"), "\(foreign.output)")
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    /// The owner of the directory may be another user than root, who calls the doctor.
    @Test(arguments: [
        "server.pem", "server-key.pem", "device-ca.pem", "ca.pem", "server.toml", "tracks.sqlite.lock",
        "tracks.sqlite-journal",
    ])
    func aPipeInThePlaceOfAFileHoldsNobodyUp(name: String) async throws {
        let path = home + "/" + name
        try? FileManager.default.removeItem(atPath: path)
        mkfifo(path, 0o600)
        let timed = ["-k", "1", "40", serverPath]
        let doctor = try await run("/usr/bin/timeout", timed + ["doctor", "--config", configuration])
        #expect(doctor.status == (name.hasSuffix("lock") ? 0 : 1), "\(doctor)")
        let said = doctor.output.replacing(/\s+/, with: " ")
        #expect(name.hasSuffix("lock") || said.contains(path) && said.contains("no regular file"), "\(said)")
        for command in [["certificate", "renew"], ["device", "list"], ["service", "list"]] {
            let result = try await run("/usr/bin/timeout", timed + command + ["--config", configuration])
            #expect(result.status != 124 && result.status != 137, "\(command) \(result)")
        }
    }

    @Test func aPortOfAStrangerIsTold() async throws {
        let receiver = try await CallbackReceiver { _, _ in .status(404) }
        try replace("http_port = 0", with: "http_port = \(receiver.port)")
        let (status, checks, _) = try await doctor()
        #expect(status == 1)
        expect(
            checks, "ports", "failed", "127.0.0.1:\(receiver.port) ([web] http_port): another program answers: HTTP 404"
        )
        #expect(checks["ports"]?["remedy"]?.stringValue?.contains("ss -ltnp 'sport = :\(receiver.port)'") == true)
        await receiver.close()
    }

    @Test func aBrokenConfigurationEndsTheOtherChecks() async throws {
        try replace("[device]\n", with: "[device]\nprot = 1\n")
        let (status, checks, _) = try await doctor()
        #expect(status == 1)
        expect(checks, "configuration", "failed", "unknown key prot")
        expect(checks, "callbacks", "not_checked", "configuration was not read")
        let missing = try await sakerServer("doctor", "--config", home + "/none.toml")
        #expect(missing.status == 1 && missing.output.contains("does not exist"))
    }

    @Test func certificatesAreJudgedAsAgentsJudgeThem() async throws {
        // For another name, of another authority, and with the wrong key.
        try replace("host = \"127.0.0.1\"", with: "host = \"tracks.example.net\"")
        expect(try await doctor().checks, "certificates", "failed", "tracks.example.net")
        let other = directory.path + "/other"
        let made = try await run(serverPath, ["init", "--directory", other, "--host", "tracks.example.net"])
        try #require(made.status == 0, "\(made.errors)")
        for name in ["server.pem", "server-key.pem"] {
            try FileManager.default.removeItem(atPath: "\(home)/\(name)")
            try FileManager.default.copyItem(atPath: "\(other)/\(name)", toPath: "\(home)/\(name)")
        }
        expect(try await doctor().checks, "certificates", "failed", "agents would refuse the chain")
        try FileManager.default.removeItem(atPath: home + "/ca.pem")
        try FileManager.default.copyItem(atPath: other + "/ca.pem", toPath: home + "/ca.pem")
        let sound = try await doctor().checks
        #expect(sound["certificates"]?["found"]?.stringValue?.contains("web_address") != true, "\(sound)")
        try "nonsense".write(toFile: home + "/server-key.pem", atomically: true, encoding: .utf8)
        expect(try await doctor().checks, "certificates", "failed", "private key")
    }

    @Test func aStoreThatIsDamagedGoneOrLockedIsTold() async throws {
        let holder = try RunningProcess(
            "python3",
            [
                "-c",
                """
                import signal, sqlite3, sys
                c = sqlite3.connect(sys.argv[1], isolation_level=None)
                c.execute("BEGIN IMMEDIATE")
                open(sys.argv[2], "w").write("x")
                signal.pause()
                """, store, home + "/held",
            ])
        _ = try await eventually { FileManager.default.contents(atPath: home + "/held") }
        expect(try await doctor().checks, "store", "failed", "locked for 5 s")
        holder.send(SIGKILL)
        _ = try await holder.result()
        // Pages of its middle are noise.
        let file = try #require(FileHandle(forUpdatingAtPath: store))
        let size = try file.seekToEnd()
        for offset in stride(from: UInt64(8192), to: size, by: 4096) {
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data((0..<512).map { _ in UInt8.random(in: 0...255) }))
        }
        try file.close()
        let (status, checks, _) = try await doctor()
        #expect(status == 1)
        expect(checks, "store", "failed", "")
        try FileManager.default.removeItem(atPath: store)
        expect(try await doctor().checks, "store", "failed", "there is no store")
    }

    @Test func urlsOfAlarmsAreTried() async throws {
        let receiver = try await CallbackReceiver { number, _ in number == 0 ? .taken : .status(500) }
        try replace("[callbacks]\n", with: "[callbacks]\nprivate_addresses = true\n")
        let settings = try ServerConfiguration.load(path: configuration)
        let open = try await StoreFactory.openForCommand(settings.store).store
        let service = try #require(ServiceID(rawValue: 1))
        try await open.setCallback(
            CallbackTarget(url: "http://127.0.0.1:\(receiver.port)/hidden", secret: "s"), of: service)
        try await open.close()
        let (status, checks, _) = try await doctor()
        #expect(status == 0, "\(checks)")
        expect(checks, "callbacks", "ok", "service 1: http://127.0.0.1:\(receiver.port) takes alarms, 0 alarms wait")
        #expect(receiver.requests.map { $0.value?["type"]?.integerValue } == [1])
        let failed = try await doctor()
        #expect(failed.status == 1)
        expect(failed.checks, "callbacks", "failed", "does not take alarms")
        #expect(!"\(failed.checks)".contains("hidden"))
        await receiver.close()
        expect(try await doctor().checks, "callbacks", "failed", "no connection")
    }

    /// A real engine with a small map, and vehicles inside and outside of it.
    @Test(.needs(.recordings(["roads/andorra.osm.pbf"]), .valhalla)) func aRealEngineIsAskedForRoads() async throws {
        let engine = try Valhalla("roads/andorra.osm.pbf")
        try replace("# url = \"http://127.0.0.1:8002\"", with: "url = \"\(engine.url)\"")
        expect(try await doctor().checks, "roads", "ok", "Valhalla 3.9.1 answers")
        expect(try await doctor().checks, "tiles", "ok", "no vehicle has a position yet")
        for (name, place, verdict, text) in [
            ("in", "42.5063,1.5218", "ok", "all of the 1 latest"), ("out", "52.1,5.1", "warning", "1 of the 2 latest"),
        ] {
            try await add(name, place)
            expect(try await doctor().checks, "tiles", verdict, text)
        }
        engine.end()
        let dead = try await doctor()
        #expect(dead.status == 1)
        expect(dead.checks, "roads", "failed", "cannot be connected to")
        #expect(dead.checks["roads"]?["remedy"]?.stringValue?.contains("valhalla-scripted") == true)
        expect(dead.checks, "tiles", "not_checked", "does not answer")
    }

    /// Stores a point through the real server.
    private func add(_ entity: String, _ place: String) async throws {
        let portsFile = home + "/ports.json"
        let server = try RunningProcess(serverPath, ["serve", "--config", configuration, "--ports-file", portsFile])
        let data = try await eventually { FileManager.default.contents(atPath: portsFile) }
        let port = try #require(try JSONDecoder().decode([String: Int].self, from: data)["http"])
        let key = try await sakerServer("service", "rotate-key", "1", "--config", configuration)
        let ak = try #require(key.output.firstMatch(of: /([0-9a-z]{32})/)).1
        let numbers = place.split(separator: ",")
        let answer = try await run(
            "curl",
            [
                "-s", "--noproxy", "*", "http://127.0.0.1:\(port)/api/v3/track/addpoint", "-d",
                "ak=\(ak)&service_id=1&entity_name=\(entity)&latitude=\(numbers[0])&longitude=\(numbers[1])"
                    + "&loc_time=1795340000&coord_type_input=wgs84",
            ])
        #expect(answer.output.hasPrefix("{\"status\":0"), "\(answer.output)")
        server.send(SIGTERM)
        _ = try await server.result()
        try FileManager.default.removeItem(atPath: portsFile)
    }
}
