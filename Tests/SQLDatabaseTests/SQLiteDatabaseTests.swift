import Dispatch
import Foundation
import ProgramTestKit
import SQLDatabase
import Synchronization
import Testing

/// One writer and many readers of a real file.
@Suite struct SQLiteDatabaseTests {
    private let directory: TemporaryDirectory
    private let database: SQLiteDatabase
    /// Counts up and never ends, so that only an interruption ends it.
    private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

    init() throws {
        directory = try TemporaryDirectory()
        let path = directory.file("a.sqlite")
        _ = try SQLiteConnection(path: path, .create)
        database = try SQLiteDatabase(path: path, busyTimeout: 5) {
            try $0.script("CREATE TABLE t (k INTEGER PRIMARY KEY)")
        }
    }

    private func insert(_ key: Int) async throws {
        try await database.write { try $0.execute("INSERT INTO t VALUES (?)", [key]) }
    }

    private func count() async throws -> Int {
        try await database.read { try $0.value(Int.self, "SELECT COUNT(*) FROM t") ?? -1 }
    }

    @Test func aReaderSeesEachFinishedCommit() async throws {
        for number in 1...200 {
            try await insert(number)
            #expect(try await count() == number)
        }
    }

    @Test func aReaderSeesOneState() async throws {
        try await insert(1)
        let (before, after) = try await database.read { [database] reader in
            let before = try reader.value(Int.self, "SELECT COUNT(*) FROM t")
            // Another connection commits meanwhile.
            let committed = Mutex(false)
            database.enqueueWrite {
                try $0.execute("INSERT INTO t VALUES (2)")
            } completion: { _ in
                committed.withLock { $0 = true }
            }
            while !committed.withLock(\.self) {}
            return (before, try reader.value(Int.self, "SELECT COUNT(*) FROM t"))
        }
        #expect((before, after) == (1, 1))
        #expect(try await count() == 2)
    }

    @Test func writesGoOneAfterTheOther() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...50 {
                group.addTask {
                    try await database.write { connection in
                        let count = try connection.value(Int.self, "SELECT COUNT(*) FROM t") ?? 0
                        try connection.execute("INSERT INTO t VALUES (?)", [number])
                        #expect(try connection.value(Int.self, "SELECT COUNT(*) FROM t") == count + 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await count() == 50)
    }

    @Test func anErrorUndoesAWrite() async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await database.write { connection in
                try connection.execute("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(try await count() == 0)
    }

    @Test func aReaderCannotWrite() async throws {
        await #expect(throws: SQLError.self) {
            try await database.read { try $0.execute("INSERT INTO t VALUES (1)") }
        }
        #expect(try await count() == 0)
    }

    @Test func theReadingOfACancelledTaskEnds() async throws {
        let begun = AsyncStream<Void>.makeStream()
        let reading = Task {
            try await database.read { connection in
                try connection.forEach(Self.endless) { _ in begun.continuation.yield() }
            }
        }
        for await _ in begun.stream { break }
        reading.cancel()
        let result = await reading.result
        #expect(throws: SQLError.self) { try result.get() }
        #expect((try? result.get()) == nil)
        // The connection is used again.
        #expect(try await count() == 0)
    }

    @Test func anInterruptionBetweenTwoStatementsEndsTheWork() async throws {
        let queue = try SQLiteQueue(path: directory.file("a.sqlite"), .readOnly, busyTimeout: 5)
        defer { queue.close() }
        let interruption = SQLiteInterruption()
        do {
            try await queue.read(interruption: interruption) { connection in
                _ = try connection.value(Int.self, "SELECT 1")
                interruption.interrupt()
                _ = try connection.value(Int.self, "SELECT 2")
            }
            Issue.record("the second statement ran")
        } catch let error as SQLError {
            #expect(error.kind == .interrupted)
        }
        #expect(try await queue.read { try $0.value(Int.self, "SELECT 3") } == 3)
    }

    /// Closing blocks its thread. When every thread that runs tasks is in `close()`, readings end all the same.
    @Test func closingNeedsNoTaskToGoOn() async throws {
        let (reading, closing, gate) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        // More than threads that run tasks.
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        let databases = try (0..<count).map { number in
            let path = directory.file("\(number).sqlite")
            _ = try SQLiteConnection(path: path, .create)
            return try SQLiteDatabase(path: path, busyTimeout: 5) { _ in }
        }
        Thread.detachNewThread {
            for _ in 0..<count { reading.wait() }
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount { closing.wait() }
            for _ in 0..<count { gate.signal() }
        }
        let begun = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for database in databases {
                group.addTask {
                    try await database.read { _ in
                        begun.continuation.yield()
                        reading.signal()
                        gate.wait()
                    }
                }
            }
            var started = begun.stream.makeAsyncIterator()
            for _ in 0..<count { await started.next() }
            for database in databases {
                group.addTask {
                    closing.signal()
                    database.close()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func closingWaitsAndThenNothingRuns() async throws {
        try await insert(1)
        _ = try await count()
        database.close()
        await #expect(throws: SQLError.self) { try await count() }
        await #expect(throws: SQLError.self) { try await insert(2) }
        database.close()
        let alone = try SQLiteConnection(path: directory.file("a.sqlite"), .readOnly)
        #expect(try alone.values(Int.self, "SELECT k FROM t") == [1])
    }
}
