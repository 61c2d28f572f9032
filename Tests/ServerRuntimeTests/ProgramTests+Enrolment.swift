import ConfigurationFile
import Foundation
import ProgramTestKit
import Testing
import TrackStore

@testable import ServerRuntime

// Tokens and claims with the real server.
extension ProgramTests {
    /// A server whose line names ports, although the kernel chooses them.
    private func makeEnrollingServer() async throws {
        _ = try await makeServer()
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try text.replacingOccurrences(
            of: "[enrollment]\n", with: "[enrollment]\nport = 7443\nweb_address = \"https://127.0.0.1:8443\"\n"
        ).write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    private func token(_ arguments: String...) async throws -> ProcessResult {
        try await run(serverPath, ["token", arguments[0], "--config", configuration] + arguments.dropFirst())
    }

    private func line(of result: ProcessResult) throws -> EnrolmentString {
        try EnrolmentString(
            decoding: String(try #require(result.output.firstMatch(of: /\nsaker2:[A-Za-z0-9_-]+\n/)).output))
    }

    /// The body of a claim with a key of its own, in a file.
    private func body(_ number: Int, _ line: EnrolmentString, _ entity: String) async throws -> String {
        let (request, file) = ("\(directory.path)/\(number).csr", "\(directory.path)/\(number).json")
        let made = try await run(
            "openssl",
            [
                "req", "-new", "-nodes", "-subj", "/CN=saker", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-keyout", "\(directory.path)/\(number).key", "-out", request,
            ])
        try #require(made.status == 0, "\(made.errors)")
        guard case .token(let secret) = line.credential else { throw Missing() }
        let claim = [
            "token": secret.revealed, "request": try String(contentsOfFile: request, encoding: .utf8),
            "entity": entity, "serial": "S\(number)", "machine": String(repeating: "0a", count: 32),
        ]
        try JSONEncoder().encode(claim).write(to: URL(fileURLWithPath: file))
        return file
    }

    private struct Missing: Error {}

    private func claim(_ body: String, _ port: Int?, _ path: String = "claim") async throws -> [String: String] {
        let result = try await run(
            "curl",
            [
                "-s", "--cacert", home + "/ca.pem", "--data", "@\(body)", "-H", "Content-Type: application/json",
                "https://127.0.0.1:\(port ?? 0)/enrol/v1/\(path)",
            ])
        let answer = try? JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        return (answer ?? [:]).mapValues { "\($0)" }
    }

    @Test func tokensAreMadeListedAndRevoked() async throws {
        try await makeEnrollingServer()
        let made = try await token(
            "create", "1", "--uses", "3", "--name", "van-{serial}", "--approve", "ask", "--note", "spring")
        #expect(made.status == 0, "\(made.errors)")
        let line = try line(of: made)
        #expect(line.host == "127.0.0.1" && line.port == 8443)
        let authority = try await run(
            "/bin/bash",
            [
                "-c",
                "openssl x509 -in \(home)/ca.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -r",
            ])
        guard case .pinnedKey(let pin) = line.trust else { throw Missing() }
        #expect(authority.output.hasPrefix(pin.map { String(format: "%02x", $0) }.joined()))
        let list = try await token("list")
        #expect(
            list.output.contains(/1 +1 +valid +0 of 3 +20[0-9-]+T[0-9:]+Z +ask +van-\{serial\} +spring\n/), "\(list)")
        #expect(try await token("revoke", "1").output == "Token 1 is revoked\n")
        #expect(try await token("list", "1").output.contains("revoked"))
        #expect(try await token("revoke", "2").errors.contains("there is no token 2"))
        for (arguments, words) in [
            (["create", "9"], "service"), (["create", "1", "--uses", "0"], "--uses"),
            (["create", "1", "--uses", "2", "--name", "van"], "{number}"),
            (["create", "1", "--name", "{plate}"], "{serial}"), (["create", "1", "--until", "x"], "--until"),
            (["create", "1", "--until", "2020-01-01"], "past"), (["create", "1", "--approve", "me"], "auto, ask"),
            (["create", "1", "--approve", "list=/none"], "/none"),
        ] {
            let result = try await run(
                serverPath, ["token", arguments[0], "--config", configuration] + arguments.dropFirst())
            #expect(result.status != 0 && result.errors.contains(words), "\(arguments): \(result.errors)")
            #expect(!result.output.contains("saker2:"))
        }
        #expect(try await token("list").output.split(separator: "\n").count == 2)
    }

    @Test func aVehicleClaimsWaitsAndIsApproved() async throws {
        try await makeEnrollingServer()
        let line = try line(of: try await token("create", "1", "--approve", "ask"))
        try await serve { _, ports in
            let body = try await body(1, line, "van_07")
            #expect(try await claim(body, ports["https"])["status"] == "pending")
            let listed = try await run(serverPath, ["device", "list", "--config", configuration, "--state", "pending"])
            #expect(
                listed.output.contains(/[0-9a-f-]{36} +van_07 +pending +offline +never +1 +- +never/),
                "\(listed.output)")
            let approved = try await run(serverPath, ["device", "approve", "--config", configuration, "van_07"])
            #expect(approved.status == 0, "\(approved.errors)")
            let issued = try await claim(body, ports["https"])
            #expect(issued["status"] == "issued" && issued["port"] == "7443", "\(issued)")
            let pem = directory.path + "/van.pem"
            let certificate = try #require(issued["certificate"])
            try certificate.write(toFile: pem, atomically: true, encoding: .utf8)
            let verified = try await run(
                "openssl", ["verify", "-CAfile", home + "/device-ca.pem", "-purpose", "sslclient", pem])
            #expect(verified.status == 0, "\(verified.output)")
            #expect(issued["authority"] == (try String(contentsOfFile: home + "/ca.pem", encoding: .utf8)))
            let plain = try await run(
                "curl", ["-s", "--data", "@\(body)", "http://127.0.0.1:\(ports["http"] ?? 0)/enrol/v1/claim"])
            #expect(plain.output.contains("plain_http"), "\(plain.output)")
            let revoked = try await run(serverPath, ["device", "revoke", "--config", configuration, "--token", "1"])
            #expect(revoked.output.contains("(van_07) is revoked"), "\(revoked)")
            #expect(try await claim(body, ports["https"])["code"] == "device_revoked")
        }
    }

    /// Whatever was lost with the server, each box is one device afterwards, and a use was counted for each.
    @Test func aServerThatIsKilledAmongClaimsMakesEachDeviceOnce() async throws {
        try await makeEnrollingServer()
        let line = try line(of: try await token("create", "1", "--uses", "12"))
        var bodies: [String] = []
        for number in 0..<12 { bodies.append(try await body(number, line, "van \(number)")) }
        for round in 0..<3 {
            let ports = directory.path + "/ports\(round).json"
            let server = try RunningProcess(serverPath, ["serve", "--config", configuration, "--ports-file", ports])
            let port = try await eventually { () -> Int? in
                guard let data = FileManager.default.contents(atPath: ports) else { return nil }
                return try JSONDecoder().decode([String: Int].self, from: data)["https"]
            }
            await withTaskGroup(of: Void.self) { group in
                for body in bodies { group.addTask { _ = try? await claim(body, port) } }
                // After the first answer, in the middle of the others.
                _ = await group.next()
                server.send(SIGKILL)
            }
            _ = try await server.result()
        }
        try await serve { _, ports in
            var devices: Set<String> = []
            for body in bodies {
                let answer = try await claim(body, ports["https"])
                #expect(answer["status"] == "issued", "\(answer)")
                devices.insert(try #require(answer["device"]))
            }
            #expect(devices.count == 12)
        }
        #expect(try await token("list").output.contains("12 of 12"))
    }
}
