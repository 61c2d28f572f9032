package import TrackCache

/// A disk in front of a simulated one: what a conforming type does not do itself, the disk behind it does.
package protocol DiskDecorator: CacheFileSystem {
    var disk: DiskSimulation { get }
}

extension DiskDecorator {
    package func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        try disk.open(path, access)
    }
    package func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        try disk.read(file, into: buffer, at: offset)
    }
    package func makeDirectory(_ path: String) throws(CacheFileError) { try disk.makeDirectory(path) }
    package func list(_ directory: String) throws(CacheFileError) -> [String] { try disk.list(directory) }
    package func close(_ file: CacheFile) { disk.close(file) }
    package func size(of file: CacheFile) throws(CacheFileError) -> Int { try disk.size(of: file) }
    package func write(
        _ file: CacheFile, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        try disk.write(file, bytes, at: offset)
    }
    package func truncate(_ file: CacheFile, to size: Int) throws(CacheFileError) { try disk.truncate(file, to: size) }
    package func synchronizeData(_ file: CacheFile) throws(CacheFileError) { try disk.synchronizeData(file) }
    package func synchronize(_ file: CacheFile) throws(CacheFileError) { try disk.synchronize(file) }
    package func synchronizeDirectory(_ path: String) throws(CacheFileError) { try disk.synchronizeDirectory(path) }
    package func rename(_ path: String, to newPath: String) throws(CacheFileError) {
        try disk.rename(path, to: newPath)
    }
    package func unlink(_ path: String) throws(CacheFileError) { try disk.unlink(path) }
    package func lock(_ file: CacheFile) throws(CacheFileError) -> Bool { try disk.lock(file) }
}
