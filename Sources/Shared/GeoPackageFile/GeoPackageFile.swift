package import FenceFiles
internal import Glibc

/// A GeoPackage on disk, opened to be read only. The file may come from anywhere: SQLite trusts nothing that its schema says,
/// and gives up a row that it does not find in a bounded number of steps.
package final class GeoPackageFile: GeoPackageDatabase {
    /// Bytes of one value, and of all the values of one row.
    package static let mostValueBytes = 64 << 20
    /// SQLite's own steps until the next row. A plain table needs some dozens.
    private static let mostSteps = 200_000_000
    private static let stepsAtOnce = 100_000

    /// Counts down what is left of ``mostSteps``, for a function of C.
    private let stepsLeft: UnsafeMutablePointer<Int>
    private var database: OpaquePointer?
    /// The file as it was before it was opened as one that nobody changes; nil: SQLite and other programs agree about changes.
    private var asOpened: (path: String, state: FileState)?
    private let formerHeapLimit: Int64?
    let sqlite: SQLiteLibrary

    /// Whether a file begins as SQLite's files do. False for what cannot be read.
    package static func isSQLite(path: String) -> Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // A pipe would lose what is read of it.
        var about = stat()
        guard fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == S_IFREG else { return false }
        var bytes = [UInt8](repeating: 0, count: 16)
        return read(descriptor, &bytes, bytes.count) == bytes.count && bytes == Array("SQLite format 3\0".utf8)
    }

    /// `mostHeapBytes` is what SQLite may take in the whole process as long as the file is open: for a program that uses SQLite
    /// for nothing else meanwhile.
    ///
    /// - Throws: ``FenceFileError`` with what SQLite says, or with the Debian package that this computer needs.
    package init(path: String, mostHeapBytes: Int64? = nil) throws(FenceFileError) {
        let library = try SQLiteLibrary.loaded.get()
        sqlite = library
        stepsLeft = .allocate(capacity: 1)
        stepsLeft.initialize(to: 0)
        formerHeapLimit = mostHeapBytes.map { library.hardHeapLimit($0) }
        // With a write-ahead log, SQLite writes files beside this one even to read it, and leaves them there. Nobody has the
        // file open while it has no log.
        let state = FileState(of: path)
        if let state, PendingChanges.isIdle(path) {
            asOpened = (path, state)
            try open(Self.immutable(path), SQLiteLibrary.readOnly | SQLiteLibrary.uri)
        } else {
            try open(path, SQLiteLibrary.readOnly)
        }
        // SQLite reads the file now, and not before.
        if sqlite.execute(database, "SELECT count(*) FROM sqlite_master", nil, nil, nil) == SQLiteLibrary.ok { return }
        try checkUnchanged()
        let isForbidden = [SQLiteLibrary.cannotOpen, SQLiteLibrary.readOnlyFile].contains(errorCode)
        throw isForbidden ? PendingChanges(of: path).error ?? error() : error()
    }

    private var errorCode: CInt? { database.map { sqlite.errorCode($0) & 0xFF } }

    /// A name of a file as a URI, which says that nobody changes the file.
    private static func immutable(_ path: String) -> String {
        let plain = path.utf8.map { byte in
            let isPlain =
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/-_.".utf8.contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(UnicodeScalar(byte)) : "%\(digits.count == 1 ? "0" : "")\(digits)"
        }
        // Two slashes at the beginning would name another computer.
        return "file:\(path.hasPrefix("/") ? "//" : "")\(plain.joined())?immutable=1"
    }

    private func open(_ name: String, _ flags: CInt) throws(FenceFileError) {
        guard sqlite.open(name, &database, flags, nil) == SQLiteLibrary.ok else { throw error() }
        _ = sqlite.busyTimeout(database, 5000)
        _ = sqlite.limit(database, SQLiteLibrary.lengthLimit, Int32(Self.mostValueBytes))
        sqlite.progressHandler(
            database, Int32(Self.stepsAtOnce),
            { pointer in
                guard let left = pointer?.assumingMemoryBound(to: Int.self) else { return 0 }
                left.pointee -= GeoPackageFile.stepsAtOnce
                return left.pointee < 0 ? 1 : 0
            }, stepsLeft)
        renewSteps()
        for pragma in ["trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "mmap_size = 0"] {
            guard sqlite.execute(database, "PRAGMA \(pragma)", nil, nil, nil) == SQLiteLibrary.ok else { throw error() }
        }
    }

    deinit {
        // Statements keep the file alive, so that none is left here.
        _ = sqlite.close(database)
        if let formerHeapLimit { _ = sqlite.hardHeapLimit(formerHeapLimit) }
        stepsLeft.deallocate()
    }

    package func rows(of query: GeoPackageQuery) throws(FenceFileError) -> GeoPackageStatement {
        renewSteps()
        var statement: OpaquePointer?
        guard sqlite.prepare(database, query.sql, -1, &statement, nil) == SQLiteLibrary.ok, let statement else {
            throw error()
        }
        let rows = GeoPackageStatement(statement, of: self)
        for (index, argument) in query.arguments.enumerated() {
            guard case .text(let text) = argument else { continue }
            let status = sqlite.bindText(statement, Int32(index + 1), text, -1, SQLiteLibrary.copies)
            guard status == SQLiteLibrary.ok else { throw error() }
        }
        return rows
    }

    /// A file that is read as one that nobody changes, and that another program has changed meanwhile, may have been read half as it
    /// was and half as it is.
    func checkUnchanged() throws(FenceFileError) {
        guard let asOpened, FileState(of: asOpened.path) != asOpened.state || PendingChanges.hasLog(asOpened.path)
        else {
            return
        }
        throw FenceFileError(
            "another program has changed it while it was read: wait until that has ended, and try again")
    }

    func renewSteps() { stepsLeft.pointee = Self.mostSteps }

    /// What SQLite says of its last call.
    func error() -> FenceFileError {
        let text = database.flatMap { sqlite.errorMessage($0) }.map { String(cString: $0) } ?? "out of memory"
        return switch errorCode {
        case SQLiteLibrary.interrupted:
            FenceFileError("SQLite finds no next row in \(Self.mostSteps) steps: the layer is no plain table")
        case SQLiteLibrary.noDatabase, SQLiteLibrary.corrupt:
            FenceFileError(
                "SQLite cannot read it (\(text)): the file is damaged; make it anew, for example with ogr2ogr")
        case SQLiteLibrary.busy:
            FenceFileError("another program is writing it (\(text)): wait until that has ended, or close the program")
        case SQLiteLibrary.tooBig, SQLiteLibrary.outOfMemory:
            FenceFileError("a value is too large (\(text)): one of at most \(Self.mostValueBytes >> 20) MiB is read")
        default: FenceFileError("SQLite cannot read it: \(text)")
        }
    }
}
