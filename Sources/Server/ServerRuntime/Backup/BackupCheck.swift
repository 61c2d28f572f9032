import Glibc
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
    package static func run(_ directory: String) throws(ServerError) -> Result {
        let (manifest, findings) = try read(directory)
        return Result(
            made: manifest.made, program: manifest.program, schema: manifest.schema, storeBytes: manifest.store.bytes,
            newestReceived: findings.newestReceived, files: manifest.files.count)
    }

    static func read(_ directory: String) throws(ServerError) -> (BackupManifest, StoreCopy.Findings) {
        let path = "\(directory)/\(BackupManifest.fileName)"
        guard access(path, F_OK) == 0 else {
            throw ServerError(
                .notFound, "\(directory) is no backup: it has no file \(BackupManifest.fileName), which is written last"
            )
        }
        let text = try TextFile.read(path)
        let manifest = try BackupManifest(text, of: path)
        let sums = "\(directory)/\(BackupManifest.sumsName)"
        guard try TextFile.read(sums).utf8.elementsEqual(manifest.sums(of: Array(text.utf8))) else {
            throw ServerError(
                .file, "\(path) or \(sums) is not what was written: they contradict each other. Take another backup")
        }
        for entry in [manifest.store] + manifest.files {
            let file = "\(directory)/\(entry.name)"
            let (bytes, sum) = try BackupFile.sum(of: file)
            guard bytes == entry.bytes, sum == entry.sha256 else {
                throw ServerError(
                    .file,
                    "\(file) is not what was written: it has \(bytes) bytes of \(entry.bytes), or others. "
                        + "Take another backup")
            }
        }
        do throws(TrackStoreError) {
            return (manifest, try StoreCopy.examine("\(directory)/\(manifest.store.name)"))
        } catch {
            throw ServerError(error)
        }
    }
}
