import ConfigurationFile
import Foundation
import ProgramTestKit
import Testing

@testable import ServerRuntime

/// The real program, from outside.
@Suite("The program", .timeLimit(.minutes(5)))
struct ProgramTests {
    let directory: TemporaryDirectory
    var home: String { directory.path + "/server" }
    var configuration: String { home + "/server.toml" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Starts it on ports of the kernel's choice and waits until it is ready.
    func serve(_ body: (RunningProcess, [String: Int]) async throws -> Void) async throws {
        let portsFile = home + "/ports.json"
        let server = try RunningProcess(serverPath, ["serve", "--config", configuration, "--ports-file", portsFile])
        let ports = try await eventually { () -> [String: Int]? in
            guard let data = FileManager.default.contents(atPath: portsFile) else { return nil }
            return try JSONDecoder().decode([String: Int].self, from: data)
        }
        try await body(server, ports)
        server.send(SIGTERM)
        let result = try await server.result()
        #expect(result.status == 0, "\(result.errors)")
        try FileManager.default.removeItem(atPath: portsFile)
    }

    func key(in output: String) throws -> String {
        String(try #require(output.firstMatch(of: /Access key \(ak\): ([0-9a-z]{32})\n/)).1)
    }

    func curl(_ ports: [String: Int], _ path: String, _ query: String) async throws -> String {
        let port = try #require(ports["https"])
        return try await run(
            "curl",
            [
                "-s", "--max-time", "20", "--noproxy", "*", "--cacert", home + "/ca.pem",
                "https://127.0.0.1:\(port)/api/v3/\(path)?\(query)",
            ]
        ).output
    }

    // MARK: init

    @Test func initMakesAServerAndRefusesToMakeItAgain() async throws {
        let result = try await run(
            serverPath,
            ["init", "--directory", home, "--name", "My fleet", "--host", "tracks.example.net", "--host", "192.0.2.7"])
        #expect(result.status == 0, "\(result.errors)")
        let modes = [
            "ca.pem": 0o644, "ca-key.pem": 0o600, "server.pem": 0o644, "server-key.pem": 0o600, "server.toml": 0o640,
            "tracks.sqlite": 0o600,
        ]
        for (name, mode) in modes {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(home)/\(name)")
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(name)")
        }
        let line = try #require(result.output.firstMatch(of: /\nsaker2:[A-Za-z0-9_-]+\n/)).output
        let enrolment = try EnrolmentString(decoding: String(line))
        #expect(enrolment.host == "tracks.example.net")
        #expect(enrolment.port == 8443)
        let authority = try String(contentsOfFile: home + "/ca.pem", encoding: .utf8)
        let served = try String(contentsOfFile: home + "/server.pem", encoding: .utf8)
        #expect(enrolment.trust == .pinnedKey(try CertificateMaker.pin(of: authority, over: served)))
        let tokens = try await sakerServer("token", "list", "--config", configuration)
        #expect(tokens.output.contains(/1 +1 +valid +0 of 100 +2/), "\(tokens.output)")
        let keys = try await sakerServer("key", "list", "--config", configuration, "1")
        #expect(keys.output.contains(/\n[0-9a-f]{12}  valid  read,write  -    20[0-9-]+T[0-9:]+Z\n$/), "\(keys.output)")
        let again = try await run(serverPath, ["init", "--directory", home, "--host", "h"])
        #expect(again.status == 1)
        #expect(again.errors.contains("exists already"))
        #expect(try String(contentsOfFile: home + "/ca.pem", encoding: .utf8) == authority)
        let check = try await sakerServer("serve", "--config", configuration, "--check")
        #expect(check.status == 0, "\(check.errors)")
    }

    /// For vehicles whose programs know no tokens.
    @Test func initMakesTheLineOfAnAccessKeyWhenItIsAskedFor() async throws {
        let result = try await run(
            serverPath, ["init", "--directory", home, "--host", "tracks.example.net", "--legacy-device"])
        #expect(result.status == 0 && !result.output.contains("saker2:"), "\(result.errors)")
        let line = try #require(result.output.firstMatch(of: /\nsaker1:[A-Za-z0-9_-]+\n/)).output
        let enrolment = try EnrolmentString(decoding: String(line))
        #expect(enrolment.host == "tracks.example.net")
        #expect(enrolment.port == 7443)
        #expect(enrolment.webAddress == "https://tracks.example.net:8443")
        #expect(enrolment.credential == .accessKey(Secret(try key(in: result.output))))
        let authority = try String(contentsOfFile: home + "/ca.pem", encoding: .utf8)
        #expect(enrolment.trust == .certificate(try CertificateMaker.der(of: authority)))
        let tokens = try await sakerServer("token", "list", "--config", configuration)
        #expect(!tokens.output.contains("valid"))
    }

    @Test(.needs(.root)) func rootMakesNoFilesInTheDirectoryOfAnotherUser() async throws {
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        try #require(chown(home, 65_534, 65_534) == 0)
        let result = try await run(serverPath, ["init", "--directory", home, "--host", "h"])
        #expect(result.status == 2)
        #expect(result.errors.contains("belongs to the user nobody") && result.errors.contains("sudo -u nobody"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: home).isEmpty)
    }

    @Test func initLeavesNothingBehindWhenItFails() async throws {
        // Port 0 cannot be told to agents: the last step fails.
        let result = try await sakerServer("init", "--directory", home, "--host", "127.0.0.1", "--device-port", "0")
        #expect(result.status == 1)
        #expect(result.errors.contains("[enrollment]"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: home).isEmpty)
    }

    @Test func wrongUsageIsTwoAndExplained() async throws {
        for arguments in [
            ["init", "--directory", home], ["init", "--directory", home, "--host", "a b"], ["nonsense"],
            ["serve", "--nonsense"],
            ["init", "--directory", home, "--host", "h", "--key", "k"],
            ["init", "--host", "h", "--device-port", "70000"],
            ["service", "create", "--config", "x"],
        ] {
            let result = try await run(serverPath, arguments)
            #expect(result.status == 2, "\(arguments)")
            #expect(!result.errors.isEmpty && result.output.isEmpty)
        }
        let help = try await sakerServer("--help")
        #expect(help.status == 0)
        #expect(help.output.contains("init"))
    }

    @Test func aMissingOrWrongConfigurationIsOneAndExplained() async throws {
        let missing = try await sakerServer("serve", "--config", home + "/none.toml")
        #expect(missing.status == 1)
        #expect(missing.errors.contains("does not exist"))
        let path = directory.path + "/wrong.toml"
        try "[device]\nprot = 1\nhost = 2\n".write(toFile: path, atomically: true, encoding: .utf8)
        let wrong = try await sakerServer("serve", "--config", path, "--check")
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains("wrong.toml:2: unknown key prot in [device]: did you mean port?"))
        #expect(wrong.errors.contains("wrong.toml:3: host = 2 is an integer"))
        try "".write(toFile: path, atomically: true, encoding: .utf8)
        let bare = try await sakerServer("serve", "--config", path)
        #expect(bare.status == 1)
        #expect(bare.errors.contains("there is no store at \(directory.path)/tracks.sqlite"))
        #expect(bare.errors.contains("saker-server init"))
    }

    @Test func theConfigurationInForceIsPrinted() async throws {
        let path = directory.path + "/server.toml"
        try "[device]\nport = 9\n".write(toFile: path, atomically: true, encoding: .utf8)
        let printed = try await sakerServer("serve", "--config", path, "--print-config")
        #expect(printed.output.contains("\nport = 9\n"))
        #expect(printed.output.contains("\nhttps_port = 8443  # default\n"))
        try printed.output.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try await sakerServer("serve", "--config", path, "--print-config").status == 0)
    }

