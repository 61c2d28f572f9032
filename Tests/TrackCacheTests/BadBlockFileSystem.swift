import TrackTestKit

@testable import TrackCache

/// A disk with bad blocks: one file cannot be read from an offset on. Everything else works.
final class BadBlockFileSystem: CacheFileSystem {
    let disk: DiskSimulation
    /// Nil: no block is bad.
    var bad: (path: String, offset: Int)?
    private var paths: [Int32: String] = [:]

    init(_ disk: DiskSimulation) {
        self.disk = disk
    }

    func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        let file = try disk.open(path, access)
        paths[file.descriptor] = path
        return file
    }

    func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        var buffer = buffer
        if let bad, paths[file.descriptor] == bad.path {
            guard offset < bad.offset else { throw CacheFileError(.read, inputOutputErrno) }
            // What stands before the bad block comes.
            buffer = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(bad.offset - offset))
        }
        return try disk.read(file, into: buffer, at: offset)
    }

    func makeDirectory(_ path: String) throws(CacheFileError) { try disk.makeDirectory(path) }
    func list(_ directory: String) throws(CacheFileError) -> [String] { try disk.list(directory) }
    func close(_ file: CacheFile) { disk.close(file) }
    func size(of file: CacheFile) throws(CacheFileError) -> Int { try disk.size(of: file) }
    func write(_ file: CacheFile, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CacheFileError) -> Int {
        try disk.write(file, bytes, at: offset)
    }
    func truncate(_ file: CacheFile, to size: Int) throws(CacheFileError) { try disk.truncate(file, to: size) }
    func synchronizeData(_ file: CacheFile) throws(CacheFileError) { try disk.synchronizeData(file) }
    func synchronize(_ file: CacheFile) throws(CacheFileError) { try disk.synchronize(file) }
    func synchronizeDirectory(_ path: String) throws(CacheFileError) { try disk.synchronizeDirectory(path) }
    func rename(_ path: String, to newPath: String) throws(CacheFileError) { try disk.rename(path, to: newPath) }
    func unlink(_ path: String) throws(CacheFileError) { try disk.unlink(path) }
    func lock(_ file: CacheFile) throws(CacheFileError) -> Bool { try disk.lock(file) }
}
