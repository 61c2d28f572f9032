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
        let store = try await StoreFactory.openForCommand(place)
        let service = try #require(try await store.services().first?.id)
        for number in 0..<40 {
            try await store.addEntity(NewEntity(name: "van_\(number)"), in: service, at: SystemClock.now())
        }
        try await store.deleteService(service)
        _ = try await store.removeDeletedServices(limit: 5)
        #expect(try await store.counts().entities > 0)
        try await store.close()
        try await serve { _, _ in
            let look = try await StoreFactory.openForCommand(place)
            _ = try await eventually { try await look.counts().entities == 0 ? true : nil }
            try await look.close()
        }
        let check = try await StoreFactory.openForCommand(place)
        #expect(try await check.removeDeletedServices(limit: 5) == 0)
        #expect(try await check.checkIntegrity() == [])
        try await check.close()
    }
}
