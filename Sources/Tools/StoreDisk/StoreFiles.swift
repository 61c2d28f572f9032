internal import CSQLite
internal import Glibc
internal import Synchronization

/// The VFS between SQLite and its files: it passes all calls on to SQLite's own, and tells a ``StoreDisk`` of those that
/// change a file of its directory. It is the process's default VFS once it is installed; other files do not notice it.
///
/// SQLite's own file lies at the beginning of each file's memory, as its functions expect; the disk stands behind it.
enum StoreFiles {
    /// Of the process: SQLite's VFS cannot be given away again.
    private struct Base: @unchecked Sendable {
        // Unchecked, because pointers are not sendable: neither is changed after the installation, and SQLite uses both
        // from all threads.
        let own: UnsafeMutablePointer<sqlite3_vfs>
        let shim: UnsafeMutablePointer<sqlite3_vfs>
    }

    /// SQLite's functions for a kind of file, and the same with ours in between. Made when the first of the kind is opened.
    private struct Methods: @unchecked Sendable {
        // Unchecked, because pointers are not sendable: the tables are not changed once they are made.
        let own: sqlite3_io_methods
        let shim: UnsafeMutablePointer<sqlite3_io_methods>
    }

    private static let disks = Mutex<[String: StoreDisk]>([:])
    /// By the address of SQLite's table.
    private static let methods = Mutex<[UInt: Methods]>([:])

    private static let base: Base? = {
        guard let own = sqlite3_vfs_find(nil) else { return nil }
        let shim = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        shim.initialize(to: own.pointee)
        shim.pointee.zName = UnsafePointer(strdup("saker-store-disk"))
        shim.pointee.szOsFile = Int32(extra(own)) + Int32(MemoryLayout<UnsafeMutableRawPointer?>.stride)
        shim.pointee.xOpen = { _, name, file, flags, given in StoreFiles.open(name, file, flags, given) }
        shim.pointee.xDelete = { _, name, synchronises in StoreFiles.delete(name, synchronises) }
        return sqlite3_vfs_register(shim, 1) == SQLITE_OK ? Base(own: own, shim: shim) : nil
    }()

    static func install() { _ = base }

    static func add(_ disk: StoreDisk) { disks.withLock { $0[disk.directory] = disk } }
    static func remove(_ disk: StoreDisk) { disks.withLock { $0[disk.directory] = nil } }

