import Foundation
import ProgramTestKit
import Testing
import TrackStore

@testable import ServerRuntime

extension ProgramTests {
    @Test func keysHaveScopesAndServicesAreImported() async throws {
        _ = try await makeServer()
        try await serve { _, ports in
            func make(_ options: String...) async throws -> String {
                let made = try await run(serverPath, ["key", "create", "--config", configuration, "1"] + options)
                #expect(made.status == 0, "\(made.errors)")
                #expect(!made.output.contains("saker1:"))
                return try key(in: made.output)
            }
            func status(_ key: String, _ path: String) async throws -> String {
                let answer = try await curl(ports, path, "ak=\(key)&service_id=1&entity_name=van")
                return String(answer.prefix { $0 != "," })
            }
            let reading = try await make("--scope", "read", "--until", "2999-01-01")
            #expect(try await status(reading, "entity/list") == "{\"status\":3003")
            #expect(try await status(reading, "entity/add") == "{\"status\":240")
            let elsewhere = try await make("--scope", "read,write", "--address", "192.0.2.0/24")
            #expect(try await status(elsewhere, "entity/list") == "{\"status\":210")
            let here = try await make("--scope", "read", "--address", "127.0.0.0/8", "--referer", "*.example.net")
            #expect(try await status(here, "entity/list") == "{\"status\":220")
            let list = try await sakerServer("key", "list", "--config", configuration, "1")
            #expect(list.output.contains(/valid +read +2999-01-01T00:00:00Z/), "\(list.output)")
            #expect(list.output.contains("read,write  from 192.0.2.0/24 "), "\(list.output)")
            #expect(list.output.contains("read  from 127.0.0.0/8  pages *.example.net "), "\(list.output)")
            #expect(list.output.contains("  read,write "), "\(list.output)")
            let number = AccessKey(reading).hash.number
            let revoked = try await sakerServer("key", "revoke", "--config", configuration, "1", number)
            #expect(revoked.output == "Service 1: the key \(number) is revoked\n", "\(revoked.errors)")
            #expect(try await status(reading, "entity/list") == "{\"status\":201")
            for wrong in [
                [], ["--scope", "all"], ["--scope", "legacy-device"], ["--scope", "read", "--until", "tomorrow"],
                ["--scope", "read", "--until", "2001-01-01"], ["--scope", "read", "--address", "here"],
                ["--scope", "read", "--referer", "http://x"], ["--legacy-device", "--signed"],
            ] {
                let result = try await run(serverPath, ["key", "create", "--config", configuration, "1"] + wrong)
                #expect(result.status == 2 && !result.errors.isEmpty, "\(wrong) \(result.output)")
            }

            func take(_ arguments: [String], _ keys: String) async throws -> ProcessResult {
                let path = directory.path + "/keys"
                try keys.write(toFile: path, atomically: true, encoding: .utf8)
                return try await run(
                    "/bin/sh",
                    [
                        "-c", "c=$1 k=$2; shift 2; exec \"$0\" service import --config \"$c\" \"$@\" < \"$k\"",
                        serverPath, configuration, path,
                    ]
                        + arguments)
            }
            let old = "AnOldKeyOfTheFleet0123456789abcd"
            let nameless = try await take(["200123"], "\(old)\n")
            #expect(nameless.status == 1 && nameless.errors.contains("--name"), "\(nameless.errors)")
            let short = try await take(["200123", "--name", "Old"], "short\n")
            #expect(short.status == 2 && !short.errors.contains("short"), "\(short.errors)")
            let imported = try await take(["200123", "--name", "Old"], "\(old)\r\n")
            #expect(imported.status == 0 && imported.output.hasPrefix("Service 200123 is made\n"), "\(imported.errors)")
            #expect(!imported.output.contains(old))
            #expect(try await curl(ports, "entity/list", "ak=\(old)&service_id=200123").hasPrefix("{\"status\":3003"))
            let signed = "ASignedKeyOfTheFleet0123456789ab"
            let second = try await take(["200123"], "\(signed)\nTheSigningKeyOfTheFleet\n")
            #expect(second.output.contains("was there already") && second.output.contains("signed"), "\(second.errors)")
            #expect(try await curl(ports, "entity/list", "ak=\(signed)&service_id=200123").hasPrefix("{\"status\":211"))
        }
    }
}
