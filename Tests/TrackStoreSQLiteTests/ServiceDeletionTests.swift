import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// The deletion of a service row by row, and beside others.
@Suite struct ServiceDeletionTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    /// Rows of a table with a column `service`; of a table with a column `entity`, those of entities of the service.
    private func rows(of service: ServiceID, in store: SQLiteTrackStore) async throws -> [String: Int] {
        try await store.database.read { database in
            var counts: [String: Int] = [:]
            let tables = try database.values(
                String.self,
                """
                SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table' AND c.name = 'service' AND m.name NOT IN ('service', 'change')
                """)
            for table in tables {
                let state = table == "device" ? "AND state <> 2" : ""
                counts[table] = try database.value(
                    Int.self, "SELECT COUNT(*) FROM \(table) WHERE service = ? \(state)",
                    [service.rawValue])
            }
            return counts
        }
    }

    private func count(_ table: String, in store: SQLiteTrackStore) async throws -> Int {
        try await store.database.read { try $0.value(Int.self, "SELECT COUNT(*) FROM \(table)") ?? -1 }
    }

    @Test func oneCallRemovesNoMoreRowsThanItMayAndAnotherProcessGoesOn() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for start in Int64(0)..<40 { _ = await store.ingest([upload([point(start * 10)], to: service)]) }
        try await store.deleteService(service)
        var left = try await count("chunk", in: store)
        try #require(left == 40)
        for _ in 0..<3 {
            _ = try await store.removeDeletedServices(limit: 7)
            let now = try await count("chunk", in: store)
            #expect(now == left - 7)
            left = now
        }
        // As after a kill: nothing of the process that began is there.
        try store.close()
        let next = try await bench.open()
        #expect(try await next.services() == [])
        #expect(try await next.deletedServices(among: [service]) == [service])
        while try await next.removeDeletedServices(limit: 7) > 0 {}
        #expect(try await next.counts() == StoreCounts(services: 0, entities: 0, chunks: 0, points: 0))
        #expect(try await rows(of: service, in: next).values.allSatisfy { $0 == 0 })
        #expect(try await count("entity_text_docsize", in: next) == 0)
        #expect(try await next.checkIntegrity() == [])
        #expect(try await next.createService(named: "next", at: .at(0)).id > service)
    }

    @Test func aStoreThatRemembersTheServiceHearsOfItsDeletion() async throws {
        let (store, other) = (try await bench.open(), try await bench.open())
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        #expect(await store.ingest([upload([point(1)], to: service)]).map(\.withoutVersion) == [.stored(through: 0)])
        try await other.deleteService(service)
        #expect(
            await store.ingest([upload([point(2)], to: service)]) == [.failed(TrackStoreError(.unknownService, ""))])
        while try await other.removeDeletedServices(limit: 100) > 0 {}
        #expect(
            await store.ingest([upload([point(3)], to: service)]) == [.failed(TrackStoreError(.unknownService, ""))])
        #expect(try await store.counts().points == 0)
    }

    /// The merging of one process must not wait for, or stumble over, chunks that another one is removing.
    @Test func mergingLeavesTheChunksOfADeletedServiceAlone() async throws {
        let (store, other) = (try await bench.open(), try await bench.open())
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let kept = try await store.createService(named: "kept", at: .at(0)).id
        for start in Int64(0)..<60 {
            for id in [service, kept] { _ = await store.ingest([upload([point(start * 10)], to: id)]) }
        }
        try await other.deleteService(service)
        _ = try await other.removeDeletedServices(limit: 5)
        #expect(try await store.merge(limit: 1000) == 60)
        while try await other.removeDeletedServices(limit: 5) > 0 { _ = try await store.merge(limit: 1000) }
        #expect(try await everything(store, kept).count == 60)
        #expect(try await store.checkIntegrity() == [])
    }

    /// New points use the room: the file is no larger than before.
    @Test func theRoomOfADeletedServiceIsUsedAgain() async throws {
        let store = try await bench.open()
        func fill(_ service: ServiceID) async {
            for start in Int64(0)..<40 {
                let points = (0..<500).map { point(start * 500 + $0) }
                _ = await store.ingest([upload(points, to: service)])
            }
        }
        func pages() async throws -> Int {
            try await store.database.read { try $0.value(Int.self, "PRAGMA page_count") ?? -1 }
        }
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        await fill(service)
        let before = try await pages()
        try #require(before > 50)
        try await store.deleteService(service)
        while try await store.removeDeletedServices(limit: 100) > 0 {}
        await fill(try await store.createService(named: "next", at: .at(0)).id)
        #expect(try await pages() <= before + before / 10)
    }

    @Test func theServicesOfSchemaSeventeenGoOn() async throws {
        let file = try SQLiteConnection(path: bench.path, .create)
        try Schema.migrate(file, through: 17)
        try file.execute("INSERT INTO service (id, name, created) VALUES (1, 'fleet', 5)")
        file.close()
        let store = try await bench.open()
        let service = try #require(ServiceID(rawValue: 1))
        #expect(try await store.services().map(\.name) == ["fleet"])
        #expect(try await store.deletedServices(among: [service]) == [])
        try await store.deleteService(service)
        while try await store.removeDeletedServices(limit: 100) > 0 {}
        #expect(try await store.createService(named: "next", at: .at(0)).id.rawValue == 2)
        #expect(try await store.checkIntegrity() == [])
    }

    /// Each step runs all statements again. One that reads a whole table would make the deletion of a large service last for
    /// ever, and hold the writers meanwhile.
    @Test func noStatementOfTheRemovalReadsAWholeTable() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        _ = await store.ingest([upload([point(1)], to: service)])
        let push = NewPush(type: 65, body: "{}", targets: .service, lifetime: 60_000)
        _ = try await store.queuePush(push, in: service, at: .at(3))
        let token = NewToken(
            hash: TokenHash(of: "token"), service: service, uses: 9, end: nil, pattern: .wish,
            approval: .listed(["s1", "s2"]), note: "")
        _ = try await store.addToken(token, at: .at(0))
        try await store.addDevice(DeviceRecord.sample(1, in: service, entity: "bus"))
        try await store.deleteService(service)
        let told = Statements()
        try await store.database.write { database in
            (database as? SQLiteConnection)?.observer = { told.all.insert($0) }
        }
        while try await store.removeDeletedServices(limit: 100) > 0 {}
        try await store.database.write { database in
            (database as? SQLiteConnection)?.observer = nil
            let statements = told.all.filter { $0.hasPrefix("SELECT") || $0.hasPrefix("DELETE") }
            #expect(statements.count { $0.hasPrefix("DELETE") } >= 20, "\(statements)")
            for sql in statements where !sql.contains("FROM service WHERE deletion") {
                #expect(try scans(of: sql, database) == [], "\(sql)")
            }
            // What SQLite looks for itself, before a row goes that others may name.
            let references = try database.rows(
                """
                SELECT m.name, group_concat(f."from" || ' = 1', ' AND ') FROM sqlite_master m
                JOIN pragma_foreign_key_list(m.name) f
                WHERE m.type = 'table' AND f."table" NOT IN ('service', 'district') GROUP BY m.name, f.id
                """
            ) { row in try "SELECT 1 FROM \(row[0] as String) WHERE \(row[1] as String)" }
            #expect(references.count > 10)
            for sql in references {
                #expect(try scans(of: sql, database) == [], "\(sql)")
            }
        }
    }

    /// The lines of SQLite's plan that read a table or an index from its beginning to its end.
    private func scans(of sql: String, _ database: any SQLConnection) throws -> [String] {
        let plan = try database.statement("EXPLAIN QUERY PLAN " + sql)
        return try plan.rows(SQLParameters(repeating: nil, count: plan.parameterCount)) { try $0[3] as String }.filter {
            $0.hasPrefix("SCAN")
        }
    }

    /// A fleet that is gone leaves one row for each device for ever, so they must not be read again in each step.
    @Test func devicesThatAreGoneAreNotReadAgain() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for number in UInt8(1)...50 {
            try await store.addDevice(DeviceRecord.sample(number, in: service, entity: "bus \(number)"))
        }
        try await store.deleteService(service)
        var steps = 0
        while try await store.removeDeletedServices(limit: 10) > 0 { steps += 1 }
        #expect(steps == 6)
        let rows = try await store.database.read { database in
            try database.value(
                Int.self,
                "SELECT COUNT(*) FROM device INDEXED BY device_of_entity WHERE service = ? AND entity > ''",
                [service.rawValue])
        }
        #expect(rows == 0)
        #expect(try await count("device", in: store) == 50)
    }
}

/// Set on the store's writing connection, read while it rests.
private final class Statements: @unchecked Sendable {
    var all: Set<String> = []
}
