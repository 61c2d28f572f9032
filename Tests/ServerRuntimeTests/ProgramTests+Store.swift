import Foundation
import ProgramTestKit
import Testing

@testable import ServerRuntime

extension ProgramTests {
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
