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
        #expect(try await service("list").output.contains("(keeps points for 90 days)"))
        #expect(try await service("retention", "1", "forever").output == "Service 1 keeps its points for ever\n")
        #expect(try await service("list").output.contains("(keeps points for ever)"))
        #expect(try await service("retention", "1", "default").output == "Service 1 keeps its points for ever\n")
        for wrong in ["0", "soon", "36501"] {
            let refused = try await service("retention", "1", wrong)
            #expect(refused.status == 2 && refused.errors.contains("\"\(wrong)\" is no time"), "\(refused.errors)")
        }
        #expect(try await service("retention", "9", "90").status == 1)
    }
}
