import Testing
import TrackStore
import TrackTestKit

extension TrackStoreCheck: CustomTestStringConvertible {
    /// The check's sentence.
    public var testDescription: String { description }
}

@Suite struct SQLiteContractTests {
    private func run(_ check: TrackStoreCheck) async throws {
        let bench = try Workbench()
        try await check.run(bench.subject)
    }

    @Test(arguments: TrackStoreContract.services) func services(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.columns) func columns(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.entities) func entities(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.points) func points(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.pushes) func pushes(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.upkeep) func upkeep(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
}

@Suite struct ReferenceContractTests {
    private func run(_ check: TrackStoreCheck) async throws {
        try await check.run(TrackStoreSubject(encode: Workbench.encode) { ReferenceTrackStore() })
    }

    @Test(arguments: TrackStoreContract.services) func services(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.columns) func columns(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.entities) func entities(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.points) func points(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.pushes) func pushes(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
    @Test(arguments: TrackStoreContract.upkeep) func upkeep(_ check: TrackStoreCheck) async throws {
        try await run(check)
    }
}