    // MARK: the store

    @Test func aServerDoesNotMakeTheStoreThatIsGone() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
        let store = home + "/tracks.sqlite"
        try FileManager.default.removeItem(atPath: store)
        for arguments in [["serve"], ["serve", "--check"], ["service", "list"]] {
            let result = try await run(serverPath, arguments + ["--config", configuration])
            #expect(result.status == 1, "\(arguments)")
            #expect(result.errors.contains("there is no store at \(store)"), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: store))
        }
        try Data().write(to: URL(fileURLWithPath: store))
        let empty = try await sakerServer("serve", "--config", configuration)
        #expect(empty.status == 1)
        #expect(empty.errors.contains("is empty"))
    }

    // MARK: serve

    /// A server with a known key, whose ports the kernel chooses.
    func makeServer() async throws -> String {
        let made = try await run(
            serverPath, ["init", "--directory", home, "--host", "127.0.0.1", "--https-port", "0", "--http-port", "0"])
        try #require(made.status == 0, "\(made.errors)")
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try text.replacingOccurrences(of: "# port = 7443\n# Lowest", with: "port = 0\n# Lowest").write(
            toFile: configuration, atomically: true, encoding: .utf8)
        return try key(in: made.output)
    }

    @Test func itServesKeepsWhatItStoredAndEndsWhenTold() async throws {
        let key = try await makeServer()
        let account = "ak=\(key)&service_id=1"
        try await serve { server, ports in
            #expect(Set(ports.keys) == ["device", "http", "https"])
            let point = "entity_name=van&latitude=39.9&longitude=116.4&loc_time=1772677800&coord_type_input=wgs84"
            #expect(
                try await curl(ports, "track/addpoint", "\(account)&\(point)") == "{\"status\":0,\"message\":\"成功\"}")
            let port = try #require(ports["http"])
            let plain = try await run(
                "curl", ["-s", "--noproxy", "*", "http://127.0.0.1:\(port)/api/v3/entity/list?\(account)"])
            #expect(plain.output.contains("\"entity_name\":\"van\""))
            #expect(!server.errors.contains(key))
        }
        try await serve { _, ports in
            let answer = try await curl(
                ports, "track/getlatestpoint", "\(account)&entity_name=van&coord_type_output=wgs84")
            #expect(answer.contains("\"longitude\":116.4,\"latitude\":39.9"))
        }
    }

    @Test func aTakenAddressOfTheMetricsKeepsNobodyWaiting() async throws {
        _ = try await makeServer()
        let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(other) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isTaken = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(other, $0, length) == 0 && listen(other, 1) == 0 && getsockname(other, $0, &length) == 0
            }
        }
        try #require(isTaken)
        var text = try String(contentsOfFile: configuration, encoding: .utf8)
        text.replace("[metrics]\n", with: "[metrics]\nlisten = \"127.0.0.1:\(UInt16(bigEndian: address.sin_port))\"\n")
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        try await serve { server, ports in
            #expect(Set(ports.keys) == ["device", "http", "https"])
            #expect(server.errors.contains("metrics cannot be listened for"), "\(server.errors)")
        }
    }

    @Test func aSecondServerOnTheSameStoreIsRefused() async throws {
        _ = try await makeServer()
        try await serve { _, _ in
            let second = try await sakerServer("serve", "--config", configuration)
            #expect(second.status == 1)
            #expect(second.errors.contains("another saker-server"))
        }
    }

    @Test func aTakenPortIsNamed() async throws {
        _ = try await makeServer()
        try await serve { _, ports in
            let other = directory.path + "/other"
            _ = try await run(
                serverPath,
                [
                    "init", "--directory", other, "--host", "127.0.0.1", "--http-port",
                    String(try #require(ports["http"])),
                ])
            let text = try String(contentsOfFile: other + "/server.toml", encoding: .utf8)
            try text.replacingOccurrences(of: "# port = 7443\n# Lowest", with: "port = 0\n# Lowest")
                .replacingOccurrences(of: "# https_port = 8443", with: "https_port = 0")
                .write(toFile: other + "/server.toml", atomically: true, encoding: .utf8)
            let result = try await sakerServer("serve", "--config", other + "/server.toml")
            #expect(result.status == 1)
            #expect(result.errors.contains("127.0.0.1:\(ports["http"] ?? 0) cannot be listened on"))
        }
    }

    @Test func servicesAndKeysAreChangedWhileItRuns() async throws {
        let first = try await makeServer()
        // Enrolment strings need a port that agents can be told.
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try text.replacingOccurrences(of: "# port = 7443\n# The base", with: "port = 443\n# The base").write(
            toFile: configuration, atomically: true, encoding: .utf8)
        try await serve { _, ports in
            let created = try await sakerServer("service", "create", "--config", configuration, "Second fleet")
            #expect(created.status == 0, "\(created.errors)")
            let second = try key(in: created.output)
            #expect(try await curl(ports, "entity/list", "ak=\(second)&service_id=2").hasPrefix("{\"status\":3003"))
            #expect(try await curl(ports, "entity/list", "ak=\(first)&service_id=2").hasPrefix("{\"status\":4005"))
            let listed = try await sakerServer("service", "list", "--config", configuration)
            #expect(listed.output == "ID  NAME          OPTIONS\n 1  Fleet\n 2  Second fleet\n")
            let rotated = try await sakerServer("service", "rotate-key", "--config", configuration, "1")
            #expect(rotated.status == 0, "\(rotated.errors)")
            let new = try key(in: rotated.output)
            #expect(try await curl(ports, "entity/list", "ak=\(first)&service_id=1").hasPrefix("{\"status\":201"))
            #expect(try await curl(ports, "entity/list", "ak=\(new)&service_id=1").hasPrefix("{\"status\":3003"))
            // A key of clients: vehicles do not log in with it.
            #expect(!rotated.output.contains("saker1:"))
            let legacy = try await sakerServer(
                "service", "create", "--config", configuration, "--legacy-device", "Old vehicles")
            #expect(legacy.output.contains("saker1:"))
            let turned = try await sakerServer("service", "rotate-key", "--config", configuration, "3")
            let line = try #require(turned.output.firstMatch(of: /saker1:[A-Za-z0-9_-]+/)).output
            #expect(try EnrolmentString(decoding: String(line)).port == 443)
            let further = try await sakerServer("service", "rotate-key", "--config", configuration, "1", "--keep-old")
            let third = try key(in: further.output)
            let number = try #require(further.output.firstMatch(of: /disable-key`: ([0-9a-f]{12})/)).output.1
            let ended = try await sakerServer(
                "service", "disable-key", "--config", configuration, "1", String(number.prefix(6)))
            #expect(ended.output == "Service 1: the key \(number) is disabled\n", "\(ended.errors)")
            #expect(try await curl(ports, "entity/list", "ak=\(third)&service_id=1").hasPrefix("{\"status\":201"))
            #expect(try await curl(ports, "entity/list", "ak=\(new)&service_id=1").hasPrefix("{\"status\":3003"))
            let keys = try await sakerServer("service", "keys", "--config", configuration, "1")
            #expect(keys.output.contains(/\n[0-9a-f]{12}  [-0-9T:]+Z  plain  valid\n/), "\(keys.output)")
            #expect(keys.output.contains("\(number)  ") && keys.output.contains("disabled\n"), "\(keys.output)")
            _ = try await sakerServer("service", "enable-key", "--config", configuration, "1", String(number))
            #expect(try await curl(ports, "entity/list", "ak=\(third)&service_id=1").hasPrefix("{\"status\":3003"))
            let wrong = try await sakerServer("service", "disable-key", "--config", configuration, "1", third)
            #expect(wrong.status != 0 && wrong.errors.contains("service keys 1"), "\(wrong.status) \(wrong.errors)")
            let named = try await sakerServer("service", "rename", "--config", configuration, "1", "North")
            #expect(named.output == "Service 1, \"North\"\n", "\(named.errors)")
            let unknown = try await sakerServer("service", "rotate-key", "--config", configuration, "9")
            #expect(unknown.status == 1)
            let signed = try await sakerServer("service", "create", "--config", configuration, "--signed", "Signed")
            #expect(signed.output.contains("Signing key (sk): "))
            let signedKey = try key(in: signed.output)
            #expect(try await curl(ports, "entity/list", "ak=\(signedKey)&service_id=4").hasPrefix("{\"status\":211"))
        }
    }

    @Test func aRenewedCertificateIsUsedAfterAReload() async throws {
        let key = try await makeServer()
        try await serve { server, ports in
            let old = try String(contentsOfFile: home + "/server.pem", encoding: .utf8)
            let renewed = try await sakerServer(
                "certificate", "renew", "--config", configuration, "--host", "127.0.0.1", "--host", "new.example")
            #expect(renewed.status == 0, "\(renewed.errors)")
            #expect(try String(contentsOfFile: home + "/server.pem", encoding: .utf8) != old)
            server.send(SIGHUP)
            _ = try await eventually { server.errors.contains("Certificates were read anew") ? true : nil }
            let port = try #require(ports["https"])
            let named = try await run(
                "curl",
                [
                    "-s", "--noproxy", "*", "--cacert", home + "/ca.pem", "--resolve", "new.example:\(port):127.0.0.1",
                    "https://new.example:\(port)/api/v3/entity/list?ak=\(key)&service_id=1",
                ])
            #expect(named.output.hasPrefix("{\"status\":3003"))
        }
    }

    @Test func aReloadTakesTheLogLevelAndNamesWhatWaits() async throws {
        _ = try await makeServer()
        try await serve { server, _ in
            let text = try String(contentsOfFile: configuration, encoding: .utf8)
            try text.replacingOccurrences(of: "# timeout = 30", with: "timeout = 31").write(
                toFile: configuration, atomically: true, encoding: .utf8)
            server.send(SIGHUP)
            _ = try await eventually { server.errors.contains("waiting_for_restart=web.timeout") ? true : nil }
            try "nonsense".write(toFile: configuration, atomically: true, encoding: .utf8)
            server.send(SIGHUP)
            _ = try await eventually { server.errors.contains("The configuration is refused") ? true : nil }
        }
    }

    // MARK: systemd

    @Test func systemdIsToldWhenItIsReadyAliveAndEnding() async throws {
        _ = try await makeServer()
        let listener = try NotifyListener(path: directory.path + "/notify")
        let server = try RunningProcess(
            serverPath, ["serve", "--config", configuration],
            environment: ["NOTIFY_SOCKET": listener.path, "WATCHDOG_USEC": "400000"])
        _ = try await eventually { listener.received.contains("READY=1") ? true : nil }
        #expect(listener.received.contains("STATUS=listening: device "))
        _ = try await eventually { listener.received.components(separatedBy: "WATCHDOG=1").count > 3 ? true : nil }
        server.send(SIGINT)
        #expect(try await server.result().status == 0)
        _ = try await eventually { listener.received.contains("STOPPING=1") ? true : nil }
    }
}
