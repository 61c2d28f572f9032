import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// A store of the release before copies were noticed.
@Suite struct CloneMigrationTests {
    @Test func theDevicesOfSchemaSixteenGoOnAndCopiesAreNoted() async throws {
        let bench = try Workbench()
        let file = try SQLiteConnection(path: bench.path, .create)
        try Schema.migrate(file, through: 16)
        #expect(try file.value(Int.self, "PRAGMA user_version") == 16)
        try file.execute("INSERT INTO service (id, name, created) VALUES (1, 'fleet', 5)")
        try file.execute(
            """
            INSERT INTO device (id, service, state, entity, former_entities, name, key_hash, created,
                certificate_end, change, pending)
            VALUES (x'A0A0A0A0A0A0A0A0A0A0A0A0A0A0A001', 1, 0, 'van', '', '', zeroblob(32), 1000, 2000, 1, 0)
            """)
        file.close()
        let store = try await bench.open()
        #expect(try await store.checkIntegrity() == [])
        let former = try #require(try await store.device(.sample(1)))
        #expect(former.entity == "van" && former.cloned == nil)
        try await store.noteClone(of: .sample(1), at: .at(7))
        try store.close()
        let again = try await bench.open()
        #expect(try await again.device(.sample(1))?.cloned == .at(7))
        #expect(try await again.changeDevice(.sample(1), .state(.active)).cloned == nil)
    }
}
