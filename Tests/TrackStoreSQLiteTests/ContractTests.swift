import Testing
import TrackStore
import TrackTestKit

extension TrackStoreCheck: CustomTestStringConvertible {
    /// The check's sentence.
    public var testDescription: String { description }
}

@Suite struct ContractTests {
    @Test(arguments: TrackStoreContract.all) func sqlite(_ check: TrackStoreCheck) async throws {
        let bench = try Workbench()
        try await check.run(bench.subject)
    }
}
