import Foundation
import SQLDatabase
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// The copy of a store before its tables are changed, and migrations that were killed.
@Suite struct MigrationCopyTests {
    private let options = SQLiteTrackStoreOptions(synchronous: .normal, copiesBeforeMigration: true)

    private func copy(_ bench: Workbench) -> String { bench.path + ".before-v\(Schema.currentVersion)" }

    /// What the program of schema 4 left.
    private func former(_ bench: Workbench) async throws {
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script(SchemaFourStore.sql)
        file.close()
    }

    private func schema(_ path: String) async throws -> Int? {
        let file = try SQLiteConnection(path: path, .create)
        defer { file.close() }
        return try file.value(Int.self, "PRAGMA user_version")
    }

    @Test func aFormerStoreIsCopiedBeforeItIsChanged() async throws {
        let bench = try Workbench()
        try await former(bench)
        let store = try await bench.open(nil, options)
        #expect(store.migrationCopy == .kept(copy(bench)))
        try store.close()
        #expect(try await schema(bench.path) == Schema.currentVersion)
        #expect(try await schema(copy(bench)) == 4)
        #expect(MigrationCopy.all(of: bench.path) == [copy(bench)])
        let mode = try FileManager.default.attributesOfItem(atPath: copy(bench))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // The copy is a whole store: it opens in the place of the other.
        let again = try await bench.open(copy(bench))
        #expect(try await again.counts() == StoreCounts(services: 2, entities: 4, chunks: 5, points: 32))
        #expect(try await again.checkIntegrity() == [])
    }

    @Test func aStoreOfThisSchemaAndANewOneAreNotCopied() async throws {
        let bench = try Workbench()
        for _ in 0..<2 {
            let store = try await bench.open(nil, options)
            #expect(store.migrationCopy == .notNeeded)
            try store.close()
        }
        #expect(MigrationCopy.all(of: bench.path) == [])
    }

