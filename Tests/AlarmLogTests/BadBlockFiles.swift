import TrackCache
import TrackTestKit

/// A disk with one bad place, which no file that is opened for reading alone gives. Everything else works.
final class BadBlockFiles: CacheFileSystem {
    private let disk: DiskSimulation
    private let bad: Range<Int>
    private var reading: Set<CacheFile> = []

    init(_ disk: DiskSimulation, bad: Range<Int>) {
        (self.disk, self.bad) = (disk, bad)
    }

    func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        if reading.contains(file), (offset..<(offset + buffer.count)).overlaps(bad) { throw CacheFileError(.read, 5) }
        return try disk.read(file, into: buffer, at: offset)
    }

    func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        let file = try disk.open(path, access)
        if access == .readOnly { reading.insert(file) } else { reading.remove(file) }
        return file
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
