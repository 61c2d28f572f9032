import Foundation
import SQLDatabase
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit

/// Files that vanish under a running store, and files that are not there when it is opened.
@Suite struct LostFileTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    private func code(_ body: () async throws -> Void) async -> TrackStoreError? {
        await #expect(throws: TrackStoreError.self) { try await body() }
    }

    @Test(arguments: ["", "-wal"]) func nothingIsToldAsStoredWithoutItsFile(_ suffix: String) async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        #expect(await store.ingest([upload([point(1)], to: service)]).map(\.isKept) == [true])
        let file = bench.path + suffix
        try FileManager.default.linkItem(atPath: file, toPath: file + "-kept")
        try FileManager.default.removeItem(atPath: file)
        func refuses(_ what: Comment) async throws {
            let outcomes = await store.ingest([upload([point(2)], to: service)])
            #expect(outcomes == [.failed(TrackStoreError(.missing, ""))], what)
            let opening = await code { _ = try await store.storedThrough(StreamID(high: 1, low: 1), in: service) }
            #expect(opening?.code == .missing, what)
            #expect(opening?.detail.contains(file) == true, what)
            #expect(await code { _ = try await store.createService(named: "x", at: .at(1)) }?.code == .missing, what)
        }
        try await refuses("removed")
        // Another file of this name is not the store's.
        try Data().write(to: URL(filePath: file))
        try await refuses("replaced")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: file + "-kept", toPath: file)
        #expect(await store.ingest([upload([point(3)], to: service)]).map(\.isKept) == [true])
        #expect(try await store.checkIntegrity() == [])
    }

    @Test(arguments: ["", "-wal"]) func aFileThatIsEmptiedIsLost(_ suffix: String) async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for number in Int64(1)...3 {
            #expect(await store.ingest([upload([point(number)], to: service)]).map(\.isKept) == [true])
        }
        let file = bench.path + suffix
        #expect(truncate(file, 0) == 0)
        // SQLite writes behind the hole, and the file grows.
        for number in Int64(4)...6 {
            let outcomes = await store.ingest([upload([point(number)], to: service)])
            #expect(outcomes == [.failed(TrackStoreError(.missing, ""))])
        }
        let opening = await code { _ = try await store.storedThrough(StreamID(high: 1, low: 1), in: service) }
        #expect(opening?.code == .missing && opening?.detail.contains("emptied") == true)
    }

    /// A backup program may do so, and `saker-server push` when it ends.
    @Test func aLogThatAnotherProgramMovesIntoTheFileIsNotLost() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        #expect(await store.ingest([upload([point(1)], to: service)]).map(\.isKept) == [true])
        let other = try SQLiteConnection(path: bench.path, .create)
        try other.checkpoint()
        let size = try FileManager.default.attributesOfItem(atPath: bench.path + "-wal")[.size] as? Int
        #expect(size == 0)
        #expect(await store.ingest([upload([point(2)], to: service)]).map(\.isKept) == [true])
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func aStoreIsMadeOnlyWhereItMayBe() async throws {
        let options = SQLiteTrackStoreOptions(synchronous: .normal, makesMissing: false)
        let missing = await code { _ = try await bench.open(nil, options) }
        #expect(missing?.code == .missing)
        #expect(missing?.detail.contains("there is no store at \(bench.path)") == true)
        #expect(missing?.detail.contains("saker-server init") == true)
        #expect(!FileManager.default.fileExists(atPath: bench.path))

        try Data().write(to: URL(filePath: bench.path))
        let empty = await code { _ = try await bench.open(nil, options) }
        #expect(empty?.code == .missing)
        #expect(empty?.detail.contains("0 bytes") == true)
        #expect(try Data(contentsOf: URL(filePath: bench.path)).isEmpty)

        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script("CREATE TABLE t (a); DROP TABLE t")
        file.close()
        let bare = await code { _ = try await bench.open(nil, options) }
        #expect(bare?.code == .missing)
        #expect(bare?.detail.contains("no tables") == true)

        try await bench.open().close()
        _ = try await bench.open(nil, options)
    }

    @Test func aMissingDirectoryIsAMissingStore() async throws {
        let path = bench.folder.appending(path: "none/tracks.sqlite").path()
        let options = SQLiteTrackStoreOptions(makesMissing: false)
        #expect(await code { _ = try await bench.open(path, options) }?.code == .missing)
    }
}
