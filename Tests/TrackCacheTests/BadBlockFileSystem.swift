import TrackTestKit

@testable import TrackCache

/// A disk with bad blocks: one file cannot be read from an offset on. Everything else works.
final class BadBlockFileSystem: DiskDecorator {
    let disk: DiskSimulation
    /// Nil: no block is bad.
    var bad: (path: String, offset: Int)?
    /// So many times the file can be opened and read as if no block were bad.
    var goodOpenings = 0
    private var paths: [Int32: String] = [:]
    private var good: Set<Int32> = []

    init(_ disk: DiskSimulation) {
        self.disk = disk
    }

    func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        let file = try disk.open(path, access)
        paths[file.descriptor] = path
        good.remove(file.descriptor)
        if path == bad?.path, goodOpenings > 0 {
            goodOpenings -= 1
            good.insert(file.descriptor)
        }
        return file
    }

    func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        var buffer = buffer
        if let bad, paths[file.descriptor] == bad.path, !good.contains(file.descriptor) {
            guard offset < bad.offset else { throw CacheFileError(.read, inputOutputErrno) }
            // What stands before the bad block comes.
            buffer = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(bad.offset - offset))
        }
        return try disk.read(file, into: buffer, at: offset)
    }
}
