internal import Glibc

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
