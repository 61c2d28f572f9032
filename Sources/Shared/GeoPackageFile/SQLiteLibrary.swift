internal import FenceFiles
internal import Glibc

/// The functions of SQLite that a ``GeoPackageFile`` calls. The library is loaded when the first GeoPackage is opened: a
/// program that links it does not start on a computer without it.
struct SQLiteLibrary: Sendable {
    typealias Handle = OpaquePointer?

    let open:
        @Sendable @convention(c) (
            UnsafePointer<CChar>?, UnsafeMutablePointer<OpaquePointer?>?, CInt, UnsafePointer<CChar>?
        ) -> CInt
    let close: @Sendable @convention(c) (Handle) -> CInt
    let errorCode: @Sendable @convention(c) (Handle) -> CInt
    let errorMessage: @Sendable @convention(c) (Handle) -> UnsafePointer<CChar>?
    let hardHeapLimit: @Sendable @convention(c) (Int64) -> Int64
    let busyTimeout: @Sendable @convention(c) (Handle, CInt) -> CInt
    let limit: @Sendable @convention(c) (Handle, CInt, CInt) -> CInt
    let progressHandler:
        @Sendable @convention(c) (
            Handle, CInt, (@convention(c) (UnsafeMutableRawPointer?) -> CInt)?, UnsafeMutableRawPointer?
        ) -> Void
    /// The third argument is a function for the rows, which is never given here.
    let execute:
        @Sendable @convention(c) (
            Handle, UnsafePointer<CChar>?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> CInt
    let prepare:
        @Sendable @convention(c) (
            Handle, UnsafePointer<CChar>?, CInt, UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutableRawPointer?
        ) -> CInt
    /// The last argument is a function that frees the text, or ``copies``.
    let bindText: @Sendable @convention(c) (Handle, CInt, UnsafePointer<CChar>?, CInt, Int) -> CInt
    let step: @Sendable @convention(c) (Handle) -> CInt
    let finalize: @Sendable @convention(c) (Handle) -> CInt
    let columnCount: @Sendable @convention(c) (Handle) -> CInt
    let columnName: @Sendable @convention(c) (Handle, CInt) -> UnsafePointer<CChar>?
    let columnType: @Sendable @convention(c) (Handle, CInt) -> CInt
    let columnInteger: @Sendable @convention(c) (Handle, CInt) -> Int64
    let columnReal: @Sendable @convention(c) (Handle, CInt) -> Double
    let columnText: @Sendable @convention(c) (Handle, CInt) -> UnsafePointer<UInt8>?
    let columnBlob: @Sendable @convention(c) (Handle, CInt) -> UnsafeRawPointer?
    let columnBytes: @Sendable @convention(c) (Handle, CInt) -> CInt

    // MARK: - The numbers of sqlite3.h, which never change

    static let ok: CInt = 0
    static let busy: CInt = 5
    static let outOfMemory: CInt = 7
    static let interrupted: CInt = 9
    static let readOnlyFile: CInt = 8
    static let corrupt: CInt = 11
    static let cannotOpen: CInt = 14
    static let tooBig: CInt = 18
    static let noDatabase: CInt = 26
    static let row: CInt = 100
    static let done: CInt = 101
    static let readOnly: CInt = 1
    static let uri: CInt = 0x40
    static let lengthLimit: CInt = 0
    /// What makes SQLite copy a text before the call returns.
    static let copies = -1
    /// The types of a column's value; null is 5.
    static let (integer, real, text, blob): (CInt, CInt, CInt, CInt) = (1, 2, 3, 4)

    /// The library of this process; it is never unloaded.
    static let loaded = Result { () throws(FenceFileError) in try SQLiteLibrary(name: "libsqlite3.so.0") }

    /// - Throws: ``FenceFileError`` with the Debian package to install.
    init(name: String) throws(FenceFileError) {
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "the loader gives no reason"
            throw FenceFileError(
                """
                a GeoPackage is read with SQLite, and its library cannot be loaded (\(reason)): install the Debian package \
                libsqlite3-0
                """)
        }
        /// `Function` is the type that sqlite3.h declares for the symbol.
        func function<Function>(_ symbol: String) throws(FenceFileError) -> Function {
            guard let found = dlsym(library, symbol) else {
                throw FenceFileError(
                    """
                    a GeoPackage is read with SQLite, and \(name) has no \(symbol): install the Debian package libsqlite3-0 \
                    with SQLite 3.31 or later
                    """)
            }
            return unsafeBitCast(found, to: Function.self)
        }
        open = try function("sqlite3_open_v2")
        close = try function("sqlite3_close_v2")
        errorCode = try function("sqlite3_errcode")
        errorMessage = try function("sqlite3_errmsg")
        // As old as the pragma trusted_schema, which an older SQLite would ignore in silence.
        hardHeapLimit = try function("sqlite3_hard_heap_limit64")
        busyTimeout = try function("sqlite3_busy_timeout")
        limit = try function("sqlite3_limit")
        progressHandler = try function("sqlite3_progress_handler")
        execute = try function("sqlite3_exec")
        prepare = try function("sqlite3_prepare_v2")
        bindText = try function("sqlite3_bind_text")
        step = try function("sqlite3_step")
        finalize = try function("sqlite3_finalize")
        columnCount = try function("sqlite3_column_count")
        columnName = try function("sqlite3_column_name")
        columnType = try function("sqlite3_column_type")
        columnInteger = try function("sqlite3_column_int64")
        columnReal = try function("sqlite3_column_double")
        columnText = try function("sqlite3_column_text")
        columnBlob = try function("sqlite3_column_blob")
        columnBytes = try function("sqlite3_column_bytes")
    }
}