    private static func disk(of path: String) -> StoreDisk? {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) }
        return directory.flatMap { directory in disks.withLock { $0[directory] } }
    }

    // MARK: A file's memory

    /// One open file of a disk.
    private final class Handle {
        let disk: StoreDisk
        let path: String
        let own: sqlite3_io_methods

        init(_ disk: StoreDisk, _ path: String, _ own: sqlite3_io_methods) {
            (self.disk, self.path, self.own) = (disk, path, own)
        }
    }

    /// Where our part begins.
    private static func extra(_ vfs: UnsafeMutablePointer<sqlite3_vfs>) -> Int {
        (Int(vfs.pointee.szOsFile) + 15) & ~15
    }

    private static func slot(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<
        UnsafeMutableRawPointer?
    >? {
        guard let base else { return nil }
        return (UnsafeMutableRawPointer(file) + extra(base.own)).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    private static func handle(_ file: UnsafeMutablePointer<sqlite3_file>) -> Handle? {
        slot(file)?.pointee.map { Unmanaged<Handle>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: The VFS

    private static func open(
        _ name: sqlite3_filename?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ given: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let base, let file, let opening = base.own.pointee.xOpen else { return SQLITE_CANTOPEN }
        let path = name.map { String(cString: $0) }
        let disk = path.flatMap(disk(of:))
        guard disk?.hasPower ?? true else {
            file.pointee.pMethods = nil
            return SQLITE_CANTOPEN
        }
        let result = opening(base.own, name, file, flags, given)
        guard result == SQLITE_OK, let disk, let path, let own = file.pointee.pMethods else { return result }
        let kind = UInt(bitPattern: own)
        let known = methods.withLock { methods in
            let known = methods[kind] ?? Methods(own: own.pointee, shim: made(of: own.pointee))
            methods[kind] = known
            return known
        }
        var size: sqlite3_int64 = 0
        _ = own.pointee.xFileSize?(file, &size)
        _ = disk.open(path, size: Int(size))
        slot(file)?.initialize(to: Unmanaged.passRetained(Handle(disk, path, known.own)).toOpaque())
        file.pointee.pMethods = UnsafePointer(known.shim)
        return SQLITE_OK
    }

    private static func delete(_ name: UnsafePointer<CChar>?, _ synchronises: Int32) -> Int32 {
        guard let base, let deleting = base.own.pointee.xDelete else { return SQLITE_IOERR }
        let disk = name.flatMap { Self.disk(of: String(cString: $0)) }
        guard disk.map({ $0.enter().isPossible }) ?? true else { return SQLITE_IOERR }
        return deleting(base.own, name, synchronises)
    }

    private static func made(of own: sqlite3_io_methods) -> UnsafeMutablePointer<sqlite3_io_methods> {
        let shim = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        var methods = own
        // Mapped reads would pass us by, and so would mapped writes.
        methods.iVersion = min(own.iVersion, 2)
        methods.xClose = { file in StoreFiles.close(file) }
        methods.xRead = { file, buffer, count, offset in StoreFiles.read(file, buffer, count, offset) }
        methods.xWrite = { file, bytes, count, offset in StoreFiles.write(file, bytes, count, offset) }
        methods.xTruncate = { file, size in StoreFiles.truncate(file, size) }
        methods.xSync = { file, _ in StoreFiles.synchronise(file) }
        shim.initialize(to: methods)
        return shim
    }

    private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        guard let file, let pointer = slot(file)?.pointee else { return SQLITE_IOERR }
        slot(file)?.pointee = nil
        let handle = Unmanaged<Handle>.fromOpaque(pointer).takeRetainedValue()
        return handle.own.xClose?(file) ?? SQLITE_IOERR
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32,
        _ offset: sqlite3_int64
    ) -> Int32 {
        guard let file, let handle = handle(file), handle.disk.hasPower else { return SQLITE_IOERR }
        return handle.own.xRead?(file, buffer, count, offset) ?? SQLITE_IOERR
    }

    private static func write(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32,
        _ offset: sqlite3_int64
    ) -> Int32 {
        guard let file, let handle = handle(file) else { return SQLITE_IOERR }
        let (isPossible, isLast) = handle.disk.enter()
        guard isPossible else { return SQLITE_IOERR }
        let (start, end) = (Int(offset), Int(offset) + Int(count))
        note(file, handle, start..<end)
        let result = handle.own.xWrite?(file, bytes, count, offset) ?? SQLITE_IOERR
        return isLast ? SQLITE_IOERR : result
    }

    private static func truncate(_ file: UnsafeMutablePointer<sqlite3_file>?, _ size: sqlite3_int64) -> Int32 {
        guard let file, let handle = handle(file) else { return SQLITE_IOERR }
        let (isPossible, isLast) = handle.disk.enter()
        guard isPossible else { return SQLITE_IOERR }
        let former = bytes(of: file, handle.own)
        if former > Int(size) {
            note(file, handle, Int(size)..<former)
            handle.disk.cut(handle.path, to: Int(size))
        }
        let result = handle.own.xTruncate?(file, size) ?? SQLITE_IOERR
        return isLast ? SQLITE_IOERR : result
    }

    /// The files of tests stand in memory: noting is all there is to do.
    private static func synchronise(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        guard let file, let handle = handle(file) else { return SQLITE_IOERR }
        let (isPossible, isLast) = handle.disk.enterSynchronisation()
        guard isPossible else { return SQLITE_IOERR }
        let size = bytes(of: file, handle.own)
        guard !isLast else {
            handle.disk.synchronisationInterrupted(handle.path, size: size)
            return SQLITE_IOERR
        }
        handle.disk.synchronised(handle.path, size: size)
        return SQLITE_OK
    }

    /// Remembers what the sectors of a range hold.
    private static func note(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ handle: Handle, _ range: Range<Int>
    ) {
        let size = StoreDisk.sectorBytes
        handle.disk.change(handle.path, sectors: (range.lowerBound / size)..<((range.upperBound + size - 1) / size)) {
            sector in
            var bytes = [UInt8](repeating: 0, count: size)
            // A short read fills the rest with zeros.
            _ = bytes.withUnsafeMutableBytes { buffer in
                handle.own.xRead?(file, buffer.baseAddress, Int32(size), sqlite3_int64(sector * size))
            }
            return bytes
        }
    }

    private static func bytes(of file: UnsafeMutablePointer<sqlite3_file>, _ own: sqlite3_io_methods) -> Int {
        var size: sqlite3_int64 = 0
        _ = own.xFileSize?(file, &size)
        return Int(size)
    }
}
