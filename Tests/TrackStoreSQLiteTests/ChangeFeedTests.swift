import SQLDatabase
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import StoreRecords
@testable import TrackStoreSQLite

/// The table of changes, and the devices that had its numbers before.
@Suite struct ChangeFeedTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    private func read(
        _ store: SQLiteTrackStore, after cursor: StoreCursor?, limit: Int = 20_000
    ) async throws -> StoreChanges {
        try await store.changes(of: [.access], after: cursor, at: .at(0), limit: limit)
    }

    private func note(_ count: Int, in store: SQLiteTrackStore) async throws {
        try await store.database.write { database in
            for _ in 0..<count { try ChangeTable.noteDevice(DeviceID.sample(1).bytes, database) }
        }
    }

    @Test func theTableKeepsTheNewestChangesAndAReaderThatIsFurtherBehindIsToldSo() async throws {
        let store = try await bench.open()
        let most = Int(ChangeTable.most)
        try await note(1, in: store)
        let cursor = try await read(store, after: nil).through
        try await note(most - 1, in: store)
        let all = try await read(store, after: cursor)
        #expect(all.unknown == [] && all.changes.count == most - 1)
        try await note(1, in: store)
        let missed = try await read(store, after: cursor)
        #expect(missed.unknown == [.access] && missed.changes == [])
        #expect(try await read(store, after: missed.through).unknown == [])
        let rows = try await store.database.read { try $0.value(Int.self, "SELECT COUNT(*) FROM change") }
        #expect(rows == most)
    }

    /// A backup from before the reader's last change.
    @Test func aReaderWhoseLastChangeIsNotThereIsToldSo() async throws {
        let store = try await bench.open()
        try await note(5, in: store)
        let cursor = try await read(store, after: nil).through
        try await store.database.write { try $0.execute("DELETE FROM change WHERE number > 3") }
        #expect(try await read(store, after: cursor).unknown == [.access])
    }

    /// Each column has a value that no other one has.
    @Test func theDevicesOfSchema24Stay() async throws {
        let file = try SQLiteConnection(path: bench.path, .create)
        try Schema.migrate(file, through: 24)
        let columns = """
            id, service, state, entity, former_entities, name, key_hash, created, certificate_end, seen, address,
            agent_version, pending, token, serial, model, claimed_from, issued, machine, cloned, proves
            """
        func blob(_ byte: Int, _ count: Int) -> String { "X'" + String(repeating: "0\(byte)", count: count) + "'" }
        try file.transaction {
            try file.execute("INSERT INTO service (id, name, created) VALUES (7, 'fleet', 5)")
            try file.execute(
                """
                INSERT INTO token (number, hash, service, uses, pattern, approval, note, created)
                VALUES (3, \(blob(9, 32)), 7, 1, 'van', 0, '', 5)
                """)
            try file.execute(
                """
                INSERT INTO device (\(columns), change) VALUES
                    (\(blob(1, 16)), 7, 0, 'van', 'bus', 'box', \(blob(1, 32)), 11, 12, 13, 'a', 'v', 0, 3, 's', 'm', 'c', 14,
                        \(blob(2, 32)), 15, 1, 41),
                    (\(blob(2, 16)), 7, 0, 'car', '', '', \(blob(3, 32)), 21, 22, NULL, NULL, NULL, 1, 3, NULL, '', '', NULL, NULL,
                        NULL, 0, 42),
                    (\(blob(3, 16)), 7, 2, '', '', '', NULL, 31, 32, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        0, 43)
                """)
        }
        func rows() throws -> [String] {
            try file.values(
                String.self,
                """
                SELECT json_array(\(columns.split(separator: ",").map { "quote(\($0))" }.joined(separator: ", ")))
                FROM device ORDER BY id
                """)
        }
        let before = try rows()
        try Schema.migrate(file)
        #expect(try rows() == before && before.count == 3)
        let indexes = try file.values(
            String.self, "SELECT name FROM sqlite_master WHERE tbl_name = 'device' AND sql IS NOT NULL ORDER BY name")
        #expect(indexes == ["device", "device_of_entity", "device_of_service", "device_of_token"])
        file.close()
        let store = try await bench.open()
        #expect(try await store.checkIntegrity() == [])
        #expect(
            try await store.devices(in: nil, page: Page(offset: 0, limit: 9)).devices.map(\.entity) == ["van", "car"])
    }
}