    /// Without room the server starts all the same, and says that there is no copy.
    @Test func whatCannotBeMadeIsSkippedWithTheReason() async throws {
        let bench = try Workbench()
        try await former(bench)
        try FileManager.default.createDirectory(atPath: copy(bench) + ".part", withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: copy(bench) + ".part/file"))
        let store = try await bench.open(nil, options)
        guard case .skipped(let reason) = store.migrationCopy else {
            Issue.record("\(store.migrationCopy)")
            return
        }
        #expect(reason.contains(".part cannot be made"), "\(reason)")
        #expect(try await store.counts().points == 32)
    }

    /// systemd is asked for time after each step.
    @Test func aLargeStoreIsCopiedInSteps() async throws {
        let bench = try Workbench()
        try await former(bench)
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script("UPDATE service SET name = hex(zeroblob(20000000)) WHERE id = 2")
        file.close()
        let steps = Steps()
        var options = options
        options.onCopying = { steps.count.withLock { $0 += 1 } }
        _ = try await bench.open(nil, options)
        #expect((2...4).contains(steps.count.withLock { $0 }))
        let copied = try SQLiteConnection(path: copy(bench), .create)
        let length = try copied.value(Int.self, "SELECT length(name) FROM service WHERE id = 2")
        #expect(length == 40_000_000)
        #expect(try copied.values(String.self, "PRAGMA integrity_check") == ["ok"])
    }

    private final class Steps: Sendable {
        let count = Mutex(0)
    }

    /// A server that starts and commands, all at once: one of them copies and changes the tables, and the others wait for it.
    @Test func processesThatOpenAFormerStoreAtOnceLeaveOneCopyFromBefore() async throws {
        let bench = try Workbench()
        try await former(bench)
        let outcomes = try await withThrowingTaskGroup(of: MigrationCopy.Outcome.self) { group in
            for _ in 0..<4 { group.addTask { try await bench.open(nil, options).migrationCopy } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .kept(copy(bench)) } == 1)
        #expect(outcomes.count { $0 == .notNeeded } == 3)
        #expect(try await schema(copy(bench)) == 4)
    }

    /// A command must not change the tables under a server of the version before.
    @Test func aFormerStoreThatAServerUsesIsRefused() async throws {
        let bench = try Workbench()
        try await former(bench)
        let asked = Steps()
        var options = options
        options.isServed = {
            asked.count.withLock { $0 += 1 }
            return true
        }
        let error = await #expect(throws: TrackStoreError.self) { try await bench.open(nil, options) }
        #expect(
            error?.code == .failed && error?.detail.contains("has schema 4") == true, "\(String(describing: error))")
        #expect(try await schema(bench.path) == 4)
        #expect(MigrationCopy.all(of: bench.path) == [])
        #expect(asked.count.withLock { $0 } == 1)
        try await bench.open(nil, self.options).close()
        // Of a store of this schema nobody asks.
        _ = try await bench.open(nil, options)
        #expect(asked.count.withLock { $0 } == 1)
    }

    /// It would take room for ever.
    @Test func theRestOfACopyGoesAlsoWhenNoneIsNeeded() async throws {
        let bench = try Workbench()
        try await bench.open(nil, options).close()
        let parts = [copy(bench), bench.path + ".before-v9"].map { $0 + ".part" }
        for part in parts { try Data("half".utf8).write(to: URL(fileURLWithPath: part)) }
        #expect(try await bench.open(nil, options).migrationCopy == .notNeeded)
        #expect(parts.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
    }

    /// The part of a copy that a kill left is replaced.
    @Test func aCopyThatWasKilledIsMadeAnew() async throws {
        let bench = try Workbench()
        try await former(bench)
        try Data("half".utf8).write(to: URL(fileURLWithPath: copy(bench) + ".part"))
        let store = try await bench.open(nil, options)
        #expect(store.migrationCopy == .kept(copy(bench)))
        #expect(try await schema(copy(bench)) == 4)
        #expect(!FileManager.default.fileExists(atPath: copy(bench) + ".part"))
    }

    /// Of an upgrade that somebody took back: the copy is made again, with what came meanwhile.
    @Test func aCopyOfTheSameSchemaIsMadeAgain() async throws {
        let bench = try Workbench()
        try await former(bench)
        try FileManager.default.copyItem(atPath: bench.path, toPath: copy(bench))
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script("UPDATE service SET name = 'newer' WHERE id = 1")
        file.close()
        _ = try await bench.open(nil, options)
        let copied = try SQLiteConnection(path: copy(bench), .create)
        let name = try copied.value(String.self, "SELECT name FROM service WHERE id = 1")
        #expect(name == "newer")
    }

    /// Killed after any step, and in the middle of it: the next start goes on, and the copy stays that from before.
    @Test(arguments: 4..<Schema.currentVersion) func aMigrationThatWasKilledGoesOn(_ reached: Int) async throws {
        let bench = try Workbench()
        try await former(bench)
        let file = try SQLiteConnection(path: bench.path, .create)
        try FileManager.default.copyItem(atPath: bench.path, toPath: copy(bench))
        let killed = bench.folder.appending(path: "killed.sqlite").path()
        try file.execute("PRAGMA journal_mode = WAL")
        try Schema.migrate(file, through: reached)
        // The next step has begun, and its transaction never ends.
        try file.script("BEGIN IMMEDIATE")
        try file.script(Schema.steps[reached])
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: bench.path + end, toPath: killed + end)
        }
        file.close()
        try FileManager.default.copyItem(
            atPath: copy(bench), toPath: killed + ".before-v\(Schema.currentVersion)")
        #expect(try await schema(killed) == reached)
        let store = try await bench.open(killed, options)
        #expect(store.migrationCopy == .kept(killed + ".before-v\(Schema.currentVersion)"))
        #expect(try await store.counts() == StoreCounts(services: 2, entities: 4, chunks: 5, points: 32))
        #expect(try await store.checkIntegrity() == [])
        #expect(try await schema(killed + ".before-v\(Schema.currentVersion)") == 4)
    }
}
