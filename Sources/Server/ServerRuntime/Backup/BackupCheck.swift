import DirectoryAccess
package import TrackModel
import TrackStore
import TrackStoreSQLite

/// Whether a backup is still what was written: its list, the sum of each file, and every page of its store.
package struct BackupCheck: Sendable {
    package struct Result: Sendable {
        /// When it was made, ISO 8601.
        package let made: String
        package let program: String
        package let schema: Int
        package let storeBytes: Int64
        package let newestReceived: Timestamp?
        /// How many files it has besides the store.
        package let files: Int
    }

    /// Reads all of a backup.
    ///
    /// - Throws: ``ServerError`` with the first file that is not as it was written.
    package static func run(_ directory: String, _ progress: BackupProgress? = nil) throws(ServerError) -> Result {
        let (manifest, findings) = try read(
            try BackupFile.opening(directory) { () throws(FileTrouble) in try DirectoryHandle(directory) }, progress)
        return Result(
            made: manifest.made, program: manifest.program, schema: manifest.schema, storeBytes: manifest.store.bytes,
            newestReceived: findings.newestReceived, files: manifest.files.count)
    }

    static func read(
        _ handle: borrowing DirectoryHandle, _ progress: BackupProgress?
    ) throws(ServerError) -> (BackupManifest, StoreCopy.Findings) {
        let directory = handle.path
        let path = "\(directory)/\(BackupManifest.fileName)"
        guard handle.status(of: FileName(BackupManifest.fileName)) != nil else {
            throw ServerError(
                .notFound, "\(directory) is no backup: it has no file \(BackupManifest.fileName), which is written last"
            )
        }
        let text = try TextFile.read(BackupManifest.fileName, in: handle)
        let manifest = try BackupManifest(text, of: path)
        let sums = "\(directory)/\(BackupManifest.sumsName)"
        guard
            try TextFile.read(BackupManifest.sumsName, in: handle).utf8.elementsEqual(
                manifest.sums(of: Array(text.utf8)))
        else {
            throw ServerError(
                .file, "\(path) or \(sums) is not what was written: they contradict each other. Take another backup")
        }
        for entry in [manifest.store] + manifest.files { progress?.expect(entry.bytes) }
        for entry in [manifest.store] + manifest.files {
            let file = "\(directory)/\(entry.name)"
            let (bytes, sum) = try BackupFile.sum(of: FileName(entry.name), in: handle, progress)
            guard bytes == entry.bytes, sum == entry.sha256 else {
                throw ServerError(
                    .file,
                    "\(file) is not what was written: it has \(bytes) bytes of \(entry.bytes), or others. "
                        + "Take another backup")
            }
        }
        // A store with a log would make SQLite write beside it.
        for ending in ["-wal", "-shm", "-journal"]
        where handle.status(of: FileName(BackupManifest.storeName + ending)) != nil {
            throw ServerError(
                .file, "\(directory)/\(BackupManifest.storeName)\(ending) is no part of a backup. Take another backup")
        }
        // SQLite opens it by its path, and follows a link that somebody has put there since.
        let findings = try WorkingUser.withRights(of: handle) { () throws(ServerError) in
            do throws(TrackStoreError) {
                return try StoreCopy.examine("\(directory)/\(manifest.store.name)")
            } catch {
                throw ServerError(error)
            }
        }
        return (manifest, findings)
    }
}
