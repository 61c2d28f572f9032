internal import Glibc

/// The calls the disk ring makes on a file system, and no others: the seam where tests put a disk that fails.
///
/// Every call may block. None retries: interruption and short transfers are the caller's business, below. Paths are
/// absolute. Not thread-safe: one cache, one thread.
package protocol CacheFileSystem: AnyObject {
    /// mkdir with mode 0700; `EEXIST` when it is there.
    func makeDirectory(_ path: String) throws(CacheFileError)
    /// The names in a directory in any order, without `.` and `..`.
    func list(_ directory: String) throws(CacheFileError) -> [String]
    /// Never follows a symbolic link in the last component; new files have mode 0600.
    func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile
    func close(_ file: CacheFile)
    /// Bytes.
    func size(of file: CacheFile) throws(CacheFileError) -> Int
    /// One pread: the number of bytes read, 0 at the end of the file.
    func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int
    /// One pwrite: the number of bytes written, which may be fewer than asked.
    func write(_ file: CacheFile, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CacheFileError) -> Int
    func truncate(_ file: CacheFile, to size: Int) throws(CacheFileError)
    /// fdatasync: on return the file's bytes survive a power cut.
    func synchronizeData(_ file: CacheFile) throws(CacheFileError)
    /// fsync: the same, and its metadata.
    func synchronize(_ file: CacheFile) throws(CacheFileError)
    /// fsync of a directory: on return the names in it survive a power cut.
    func synchronizeDirectory(_ path: String) throws(CacheFileError)
    /// Replaces what the new name stood for, atomically.
    func rename(_ path: String, to newPath: String) throws(CacheFileError)
    func unlink(_ path: String) throws(CacheFileError)
    /// flock, exclusive and without waiting: false when somebody else holds it. Ends when the file is closed.
    func lock(_ file: CacheFile) throws(CacheFileError) -> Bool
}

/// One open file of a `CacheFileSystem`.
package struct CacheFile: Hashable, Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }
}

package enum CacheFileAccess: Hashable, Sendable {
    case readOnly
    /// The file must exist.
    case readWrite
    /// Made when it does not exist.
    case readWriteOrCreate
    /// Made when it does not exist, emptied when it does.
    case replace
}

/// A file system call failed.
package struct CacheFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Operation: String, Hashable, Sendable, CaseIterable {
        case makeDirectory = "mkdir"
        case list = "readdir"
        case open
        case size = "fstat"
        case read = "pread"
        case write = "pwrite"
        case truncate = "ftruncate"
        case synchronizeData = "fdatasync"
        case synchronize = "fsync"
        case synchronizeDirectory = "fsync of the directory"
        case rename
        case unlink
        case lock = "flock"
        /// Not a call: records of another stream were found on disk.
        case join = "joining the records found on disk"
    }

    package let operation: Operation
    /// The C library's `errno`.
    package let number: Int32

    package init(_ operation: Operation, _ number: Int32) {
        self.operation = operation
        self.number = number
    }

    package var description: String { "\(operation.rawValue): \(errnoText(number))" }
}

extension CacheFileSystem {
    /// Repeats a call that a signal interrupted. A signal cannot interrupt for ever; a broken seam could, so it is
    /// bounded.
    func uninterrupted<Result>(
        _ call: () throws(CacheFileError) -> Result
    ) throws(CacheFileError) -> Result {
        var attempts = 0
        while true {
            do throws(CacheFileError) {
                return try call()
            } catch {
                attempts += 1
                guard error.number == interruptedErrno, attempts < 100 else { throw error }
            }
        }
    }

    package func openFile(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        try uninterrupted { () throws(CacheFileError) in try open(path, access) }
    }

    /// Makes the names in a directory durable.
    package func synchronizeNames(in directory: String) throws(CacheFileError) {
        try uninterrupted { () throws(CacheFileError) in try synchronizeDirectory(directory) }
    }

    /// Makes a file durable: its bytes, or all of it.
    package func synchronizeFile(_ file: CacheFile, dataOnly: Bool) throws(CacheFileError) {
        try uninterrupted { () throws(CacheFileError) in
            if dataOnly { try synchronizeData(file) } else { try synchronize(file) }
        }
    }

