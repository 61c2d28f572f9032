import TrackTestKit

@testable import TrackCache

/// Every call that changes the disk or makes it durable, as it was made: to be repeated up to any point.
struct WriteLog {
    enum Entry {
        case makeDirectory(String)
        case open(Int32, String, CacheFileAccess)
        case close(Int32)
        case write(Int32, [UInt8], at: Int)
        case truncate(Int32, Int)
        case synchronize(Int32)
        case synchronizeDirectory(String)
        case rename(String, String)
        case unlink(String)
    }

    var entries: [Entry] = []

    /// A simulated disk on which the first `count` entries have happened, and of the next one, when it is a write, the
    /// first `torn` bytes.
    func disk(after count: Int, torn: Int = 0, directory: String) throws -> DiskSimulation {
        let disk = DiskSimulation(directories: [directory])
        var files: [Int32: CacheFile] = [:]
        for entry in entries[..<count] { try Self.repeat(entry, on: disk, &files) }
        if torn > 0, case .write(let file, let bytes, let offset)? = entries.dropFirst(count).first {
            try Self.repeat(.write(file, Array(bytes.prefix(torn)), at: offset), on: disk, &files)
        }
        return disk
    }

    private static func `repeat`(
        _ entry: Entry, on disk: DiskSimulation, _ files: inout [Int32: CacheFile]
    ) throws {
        func file(_ number: Int32) throws -> CacheFile {
            guard let file = files[number] else { throw CacheFileError(.open, 9) }
            return file
        }
        switch entry {
        case .makeDirectory(let path): try disk.makeDirectory(path)
        case .open(let number, let path, let access): files[number] = try disk.open(path, access)
        case .close(let number): disk.close(try file(number))
        case .write(let number, let bytes, let offset):
            let done = try bytes.withUnsafeBytes { try disk.write(try file(number), $0, at: offset) }
            guard done == bytes.count else { throw CacheFileError(.write, 28) }
        case .truncate(let number, let size): try disk.truncate(try file(number), to: size)
        case .synchronize(let number): try disk.synchronize(try file(number))
        case .synchronizeDirectory(let path): try disk.synchronizeDirectory(path)
        case .rename(let path, let newPath): try disk.rename(path, to: newPath)
        case .unlink(let path): try disk.unlink(path)
        }
    }
}

/// Passes every call on to another file system and writes down what succeeded.
final class WriteLogFileSystem: CacheFileSystem {
    private(set) var log = WriteLog()
    /// Called before each call that changes something.
    var beforeChange: () -> Void = {}
    private let base: any CacheFileSystem

    init(_ base: any CacheFileSystem) { self.base = base }

    func makeDirectory(_ path: String) throws(CacheFileError) {
        beforeChange()
        try base.makeDirectory(path)
        log.entries.append(.makeDirectory(path))
    }

    func list(_ directory: String) throws(CacheFileError) -> [String] { try base.list(directory) }

    func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        if access != .readOnly { beforeChange() }
        let file = try base.open(path, access)
        log.entries.append(.open(file.descriptor, path, access))
        return file
    }

    func close(_ file: CacheFile) {
        base.close(file)
        log.entries.append(.close(file.descriptor))
    }

    func size(of file: CacheFile) throws(CacheFileError) -> Int { try base.size(of: file) }

    func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int { try base.read(file, into: buffer, at: offset) }

    func write(_ file: CacheFile, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CacheFileError) -> Int {
        beforeChange()
        let done = try base.write(file, bytes, at: offset)
        log.entries.append(.write(file.descriptor, Array(bytes.prefix(done)), at: offset))
        return done
    }

    func truncate(_ file: CacheFile, to size: Int) throws(CacheFileError) {
        beforeChange()
        try base.truncate(file, to: size)
        log.entries.append(.truncate(file.descriptor, size))
    }

    func synchronizeData(_ file: CacheFile) throws(CacheFileError) {
        beforeChange()
        try base.synchronizeData(file)
        log.entries.append(.synchronize(file.descriptor))
    }

    func synchronize(_ file: CacheFile) throws(CacheFileError) {
        beforeChange()
        try base.synchronize(file)
        log.entries.append(.synchronize(file.descriptor))
    }

    func synchronizeDirectory(_ path: String) throws(CacheFileError) {
        beforeChange()
        try base.synchronizeDirectory(path)
        log.entries.append(.synchronizeDirectory(path))
    }

    func rename(_ path: String, to newPath: String) throws(CacheFileError) {
        beforeChange()
        try base.rename(path, to: newPath)
        log.entries.append(.rename(path, newPath))
    }

    func unlink(_ path: String) throws(CacheFileError) {
        beforeChange()
        try base.unlink(path)
        log.entries.append(.unlink(path))
    }

    func lock(_ file: CacheFile) throws(CacheFileError) -> Bool { try base.lock(file) }
}
