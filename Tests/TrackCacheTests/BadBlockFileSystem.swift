import TrackTestKit

@testable import TrackCache

/// A disk with bad blocks: one file cannot be read from an offset on. Everything else works.
final class BadBlockFileSystem: DiskDecorator {
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
}
