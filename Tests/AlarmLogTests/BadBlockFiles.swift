import TrackCache
import TrackTestKit

/// A disk with one bad place, which no file that is opened for reading alone gives. Everything else works.
final class BadBlockFiles: DiskDecorator {
    let disk: DiskSimulation
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
}
