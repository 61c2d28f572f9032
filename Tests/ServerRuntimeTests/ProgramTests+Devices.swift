import Foundation
import ProgramTestKit
import Testing
import TrackStore

@testable import ServerRuntime

extension ProgramTests {
    /// A request that OpenSSL makes, and the file with its key.
    private func request(_ kind: [String] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]) async throws
        -> String
    {
        let file = directory.path + "/request.pem"
        let made = try await run(
            "openssl",
            ["req", "-new", "-nodes", "-subj", "/CN=x", "-keyout", directory.path + "/key.pem", "-out", file] + kind)
        try #require(made.status == 0, "\(made.errors)")
        return file
    }

    private func add(_ request: String, _ arguments: String...) async throws -> ProcessResult {
        try await run(
            "/bin/bash",
            ["-c", "exec \"$0\" device add --config \"$1\" \"${@:3}\" < \"$2\"", serverPath, configuration, request]
                + arguments)
    }

    @Test func devicesAreAddedChangedAndForgotten() async throws {
        _ = try await makeServer()
        let csr = try await request()
        let added = try await add(csr, "1", "van_07", "--name", "AB-123-C")
        #expect(added.status == 0, "\(added.errors)")
        let number = String(
            try #require(added.errors.firstMatch(of: /Device ([0-9a-f-]{36}) is van_07 of service 1/)).1)
        let certificate = directory.path + "/van.pem"
        try added.output.write(toFile: certificate, atomically: true, encoding: .utf8)
        let shown = try await run(
            "openssl", ["x509", "-in", certificate, "-noout", "-ext", "subjectAltName,extendedKeyUsage"])
        #expect(shown.output.contains("URI:saker:device:\(number)") && shown.output.contains("TLS Web Client"))
        let verified = try await run(
            "openssl", ["verify", "-CAfile", home + "/device-ca.pem", "-purpose", "sslclient", certificate])
        #expect(verified.status == 0, "\(verified.output)")
        let twice = try await add(csr, "1", "van_08")
        #expect(
            twice.status == 1 && twice.errors.contains("this key already") && twice.output.isEmpty, "\(twice.errors)")

        func device(_ arguments: String...) async throws -> ProcessResult {
            try await run(serverPath, ["device", arguments[0], "--config", configuration] + arguments.dropFirst())
        }
        #expect(!(try await device("list").output.contains("can log in as any vehicle")))
        // The key exists, although no port can be told with it.
        let legacy = try await run(
            serverPath, ["key", "create", "--config", configuration, "1", "--legacy-device"])
        #expect(legacy.output.contains("Access key"), "\(legacy.errors)")
        let list = try await device("list")
        #expect(
            list.output.contains(
                /[0-9a-f-]{36} +van_07 +approved +offline +never +1 +20[0-9-]+T[0-9:]+Z +never +AB-123-C\n/),
            "\(list.output)")
        #expect(list.output.contains("can log in as any vehicle"), "\(list.output)")
        #expect(try await device("rename", "van_07", "XY").output == "Device \(number) has the name \"XY\"\n")
        #expect(try await device("move", String(number.prefix(6)), "van_08").output == "Device \(number) is van_08\n")
        #expect(try await device("revoke", number).output == "Device \(number) (van_08) is revoked\n")
        let show = try await device("show", "van_08")
        for text in ["revoked", "van_07", "XY", number] { #expect(show.output.contains(text), "\(show.output)") }
        #expect(try await device("approve", "van_08").status == 0)
        #expect(try await device("show", "van_07").status == 1)
        #expect(try await device("show", "zzzz").status == 1)
        #expect(try await device("move", "van_08", "a:b").status == 2)
        #expect(try await device("forget", "van_08").status == 0)
        #expect(try await device("show", number).status == 1)
        // Its key may come again, under another number.
        #expect(try await add(csr, "1", "van_07").status == 0)
    }

    @Test func aRequestThatIsNoneIsRefusedAndNothingIsAdded() async throws {
        _ = try await makeServer()
        let none = directory.path + "/none"
        try "nothing".write(toFile: none, atomically: true, encoding: .utf8)
        let tampered = directory.path + "/tampered"
        let good = try await request()
        let der = try await run(
            "/bin/bash",
            [
                "-c",
                """
                openssl req -in "$0" -outform der | head -c -4 > "$1.der"; printf 'abcd' >> "$1.der"
                openssl req -inform der -in "$1.der" -out "$1"
                """, good, tampered,
            ])
        #expect(der.status == 0, "\(der.errors)")
        let rsa = try await request(["-newkey", "rsa:1024"])
        for (file, reason) in [(none, "cannot be read"), (tampered, "signed"), (rsa, "P-256")] {
            let result = try await add(file, "1", "van")
            #expect(
                result.status == 1 && result.errors.contains(reason) && result.output.isEmpty,
                "\(reason): \(result.errors)")
        }
        #expect(try await add(good, "9", "van").status == 1)
        #expect(try await add(good, "1", "a,b").status == 2)
        let list = try await sakerServer("device", "list", "--config", configuration)
        #expect(!list.output.contains("van"), "\(list.output)")
        let again = try await sakerServer("device", "authority", "--config", configuration)
        #expect(again.status == 1 && again.errors.contains("already"))
    }

    @Test func aServerOfAnOlderVersionGetsAnAuthority() async throws {
        _ = try await makeServer()
        var text = try String(contentsOfFile: configuration, encoding: .utf8)
        text.replace("authority = \"device-ca.pem\"\n", with: "")
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        let csr = try await request()
        let without = try await add(csr, "1", "van")
        #expect(without.status == 1 && without.errors.contains("device authority"), "\(without.errors)")
        let blocked = try await sakerServer("device", "authority", "--config", configuration)
        #expect(blocked.status == 1 && blocked.errors.contains("exists already"))
        for name in ["device-ca.pem", "device-ca-key.pem"] {
            try FileManager.default.removeItem(atPath: home + "/" + name)
        }
        let made = try await sakerServer("device", "authority", "--config", configuration)
        #expect(made.status == 0 && made.output.hasSuffix("authority = \"device-ca.pem\"\n"), "\(made.errors)")
        let mode = try FileManager.default.attributesOfItem(atPath: home + "/device-ca-key.pem")[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        text.replace("[device]\n", with: "[device]\nauthority = \"device-ca.pem\"\n")
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        #expect(try await add(csr, "1", "van").status == 0)
    }
}
