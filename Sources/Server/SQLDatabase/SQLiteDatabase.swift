internal import Dispatch
internal import Synchronization

/// One connection and the queue on which alone it is used, so that no caller's thread is blocked.
package final class SQLiteQueue: @unchecked Sendable {
    // Unchecked, because the connection is not sendable: only blocks on the queue touch it, one after the other.
    fileprivate let connection: SQLiteConnection
    fileprivate let queue: DispatchQueue

    /// Parameters: as ``SQLiteConnection/init(path:_:busyTimeout:)``.
    package convenience init(path: String, _ access: SQLiteConnection.Access, busyTimeout: Double) throws {
        self.init(try SQLiteConnection(path: path, access, busyTimeout: busyTimeout), "saker.sqlite")
    }

    fileprivate init(_ connection: sending SQLiteConnection, _ label: String) {
        self.connection = connection
        queue = DispatchQueue(label: label)
    }

    /// Runs in one snapshot. The work of a task that is cancelled is ended, and so is what `interruption` ends.
    package func read<Value: Sendable>(
        interruption: SQLiteInterruption = SQLiteInterruption(),
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueueRead(interruption: interruption, body) { continuation.resume(with: $0) }
            }
        } onCancel: {
            interruption.interrupt()
        }
    }

    /// The same without a task: `completion` is called on the queue.
    fileprivate func enqueueRead<Value: Sendable>(
        interruption: SQLiteInterruption, _ body: @escaping @Sendable (any SQLConnection) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        queue.async { [self] in
            completion(
                Result {
                    try connection.interruptible(by: interruption) {
                        try connection.snapshot { try body(connection) }
                    }
                })
        }
    }

    /// Blocks until the calls that run have ended.
    package func close() { queue.sync { connection.close() } }
}

/// A file of SQLite in write-ahead mode: one connection writes, others read, and no caller's thread is blocked.
///
/// Readers are opened when they are needed and kept; so there are as many as callers read at one time, and whoever calls
/// bounds them.
package final class SQLiteDatabase: Sendable {
    private struct Readers {
        var idle: [SQLiteQueue] = []
        var isClosed = false
    }

    package let path: String
    private let busyTimeout: Double
    private let writer: SQLiteQueue
    private let readers = Mutex(Readers())
    /// Calls that read.
    private let reading = DispatchGroup()

    /// Opens the file, which must exist. `prepare`: what is done first, on the connection that writes, outside of a transaction.
    package init(path: String, busyTimeout: Double, _ prepare: (SQLiteConnection) throws -> Void) throws {
        self.path = path
        self.busyTimeout = busyTimeout
        let connection = try SQLiteConnection(path: path, .readWrite, busyTimeout: busyTimeout)
        let mode = try connection.value(String.self, "PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw SQLError(.cannotOpen, "the file cannot be opened with a write-ahead log (mode \(mode ?? "unknown"))")
        }
        try prepare(connection)
        writer = SQLiteQueue(connection, "saker.sqlite.writer")
    }

    /// Runs on a connection that reads, in one snapshot, with every commit that was finished before the call. The work of a
    /// task that is cancelled is ended.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        let interruption = SQLiteInterruption()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                do {
                    let reader = try takeReader()
                    // Given back on its queue, not by the task: ``close()`` waits for it on a thread that tasks may need.
                    reader.enqueueRead(interruption: interruption, body) { [self] result in
                        giveBack(reader)
                        continuation.resume(with: result)
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            interruption.interrupt()
        }
    }

    /// Runs on the connection that writes, in one transaction that is undone when `body` throws. Once begun, the work of a
    /// task that is cancelled goes on to its end.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueueWrite(body) { continuation.resume(with: $0) }
        }
    }

    /// The same without a task: `completion` is called on the writer's queue, before the next transaction begins.
    package func enqueueWrite<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        writer.queue.async { [writer] in
            completion(Result { try writer.connection.transaction { try body(writer.connection) } })
        }
    }

    private func takeReader() throws -> SQLiteQueue {
        let idle = try readers.withLock { readers -> SQLiteQueue? in
            guard !readers.isClosed else { throw SQLError(.misuse, "the database is closed") }
            reading.enter()
            return readers.idle.popLast()
        }
        if let idle { return idle }
        do {
            let connection = try SQLiteConnection(path: path, .readBesideWriter, busyTimeout: busyTimeout)
            return SQLiteQueue(connection, "saker.sqlite.reader")
        } catch {
            reading.leave()
            throw error
        }
    }

    private func giveBack(_ reader: SQLiteQueue) {
        readers.withLock { $0.idle.append(reader) }
        reading.leave()
    }

    /// Moves the log into the file and ends every connection. Blocks until the calls that run have ended.
    package func close() {
        readers.withLock { $0.isClosed = true }
        reading.wait()
        let idle = readers.withLock { readers in
            defer { readers.idle = [] }
            return readers.idle
        }
        // Readers first: the last connection that is closed takes the log away.
        for reader in idle { reader.close() }
        writer.queue.sync {
            // Another process that reads may prevent it; then that process will do it.
            try? writer.connection.checkpoint()
            writer.connection.close()
        }
    }
}