    /// Reads until the buffer is full or the file ends.
    func readFully(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try uninterrupted { () throws(CacheFileError) in
                try unsafe read(file, into: rest, at: offset + done)
            }
            if count <= 0 { break }
            done += count
        }
        return done
    }

    /// Reads so many bytes, fewer where the file ends.
    package func bytes(of file: CacheFile, at offset: Int, count: Int) throws(CacheFileError) -> [UInt8] {
        var failure: CacheFileError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            do throws(CacheFileError) {
                filled = unsafe try readFully(file, into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes everything or throws; what was written before the error stays written.
    package func writeFully(_ file: CacheFile, _ bytes: [UInt8], at offset: Int) throws(CacheFileError) {
        var done = 0
        while done < bytes.count {
            let count = try uninterrupted { () throws(CacheFileError) in
                // `withUnsafeBytes` erases the error's type; the result carries it instead.
                let outcome: Result<Int, CacheFileError> = unsafe bytes.withUnsafeBytes { all in
                    do throws(CacheFileError) {
                        let rest = unsafe UnsafeRawBufferPointer(rebasing: all[done...])
                        return .success(try unsafe write(file, rest, at: offset + done))
                    } catch {
                        return .failure(error)
                    }
                }
                return try outcome.get()
            }
            // A call that writes nothing and reports no error would never end.
            guard count > 0 else { throw CacheFileError(.write, inputOutputErrno) }
            done += count
        }
    }
}

/// The real file system.
package final class POSIXFileSystem: CacheFileSystem {
    package init() {}

    package func makeDirectory(_ path: String) throws(CacheFileError) {
        guard unsafe mkdir(path, 0o700) == 0 else { throw CacheFileError(.makeDirectory, errno) }
    }

    package func list(_ directory: String) throws(CacheFileError) -> [String] {
        guard let handle = unsafe opendir(directory) else { throw CacheFileError(.list, errno) }
        defer { unsafe _ = closedir(handle) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(handle) else {
                guard errno == 0 else { throw CacheFileError(.list, errno) }
                return names
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    unsafe String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    package func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        let flags =
            switch access {
            case .readOnly: O_RDONLY
            case .readWrite: O_RDWR
            case .readWriteOrCreate: O_RDWR | O_CREAT
            case .replace: O_RDWR | O_CREAT | O_TRUNC
            }
        // Without O_NONBLOCK a FIFO that somebody put there would hold the agent up for ever.
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw CacheFileError(.open, errno) }
        return CacheFile(descriptor: descriptor)
    }

    package func close(_ file: CacheFile) {
        // A child process between its fork and its exec has the file open too, and would keep the lock that long.
        _ = flock(file.descriptor, LOCK_UN)
        // Linux releases the descriptor whatever close returns: repeating it could close somebody else's.
        _ = Glibc.close(file.descriptor)
    }

    package func size(of file: CacheFile) throws(CacheFileError) -> Int {
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0 else { throw CacheFileError(.size, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw CacheFileError(.size, EINVAL) }
        return Int(status.st_size)
    }

    package func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        let count = unsafe pread(file.descriptor, buffer.baseAddress, buffer.count, offset)
        guard count >= 0 else { throw CacheFileError(.read, errno) }
        return count
    }

    package func write(
        _ file: CacheFile, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        let count = unsafe pwrite(file.descriptor, bytes.baseAddress, bytes.count, offset)
        guard count >= 0 else { throw CacheFileError(.write, errno) }
        return count
    }

    package func truncate(_ file: CacheFile, to size: Int) throws(CacheFileError) {
        guard ftruncate(file.descriptor, size) == 0 else { throw CacheFileError(.truncate, errno) }
    }

    package func synchronizeData(_ file: CacheFile) throws(CacheFileError) {
        guard fdatasync(file.descriptor) == 0 else { throw CacheFileError(.synchronizeData, errno) }
    }

    package func synchronize(_ file: CacheFile) throws(CacheFileError) {
        guard fsync(file.descriptor) == 0 else { throw CacheFileError(.synchronize, errno) }
        // A new segment was written in large pieces, and so it lies in the page cache: it is to come back page by page.
        _ = posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED)
    }

    package func synchronizeDirectory(_ path: String) throws(CacheFileError) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CacheFileError(.synchronizeDirectory, errno) }
        defer { _ = Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw CacheFileError(.synchronizeDirectory, errno) }
    }

    package func rename(_ path: String, to newPath: String) throws(CacheFileError) {
        guard unsafe Glibc.rename(path, newPath) == 0 else { throw CacheFileError(.rename, errno) }
    }

    package func unlink(_ path: String) throws(CacheFileError) {
        guard unsafe Glibc.unlink(path) == 0 else { throw CacheFileError(.unlink, errno) }
    }

    package func lock(_ file: CacheFile) throws(CacheFileError) -> Bool {
        if flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw CacheFileError(.lock, errno) }
        return false
    }
}

let interruptedErrno = EINTR
let inputOutputErrno = EIO
let wouldBlockErrno = EWOULDBLOCK
let noEntryErrno = ENOENT
let busyErrno = EBUSY
let noSpaceErrno = ENOSPC
/// What says that a name stands for something else than a file: a link, a directory, a pipe.
let notAFileErrnos: Set<Int32> = [ELOOP, EISDIR, EINVAL]

/// The symbol operators search for, and what it means for the disk, in one phrase.
func errnoText(_ number: Int32) -> String {
    switch number {
    case ENOSPC: "ENOSPC (no space left on the disk)"
    case EDQUOT: "EDQUOT (the disk quota is used up)"
    case EROFS: "EROFS (the file system is read-only)"
    case EIO: "EIO (the disk reports an error)"
    case EACCES: "EACCES (permission denied)"
    case EPERM: "EPERM (operation not permitted)"
    case ENOENT: "ENOENT (it does not exist)"
    case ENOTDIR: "ENOTDIR (part of the path is not a directory)"
    case ENAMETOOLONG: "ENAMETOOLONG (the path is too long)"
    case ELOOP: "ELOOP (a symbolic link is in the way)"
    case ENODEV: "ENODEV (the device is gone)"
    case ENXIO: "ENXIO (the device is gone)"
    case EMFILE: "EMFILE (too many open files)"
    case ENFILE: "ENFILE (too many open files on this machine)"
    case EWOULDBLOCK: "EWOULDBLOCK (another agent holds it)"
    case EBUSY: "EBUSY (what was sent is not acknowledged yet)"
    default: "errno \(number)"
    }
}

var processIdentifier: Int32 { getpid() }
