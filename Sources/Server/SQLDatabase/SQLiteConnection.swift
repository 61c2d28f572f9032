internal import CSQLite
internal import Synchronization

/// A connection to a file of SQLite. It belongs to one thread at a time; only ``SQLiteInterruption`` reaches in from others.
package final class SQLiteConnection: SQLConnection {
    package let dialect = SQLDialect.sqlite

    package enum Access: Hashable, Sendable {
        case readOnly
        /// The file must exist.
        case readWrite
        /// The file is made when it is missing.
        case create
        /// Statements that write are refused. The connection may make the log and its index when they are missing, which one that is
        /// opened read-only may not.
        case readBesideWriter
    }

    /// Owns the C handle. Statements that are left keep SQLite's part of it alive.
    @safe fileprivate struct Handle: ~Copyable {
        let pointer: OpaquePointer

        init(_ path: String, _ flags: Int32) throws(SQLError) {
            var opened: OpaquePointer?
            let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
            guard code == SQLITE_OK, let opened = unsafe opened else {
                let error = unsafe SQLError(database: opened, code: code)
                unsafe _ = sqlite3_close_v2(opened)
                throw error
            }
            unsafe pointer = opened
        }

        deinit { unsafe _ = sqlite3_close_v2(pointer) }
    }

    package let path: String
    /// Nil: closed.
    private var handle: Handle?
    private var statements: [String: SQLiteStatement] = [:]
    private var afterCommit: [() -> Void] = []
    /// What may end the work that runs.
    private var interruption: SQLiteInterruption?
    /// Called with the text of each statement before it runs.
    package var observer: ((String) -> Void)?

    /// More texts than a store has. With more the cache begins anew: some texts are made of a client's filter.
    private static let mostStatements = 512

    /// `busyTimeout`: seconds to wait for a file that somebody else holds.
    package init(path: String, _ access: Access = .readWrite, busyTimeout: Double = 5) throws {
        self.path = path
        let mode =
            switch access {
            case .readOnly: SQLITE_OPEN_READONLY
            case .readWrite, .readBesideWriter: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        // One thread at a time uses a connection, so SQLite's own mutex is not needed.
        let handle = try Handle(path, mode | SQLITE_OPEN_NOMUTEX)
        unsafe _ = sqlite3_extended_result_codes(handle.pointer, 1)
        unsafe _ = sqlite3_busy_timeout(handle.pointer, Int32(clamping: Int(busyTimeout * 1000)))
        self.handle = consume handle
        try script("PRAGMA foreign_keys = ON")
        if access == .readBesideWriter { try script("PRAGMA query_only = ON") }
    }

    package func close() {
        statements = [:]
        handle = nil
    }

    private static let closed = SQLError(.misuse, "the connection is closed")

    // MARK: Statements

    package func statement(_ sql: String) throws -> any SQLStatement {
        // SQLite ends only a statement that runs, and the work may be between two of them.
        try interruption?.check()
        observer?(sql)
        // A statement that runs cannot run inside itself.
        if let kept = statements[sql], !kept.isRunning { return kept }
        let made = try prepare(sql)
        if statements.count >= Self.mostStatements { statements = [:] }
        statements[sql] = made
        return made
    }

    private func prepare(_ sql: String) throws -> SQLiteStatement {
        guard handle != nil else { throw Self.closed }
        var made: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            handle?.pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard code == SQLITE_OK else { throw unsafe SQLError(database: handle?.pointer, code: code) }
        guard let made = unsafe made else { throw SQLError(.misuse, "a text holds no statement") }
        return unsafe SQLiteStatement(made)
    }

    package func script(_ sql: String) throws {
        guard handle != nil else { throw Self.closed }
        let code = unsafe sqlite3_exec(handle?.pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe SQLError(database: handle?.pointer, code: code) }
    }

    package var changes: Int { unsafe handle == nil ? 0 : Int(sqlite3_changes64(handle?.pointer)) }

    package func overwritingRemoved<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("PRAGMA secure_delete = ON")
        defer { try? script("PRAGMA secure_delete = OFF") }
        return try body()
    }

    package func foreignChanges() throws -> Int64 { try value(Int64.self, "PRAGMA data_version") ?? 0 }

    // MARK: Transactions

    package func afterCommit(_ action: @escaping () -> Void) { afterCommit.append(action) }

    /// Runs `body` in a transaction that may write from its beginning. An error undoes it.
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try within("BEGIN IMMEDIATE", body)
    }

    /// Runs `body` in a transaction that sees the database as it is at its first statement.
    package func snapshot<Value>(_ body: () throws -> Value) throws -> Value {
        try within("BEGIN DEFERRED", body)
    }

    private func within<Value>(_ begin: String, _ body: () throws -> Value) throws -> Value {
        try statement(begin).execute()
        let value: Value
        do {
            value = try body()
            try statement("COMMIT").execute()
        } catch {
            afterCommit = []
            // SQLite ends the transaction itself after some errors, such as a full disk.
            if isInTransaction { try? script("ROLLBACK") }
            throw error
        }
        let actions = afterCommit
        afterCommit = []
        for action in actions { action() }
        return value
    }

    private var isInTransaction: Bool { unsafe handle != nil && sqlite3_get_autocommit(handle?.pointer) == 0 }

    // MARK: What only SQLite has

    /// Moves the log into the file and empties it. Throws ``SQLError`` of kind `busy` while somebody else reads.
    package func checkpoint() throws {
        // A connection that has not read the file yet knows no log, and SQLite would report that all is moved.
        _ = try value(Int.self, "PRAGMA schema_version")
        let code = unsafe sqlite3_wal_checkpoint_v2(handle?.pointer, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw unsafe SQLError(database: handle?.pointer, code: code) }
    }

    /// Copies all pages into the file of another connection. `onStep`: called after each `pagesOfStep` pages; nil: one step.
    package func copy(to target: SQLiteConnection, pagesOfStep: Int32, onStep: (() -> Void)?) throws {
        guard handle != nil, target.handle != nil else { throw Self.closed }
        let pages = onStep == nil ? -1 : pagesOfStep
        guard let copying = unsafe sqlite3_backup_init(target.handle?.pointer, "main", handle?.pointer, "main") else {
            throw unsafe SQLError(
                database: target.handle?.pointer, code: sqlite3_errcode(target.handle?.pointer))
        }
        var code = SQLITE_OK
        repeat {
            code = unsafe sqlite3_backup_step(copying, pages)
            onStep?()
        } while code == SQLITE_OK
        let finish = unsafe sqlite3_backup_finish(copying)
        guard code == SQLITE_DONE else { throw unsafe SQLError(database: nil, code: code) }
        guard finish == SQLITE_OK else { throw unsafe SQLError(database: target.handle?.pointer, code: finish) }
    }

    /// Puts a function without arguments in the place of one of SQLite's.
    package func replaceFunction(_ name: String, with body: @escaping () -> Int64) throws {
        guard handle != nil else { throw Self.closed }
        let box = unsafe Unmanaged.passRetained(FunctionBox(body)).toOpaque()
        // SQLite gives the box back also when it refuses the function.
        let code = unsafe sqlite3_create_function_v2(
            handle?.pointer, name, 0, SQLITE_UTF8, box,
            { context, _, _ in
                guard let box = unsafe sqlite3_user_data(context) else { return }
                unsafe sqlite3_result_int64(
                    context, Unmanaged<FunctionBox>.fromOpaque(box).takeUnretainedValue().body())
            }, nil, nil,
            { box in
                if let box = unsafe box { unsafe Unmanaged<FunctionBox>.fromOpaque(box).release() }
            })
        guard code == SQLITE_OK else { throw unsafe SQLError(database: handle?.pointer, code: code) }
    }

    private final class FunctionBox {
        let body: () -> Int64
        init(_ body: @escaping () -> Int64) { self.body = body }
    }

    /// Lets `interruption` end what `body` does, from any thread.
    package func interruptible<Value>(
        by interruption: SQLiteInterruption, _ body: () throws -> Value
    ) throws -> Value {
        guard handle != nil else { throw Self.closed }
        try unsafe interruption.begin(handle?.pointer)
        self.interruption = interruption
        defer {
            self.interruption = nil
            interruption.end()
        }
        return try body()
    }
}

/// Ends the work of a connection from another thread.
package final class SQLiteInterruption: Sendable {
    @safe private struct State: @unchecked Sendable {
        // Unchecked, because a pointer is not sendable: SQLite allows the one call that is made with it from any thread, and
        // the mutex keeps the pointer here only while the connection is open.
        var database: OpaquePointer?
        var isInterrupted = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Whatever the connection does now fails, and all that it begins later.
    package func interrupt() {
        state.withLock { state in
            state.isInterrupted = true
            if let database = unsafe state.database { unsafe sqlite3_interrupt(database) }
        }
    }

    fileprivate func begin(_ database: OpaquePointer?) throws {
        try check()
        state.withLock { unsafe $0.database = unsafe database }
    }

    fileprivate func check() throws {
        if state.withLock(\.isInterrupted) { throw SQLError(.interrupted, "interrupted") }
    }

    fileprivate func end() { state.withLock { unsafe $0.database = nil } }
}
