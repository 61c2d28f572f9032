import Testing
import TrackStore
import TrackStoreSQLite
import TrackTestKit

extension TrackStoreCheck: CustomTestStringConvertible {
    /// The check's sentence.
    public var testDescription: String { description }
}

@Suite struct ContractTests {
    @Test(arguments: TrackStoreContract.checks)
    func theSQLiteStoreKeepsTheContract(check: TrackStoreCheck) async throws {
        let bench = try Workbench()
        try await check.run(bench.subject)
    }

    @Test(arguments: TrackStoreContract.checks)
    func theReferenceStoreKeepsTheContract(check: TrackStoreCheck) async throws {
        try await check.run(TrackStoreSubject(encode: Workbench.encode) { ReferenceTrackStore() })
    }
}
