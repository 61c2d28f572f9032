internal import CSQLite

/// A statement of a ``SQLiteConnection``.
final class SQLiteStatement: SQLStatement, SQLRowSource {
    /// Owns the C handle.
    @safe private struct Handle: ~Copyable {
        let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

        deinit { unsafe _ = sqlite3_finalize(pointer) }
    }

    private let handle: Handle
    let parameterCount: Int
    private(set) var isRunning = false
    /// Rows since the statement was made.
    private var rowNumber = 0
    private var columnCount: Int32 = 0

    /// SQLite copies the bytes before the call returns. `SQLITE_TRANSIENT` is a cast in C.
    private static let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Takes the handle over.
    init(_ pointer: OpaquePointer) {
        handle = unsafe Handle(pointer)
        unsafe parameterCount = Int(sqlite3_bind_parameter_count(pointer))
    }

    func run(_ parameters: SQLParameters, _ body: (SQLRow) throws -> Bool) throws {
        guard !isRunning else { throw SQLError(.misuse, "a statement was run inside itself") }
        guard parameters.count == parameterCount else {
            throw SQLError(.misuse, "a statement has \(parameterCount) parameters and got \(parameters.count)")
        }
        isRunning = true
        defer {
            // Its result repeats the error of the last step, which was thrown.
            unsafe _ = sqlite3_reset(handle.pointer)
            // The values may be large.
            if parameterCount > 0 { unsafe _ = sqlite3_clear_bindings(handle.pointer) }
            rowNumber += 1
            isRunning = false
        }
        for (index, parameter) in parameters.enumerated() {
            try bind(parameter?.sqlValue ?? .null, to: Int32(index + 1))
        }
        while true {
            let code = unsafe sqlite3_step(handle.pointer)
            switch code {
            case SQLITE_DONE: return
            case SQLITE_ROW:
                rowNumber += 1
                unsafe columnCount = sqlite3_data_count(handle.pointer)
                guard try body(SQLRow(self, number: rowNumber)) else { return }
            default: throw unsafe SQLError(database: sqlite3_db_handle(handle.pointer), code: code)
            }
        }
    }

    private func bind(_ value: SQLValue, to index: Int32) throws {
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(handle.pointer, index)
            case .integer(let number): unsafe sqlite3_bind_int64(handle.pointer, index, number)
            case .real(let number): unsafe sqlite3_bind_double(handle.pointer, index, number)
            case .text(var text):
                text.withUTF8 { bytes in
                    // An empty text may have no address, and SQLite takes that for NULL.
                    unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                        unsafe bytes.isEmpty
                            ? sqlite3_bind_text(handle.pointer, index, "", 0, Self.copied)
                            : sqlite3_bind_text64(
                                handle.pointer, index, bytes.baseAddress, UInt64(bytes.count), Self.copied,
                                UInt8(SQLITE_UTF8))
                    }
                }
            case .blob(let bytes):
                unsafe bytes.isEmpty
                    ? sqlite3_bind_zeroblob(handle.pointer, index, 0)
                    : bytes.withUnsafeBytes { bytes in
                        unsafe sqlite3_bind_blob64(
                            handle.pointer, index, bytes.baseAddress, UInt64(bytes.count), Self.copied)
                    }
            }
        guard code == SQLITE_OK else {
            throw unsafe SQLError(database: sqlite3_db_handle(handle.pointer), code: code)
        }
    }

    func value(at column: Int, ofRow number: Int) throws -> SQLValue {
        guard isRunning, number == rowNumber else {
            throw SQLError(.misuse, "a row was read after its statement had gone on")
        }
        guard let column = Int32(exactly: column), column >= 0, column < columnCount else {
            throw SQLError(.misuse, "a row has \(columnCount) columns, and column \(column) was read")
        }
        switch unsafe sqlite3_column_type(handle.pointer, column) {
        case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(handle.pointer, column))
        case SQLITE_FLOAT: return unsafe .real(sqlite3_column_double(handle.pointer, column))
        case SQLITE_TEXT:
            let text = unsafe sqlite3_column_text(handle.pointer, column)
            let count = unsafe Int(sqlite3_column_bytes(handle.pointer, column))
            return unsafe .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let bytes = unsafe sqlite3_column_blob(handle.pointer, column)
            let count = unsafe Int(sqlite3_column_bytes(handle.pointer, column))
            return unsafe .blob([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
        default: return .null
        }
    }
}

extension SQLError {
    /// What a connection of SQLite says of its last call.
    init(database: OpaquePointer?, code: Int32) {
        let extended = unsafe database == nil ? code : sqlite3_extended_errcode(database)
        // A call that fails without touching the connection leaves the number of the call before.
        let number = extended & 0xFF == code & 0xFF ? extended : code
        let text = unsafe database == nil || number != extended ? sqlite3_errstr(code) : sqlite3_errmsg(database)
        let message = unsafe text.map { unsafe String(cString: $0) } ?? "no reason given"
        self.init(Kind(sqlite: number), message, code: number)
    }
}

extension SQLError.Kind {
    fileprivate init(sqlite code: Int32) {
        switch code & 0xFF {
        case SQLITE_FULL: self = .full
        // The growth of the memory that connections share is the only one that SQLite does not report as full.
        case SQLITE_IOERR where code == SQLError.sharedMemoryFull: self = .full
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_CORRUPT: self = .corrupt
        case SQLITE_NOTADB: self = .notDatabase
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY: self = .cannotOpen
        case SQLITE_CONSTRAINT: self = .constraint
        case SQLITE_INTERRUPT, SQLITE_ABORT: self = .interrupted
        case SQLITE_MISUSE: self = .misuse
        default: self = .failed
        }
    }
}

extension SQLError {
    /// `SQLITE_IOERR_SHMSIZE`, an expression in C.
    package static let sharedMemoryFull = SQLITE_IOERR | (19 << 8)
}
