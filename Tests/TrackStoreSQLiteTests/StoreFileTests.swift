import Foundation
import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

@Suite struct StoreFileTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func content(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: path))
    }

    private func synchronousLevel(_ store: SQLiteTrackStore) async throws -> Int? {
        try await store.database.write { try $0.value(Int.self, "PRAGMA synchronous") }
    }

    @Test func theFileAndItsLogAreTheOwnersAlone() async throws {
        let store = try await bench.open()
        _ = try await store.createService(named: "fleet", at: .at(0))
        for suffix in ["", "-wal", "-shm"] {
            #expect(try mode(bench.path + suffix) == 0o600, "\(suffix)")
        }
    }

    @Test func everyCommitIsSyncedUnlessToldOtherwise() async throws {
        let full = try await SQLiteTrackStore(path: bench.path)
        #expect(try await synchronousLevel(full) == 2)
        try full.close()
        let normal = try await bench.open(nil, SQLiteTrackStoreOptions(synchronous: .normal))
        #expect(try await synchronousLevel(normal) == 1)
    }

    @Test func aNewerSchemaIsRefusedAndLeftAsItIs() async throws {
        try await bench.open().close()
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script("PRAGMA user_version = 99")
        file.close()
        let before = try content(bench.path)
        let error = await #expect(throws: TrackStoreError.self) { try await bench.open() }
        #expect(error?.code == .newerSchema)
        #expect(error?.detail.contains(bench.path) == true)
        #expect(error?.detail.contains("99") == true)
        #expect(try content(bench.path) == before)
    }

    @Test func aStoreOfTheFirstSchemaIsTakenFurtherWithWhatItHolds() async throws {
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.transaction {
            try file.script(Schema.steps[0])
            try file.execute("INSERT INTO service (id, name, created) VALUES (1, 'fleet', 5)")
            try file.execute(
                "INSERT INTO entity (service, name, description, created, modified) VALUES (1, 'truck', '', 6, 7)")
            try file.execute("PRAGMA user_version = 1")
            try file.execute("PRAGMA application_id = \(Schema.applicationID)")
        }
        file.close()
        let store = try await bench.open()
        let service = try #require(try await store.services().first)
        #expect(service.name == "fleet")
        let column = ColumnRecord(key: "team", type: .string, created: .at(1))
        try await store.addColumn(column, of: .entity, in: service.id)
        try await store.updateEntity(EntityChange(name: "truck", values: ["team": "north"]), in: service.id, at: .at(2))
        #expect(try await store.entity(named: "truck", in: service.id)?.values == ["team": "north"])
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func theDatabaseOfAnotherProgramIsRefusedAndLeftAsItIs() async throws {
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script("CREATE TABLE photo (id INTEGER)")
        file.close()
        let before = try content(bench.path)
        let error = await #expect(throws: TrackStoreError.self) { try await bench.open() }
        #expect(error?.code == .corrupt)
        #expect(error?.detail.contains(bench.path) == true)
        #expect(try content(bench.path) == before)
    }

    @Test(arguments: [1, 99, 100, 5000])
    func aFileThatIsNoDatabaseIsRefusedAndLeftAsItIs(length: Int) async throws {
        let text = Data(String(repeating: "this is no database ", count: 300).utf8.prefix(length))
        try text.write(to: URL(filePath: bench.path))
        let error = await #expect(throws: TrackStoreError.self) { try await bench.open() }
        #expect(error?.code == .corrupt)
        #expect(error?.detail.contains(bench.path) == true)
        #expect(try content(bench.path) == text)
    }

    @Test func anEmptyFileBecomesAStore() async throws {
        try Data().write(to: URL(filePath: bench.path))
        let store = try await bench.open()
        #expect(try await store.services() == [])
    }

    @Test func aMissingDirectoryIsNamed() async throws {
        let path = bench.folder.appending(path: "missing/tracks.sqlite").path()
        let error = await #expect(throws: TrackStoreError.self) { try await bench.open(path) }
        #expect(error?.code == .failed)
        #expect(error?.detail.contains(path) == true)
        #expect(error?.detail.contains("directory must exist") == true)
    }

    @Test func damagedPagesAreFoundAtTheStartWhenAsked() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for start in stride(from: Int64(0), to: 20_000, by: 500) {
            let points = (start..<(start + 500)).map { point($0, speed: .random(in: 0..<9000)) }
            _ = await store.ingest([upload(points, to: service)])
        }
        #expect(try await store.checkIntegrity() == [])
        try store.close()
        var bytes = try content(bench.path)
        try #require(bytes.count > 20 * 4096)
        for page in 15..<20 { bytes.replaceSubrange((page * 4096)..<(page * 4096 + 512), with: Data(count: 512)) }
        try bytes.write(to: URL(filePath: bench.path))
        let error = await #expect(throws: TrackStoreError.self) {
            try await bench.open(nil, SQLiteTrackStoreOptions(checksIntegrityAtStart: true))
        }
        #expect(error?.code == .corrupt)
        #expect(error?.detail.contains(bench.path) == true)
    }

    @Test func contradictionsBetweenRowsAreFound() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        _ = await store.ingest([upload((0..<10).map { point($0) }, to: service)])
        #expect(try await store.checkIntegrity() == [])
        let file = try SQLiteConnection(path: bench.path, .create)
        let damages = [
            "UPDATE chunk SET count = 9": "should hold 9 points",
            "UPDATE chunk SET first_time = first_time + 1": "does not begin and end",
            "UPDATE chunk SET runs = X'05'": "receive times",
            "UPDATE chunk SET payload = X'00'": "cannot be read",
            "UPDATE state SET time = time + 1": "latest point",
            "UPDATE state SET payload = X'00'": "cannot be read",
            "UPDATE state SET time = NULL": "latest",
            "UPDATE state SET version = 0": "newer than their version",
            "UPDATE counter SET value = 0": "beyond the counter",
        ]
        for (damage, sentence) in damages {
            try file.script(damage)
            let problems = try await store.checkIntegrity()
            #expect(problems.contains { $0.contains(sentence) }, "\(damage): \(problems)")
            try file.transaction {
                try file.execute("DELETE FROM chunk")
                try file.execute("DELETE FROM state")
                try file.execute("UPDATE counter SET value = 1000")
            }
            _ = await store.ingest([upload((0..<10).map { point($0) }, to: service)])
        }
        file.close()
    }

    @Test func aFileHeldByAnotherProcessIsBusy() async throws {
        let store = try await bench.open(nil, SQLiteTrackStoreOptions(busyTimeout: 0.05))
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let file = try SQLiteConnection(path: bench.path)
        try file.script("BEGIN IMMEDIATE")
        let outcomes = await store.ingest([upload([point(1)], to: service)])
        #expect(outcomes == [.failed(TrackStoreError(.busy, ""))])
        #expect(try await store.services().count == 1)
        try file.script("ROLLBACK")
        file.close()
        #expect(try await store.upload([upload([point(1)], to: service)]) == [.stored(through: 0)])
    }
}
