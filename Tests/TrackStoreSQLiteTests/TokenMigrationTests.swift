import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit

/// A store of the release before tokens.
@Suite struct TokenMigrationTests {
    @Test func theDevicesOfSchemaThirteenGoOnAndTokensAreTaken() async throws {
        let bench = try Workbench()
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script(SchemaThirteenStore.sql)
        file.close()
        let store = try await bench.open()
        #expect(try await store.checkIntegrity() == [])
        let service = try #require(ServiceID(rawValue: 1))
        let former = try await store.devices(in: service, page: Page(offset: 0, limit: 9)).devices
        #expect(former.map(\.entity) == ["truck", "van_02"])
        #expect(former.map(\.state) == [.active, .revoked])
        #expect(former.map(\.formerEntities) == [["van_01"], []])
        #expect(former.allSatisfy { $0.claim == nil && $0.issued == nil && $0.machine == nil })
        #expect(try await store.tokens(in: nil) == [])
        #expect(former.allSatisfy { $0.cloned == nil })
        // What is there may be changed, and renewed by its key.
        let truck = try #require(former.first)
        let renewal = RenewalRequest(keyHash: truck.keyHash, certificateEnd: truck.certificateEnd)
        guard case .issued(let renewed) = try await store.renew(renewal, at: truck.created) else {
            Issue.record("not renewed")
            return
        }
        #expect(renewed.issued == truck.created)
        _ = try await store.addToken(.sample(1, in: service), at: .at(1))
        let taken = try await store.claim(.sample(1, entity: "truck"), at: .at(2))
        #expect(taken.refusalCode == .entityTaken)
        // Its device was revoked: who takes its place waits for a person.
        #expect(try await store.claim(.sample(1, entity: "van_02"), at: .at(2)).refusalCode == nil)
        #expect(
            try await store.deviceCensus() == DeviceCensus(active: 1, pending: 1, revoked: 1, oldestPending: .at(2)))
        #expect(try await store.checkIntegrity() == [])
    }
}
