/// The file `lock` of a cache directory, open and locked: no other process changes what stands there.
struct DirectoryLock {
    static let name = "lock"

    let file: CacheFile

    /// - Throws: `EWOULDBLOCK` of `.lock` when another process holds it.
    static func take(
        in directory: String, _ files: any CacheFileSystem
    ) throws(CacheFileError) -> DirectoryLock {
        let file = try files.openFile("\(directory)/\(name)", .readWriteOrCreate)
        do throws(CacheFileError) {
            guard try files.lock(file) else { throw CacheFileError(.lock, wouldBlockErrno) }
        } catch {
            files.close(file)
            throw error
        }
        return DirectoryLock(file: file)
    }

    /// Tells people which process holds the lock, and the process that comes second.
    func sign(_ files: any CacheFileSystem) throws(CacheFileError) {
        let text = Array("\(processIdentifier)\n".utf8)
        try files.writeFully(file, text, at: 0)
        try files.truncate(file, to: text.count)
    }

    /// The process that the holder's signature names; nil when nothing can be read there.
    static func holder(in directory: String, _ files: any CacheFileSystem) throws(CacheFileError) -> Int? {
        let file = try files.openFile("\(directory)/\(name)", .readOnly)
        defer { files.close(file) }
        let text = try files.bytes(of: file, at: 0, count: 32)
        return Int(String(decoding: text.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
}

extension CacheFileError {
    /// Another process holds the directory.
    var isHeldByAnother: Bool { operation == .lock && number == wouldBlockErrno }
}
