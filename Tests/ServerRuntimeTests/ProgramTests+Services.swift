import Foundation
import ProgramTestKit
import Testing
import TrackStore

@testable import ServerRuntime

extension ProgramTests {
    /// `answer` nil: nobody answers.
    private func deleteService(_ arguments: [String], answer: String?) async throws -> ProcessResult {
        let input = directory.path + "/answer"
        try (answer ?? "").write(toFile: input, atomically: true, encoding: .utf8)
        return try await run(
            "/bin/sh",
            [
                "-c", "c=$1 i=$2; shift 2; exec \"$0\" service delete --config \"$c\" \"$@\" < \"$i\"", serverPath,
                configuration, input,
            ] + arguments)
    }

    @Test func aServiceIsDeletedAfterAQuestionWhileTheServerRuns() async throws {
        _ = try await makeServer()
        func create(_ name: String) async throws -> String {
            try key(in: try await sakerServer("service", "create", "--config", configuration, name).output)
        }
        try await serve { _, ports in
            let (gone, kept) = (try await create("gone"), try await create("kept"))
            func ask(_ key: String, _ service: Int, _ call: String = "entity/list") async throws -> String {
                let answer = try await curl(ports, call, "ak=\(key)&service_id=\(service)&entity_name=van")
                return String(answer.prefix { $0 != "," && $0 != "}" })
            }
            for (key, service) in [(gone, 2), (kept, 3)] {
                #expect(try await ask(key, service, "entity/add") == "{\"status\":0")
            }
            let silent = try await deleteService(["2"], answer: nil)
            #expect(silent.status == 2 && silent.errors.contains("--yes"), "\(silent.errors)")
            #expect(silent.output.contains("Service 2, \"gone\", has 1 entity, 0 points, 1 key and 0 devices."))
            let wrong = try await deleteService(["2"], answer: "yes\n")
            #expect(wrong.status == 1 && wrong.errors.contains("nothing is deleted"), "\(wrong.errors)")
            #expect(try await ask(gone, 2) == "{\"status\":0")

            let deleted = try await deleteService(["2"], answer: "2\n")
            #expect(deleted.status == 0, "\(deleted.errors)")
            #expect(deleted.output.hasSuffix("Service 2 is deleted.\n"), "\(deleted.output)")
            #expect(try await ask(gone, 2) == "{\"status\":200")
            #expect(try await ask(kept, 3) == "{\"status\":0")
            let list = try await sakerServer("service", "list", "--config", configuration)
            #expect(!list.output.contains("gone") && list.output.contains("kept"), "\(list.output)")
            let again = try await deleteService(["2", "--yes"], answer: nil)
            #expect(again.status == 0 && again.output.contains("was deleted before"), "\(again.output)")
            let missing = try await deleteService(["7", "--yes"], answer: nil)
            #expect(missing.status == 1 && missing.errors.contains("service list"), "\(missing.errors)")
            #expect(try await sakerServer("service", "keys", "--config", configuration, "2").status == 1)
            let next = try await sakerServer("service", "create", "--config", configuration, "next")
            #expect(next.output.hasPrefix("Service 4,"), "\(next.output)")
        }
    }

    /// As after a kill between the first transaction of the command and its last.
    @Test func theServerGoesOnWithADeletionThatWasCut() async throws {
        _ = try await makeServer()
        let place = try ServerConfiguration.load(path: configuration).store
        let store = try await StoreFactory.openForCommand(place).store
        let service = try #require(try await store.services().first?.id)
        for number in 0..<40 {
            try await store.addEntity(NewEntity(name: "van_\(number)"), in: service, at: SystemClock.now())
        }
        try await store.deleteService(service)
        _ = try await store.removeDeletedServices(limit: 5)
        #expect(try await store.counts().entities > 0)
        try await store.close()
        try await serve { _, _ in
            let look = try await StoreFactory.openForCommand(place).store
            _ = try await eventually { try await look.counts().entities == 0 ? true : nil }
            try await look.close()
        }
        let check = try await StoreFactory.openForCommand(place).store
        #expect(try await check.removeDeletedServices(limit: 5) == 0)
        #expect(try await check.checkIntegrity() == [])
        try await check.close()
    }

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

    @Test func aServiceSaysHowLongItsPointsAreKept() async throws {
        _ = try await makeServer()
        func service(_ arguments: String...) async throws -> ProcessResult {
            try await run(serverPath, ["service", arguments[0], "--config", configuration] + arguments.dropFirst())
        }
        #expect(try await service("list").output.contains("keeps") == false)
        #expect(try await service("retention", "1", "90").output == "Service 1 keeps its points for 90 days\n")
        #expect(try await service("list").output.contains("keeps points for 90 days"))
        #expect(try await service("retention", "1", "forever").output == "Service 1 keeps its points for ever\n")
        #expect(try await service("list").output.contains("keeps points for ever"))
        #expect(try await service("retention", "1", "default").output == "Service 1 keeps its points for ever\n")
        for wrong in ["0", "soon", "36501"] {
            let refused = try await service("retention", "1", wrong)
            #expect(refused.status == 2 && refused.errors.contains("\"\(wrong)\" is no time"), "\(refused.errors)")
        }
        #expect(try await service("retention", "9", "90").status == 1)
    }

    @Test func aServiceSaysHowItsClientsAreAnswered() async throws {
        _ = try await makeServer()
        func answers(_ arguments: String...) async throws -> ProcessResult {
            try await run(serverPath, ["service", "answers", "--config", configuration] + arguments)
        }
        #expect(try await answers("1").output == "Service 1: vertexes default, unknown-entity default\n")
        #expect(
            try await answers("1", "--vertexes", "text").output
                == "Service 1: vertexes text, unknown-entity default\n")
        #expect(
            try await answers("1", "--unknown-entity", "0").output == "Service 1: vertexes text, unknown-entity 0\n")
        let list = try await run(serverPath, ["service", "list", "--config", configuration])
        #expect(list.output == "ID  NAME   OPTIONS\n 1  Fleet  vertexes text, unknown-entity 0\n", "\(list.output)")
        #expect(
            try await answers("1", "--vertexes", "default", "--unknown-entity", "default").output
                == "Service 1: vertexes default, unknown-entity default\n")
        let refused = try await answers("1", "--vertexes", "array")
        #expect(refused.status == 2, "\(refused.status)")
        #expect(
            refused.errors.contains("--vertexes \"array\": it must be objects, text or default"), "\(refused.errors)")
        #expect(try await answers("9", "--vertexes", "text").status == 1)
    }
}
