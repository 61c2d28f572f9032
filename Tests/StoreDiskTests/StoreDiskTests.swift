import CSQLite
import Foundation
import Testing

@testable import StoreDisk

/// Real SQLite on a disk that loses power. What `synchronous` promises must hold here, and no more.
@Suite final class StoreDiskTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func directory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
        return "\(root)/\(name)"
    }

    /// One connection. Deaf to errors where told: a machine without power has many.
    private final class Connection {
        private var database: OpaquePointer?

        init(_ path: String, _ synchronous: String) {
            sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
            run("PRAGMA journal_mode = WAL")
            run("PRAGMA synchronous = \(synchronous)")
        }

        deinit { sqlite3_close_v2(database) }

        @discardableResult
        func run(_ sql: String) -> Bool { sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK }

        func number(_ sql: String) -> Int64? {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
                sqlite3_step(statement) == SQLITE_ROW
            else { return nil }
            return sqlite3_column_int64(statement, 0)
        }

        func text(_ sql: String) -> String? {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
                sqlite3_step(statement) == SQLITE_ROW
            else { return nil }
            return sqlite3_column_text(statement, 0).map { String(cString: $0) }
        }
    }

    /// Commits rows until the power goes; returns how many commits returned, and how many rows the next start finds.
    private func history(_ seed: UInt64, _ synchronous: String) throws -> (
        committed: Int64, found: Int64?, sound: String?
    ) {
        var dice = StoreDisk.Dice(state: seed)
        let (before, after) = (try directory("\(seed)-\(synchronous)-a"), try directory("\(seed)-\(synchronous)-b"))
        let disk = StoreDisk(directory: before)
        defer { disk.forget() }
        var committed: Int64 = 0
        do {
            let connection = Connection("\(before)/s.sqlite", synchronous)
            connection.run("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
            connection.run("PRAGMA wal_autocheckpoint = \(1 + dice.next() % 30)")
            disk.failPower(afterCalls: Int(dice.next() % 400))
            while disk.hasPower {
                let size = dice.next() % 9000
                guard connection.run("INSERT INTO t (b) VALUES (randomblob(\(size)))") else { continue }
                committed += 1
                if dice.next() % 20 == 0 { connection.run("PRAGMA wal_checkpoint(TRUNCATE)") }
            }
            try disk.leave(in: after, seed: dice.next())
        }
        let next = StoreDisk(directory: after)
        defer { next.forget() }
        let connection = Connection("\(after)/s.sqlite", synchronous)
        return (committed, connection.number("SELECT COUNT(*) FROM t"), connection.text("PRAGMA integrity_check"))
    }

    @Test func whatWasCommittedIsThereAfterACut() throws {
        for seed in UInt64(1)...60 {
            let (committed, found, sound) = try history(seed, "FULL")
            #expect(sound == "ok", "seed \(seed)")
            // The commit during which the power went may stand or not.
            #expect(found == committed || found == committed + 1, "seed \(seed)")
        }
    }

    /// The log is cut to nothing, and no commit follows that would synchronise it: it comes back whole or not at all.
    @Test func aCutAfterTheLogWasMovedCostsNothing() throws {
        for seed in UInt64(1)...60 {
            let (before, after) = (try directory("\(seed)-moved-a"), try directory("\(seed)-moved-b"))
            let disk = StoreDisk(directory: before)
            defer { disk.forget() }
            let connection = Connection("\(before)/s.sqlite", "FULL")
            connection.run("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
            for size in 0..<30 { connection.run("INSERT INTO t (b) VALUES (randomblob(\(size * 300)))") }
            connection.run("UPDATE t SET b = randomblob(50) WHERE n % 2 = 0")
            connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
            try disk.leave(in: after, seed: seed)
            let next = Connection("\(after)/s.sqlite", "FULL")
            #expect(next.text("PRAGMA integrity_check") == "ok", "seed \(seed)")
            #expect(next.number("SELECT COUNT(*) FROM t WHERE n % 2 = 1 OR length(b) = 50") == 30, "seed \(seed)")
        }
    }

    /// The power goes during the synchronisation of a commit: the answer is an error each time, and how much was done decides
    /// whether the commit stands.
    @Test(arguments: StoreDisk.Interruption.allCases)
    func aCutDuringACommitsSynchronisation(doing interruption: StoreDisk.Interruption) throws {
        var found: Set<Int64> = []
        for seed in UInt64(1)...30 {
            let name = "\(seed)-\(interruption)"
            let (before, after) = (try directory("\(name)-a"), try directory("\(name)-b"))
            let disk = StoreDisk(directory: before)
            defer { disk.forget() }
            let connection = Connection("\(before)/s.sqlite", "FULL")
            connection.run("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
            disk.failPower(afterSynchronisations: 2, doing: interruption)
            var committed: Int64 = 0
            for _ in 0..<5 where connection.run("INSERT INTO t (b) VALUES (randomblob(9000))") { committed += 1 }
            #expect(committed == 2 && !disk.hasPower, "seed \(seed)")
            try disk.leave(in: after, seed: seed)
            let next = Connection("\(after)/s.sqlite", "FULL")
            #expect(next.text("PRAGMA integrity_check") == "ok", "seed \(seed)")
            found.insert(try #require(next.number("SELECT COUNT(*) FROM t")))
        }
        // Without a synchronisation all may stand by chance.
        #expect(found == (interruption == .everything ? [3] : [2, 3]))
    }

    @Test func aWeakerSettingLosesCommitsAndNothingElse() throws {
        var lost = 0
        for seed in UInt64(1)...60 {
            let (committed, found, sound) = try history(seed, "NORMAL")
            #expect(sound == "ok", "seed \(seed)")
            if let found, found < committed { lost += 1 }
        }
        #expect(lost > 5)
    }

    @Test func withoutSynchronisingTheFileIsDamaged() throws {
        var damaged = 0
        for seed in UInt64(1)...60 {
            let (committed, found, sound) = try history(seed, "OFF")
            if sound != "ok" || found ?? 0 < committed { damaged += 1 }
        }
        #expect(damaged > 20)
    }

    @Test func otherFilesDoNotNotice() throws {
        let disk = StoreDisk(directory: try directory("watched"))
        defer { disk.forget() }
        disk.cutPower()
        let other = Connection(try directory("other") + "/s.sqlite", "FULL")
        #expect(other.run("CREATE TABLE t (n INTEGER)") && other.run("INSERT INTO t VALUES (7)"))
        #expect(other.number("SELECT n FROM t") == 7)
        let dark = Connection("\(disk.directory)/s.sqlite", "FULL")
        #expect(!dark.run("CREATE TABLE t (n INTEGER)"))
    }

    @Test func sectorsGoBackOneByOne() {
        let size = StoreDisk.sectorBytes
        let file = StoreDisk.File(
            durableSize: 2 * size, former: [1: [UInt8](repeating: 1, count: size), 2: nil])
        let now = [UInt8](repeating: 9, count: 3 * size)
        var dice = StoreDisk.Dice(state: 1)
        var bytes = now
        StoreDisk.revert(&bytes, file, .nothing, &dice)
        #expect(bytes == [UInt8](repeating: 9, count: size) + [UInt8](repeating: 1, count: size))
        bytes = now
        StoreDisk.revert(&bytes, file, .everything, &dice)
        #expect(bytes == now)
        // A file that was made shorter has its end again.
        bytes = [UInt8](repeating: 9, count: size)
        StoreDisk.revert(&bytes, file, .nothing, &dice)
        #expect(bytes.count == 2 * size && bytes.last == 1)
        var seen: Set<[UInt8]> = []
        for _ in 0..<50 {
            bytes = now
            StoreDisk.revert(&bytes, file, .anything, &dice)
            seen.insert(bytes)
        }
        #expect(seen.count > 4)
    }
}
