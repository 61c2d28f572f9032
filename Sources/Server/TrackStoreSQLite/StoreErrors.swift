import SQLDatabase
import TrackStore

extension TrackStoreError {
    /// Errors of this program pass; errors of SQLite become errors of the store. The detail never holds SQL arguments,
    /// which may be positions.
    static func translated(_ error: any Error, path: String) -> TrackStoreError {
        if let own = error as? TrackStoreError { return own }
        if error is CancellationError {
            return TrackStoreError(.failed, "the work on \(path) was cancelled; nothing of it was stored")
        }
        guard let error = error as? SQLError else {
            return TrackStoreError(.failed, "the store \(path) failed: \(type(of: error))")
        }
        let reason = error.code == 0 ? error.message : "\(error.message) (SQLite code \(error.code))"
        switch error.kind {
        case .full where error.code == SQLError.sharedMemoryFull:
            return TrackStoreError(.full, "the store's shared memory \(path)-shm cannot grow: \(reason). Make room")
        case .full:
            return TrackStoreError(
                .full, "the store \(path) cannot grow: \(reason). Make room on its disk or raise its limit")
        case .busy:
            return TrackStoreError(.busy, "another process holds the store \(path): \(reason). Try again")
        case .notDatabase:
            return TrackStoreError(
                .corrupt, "\(path) is not a SQLite database: \(reason). Move it away or correct the store's path")
        case .corrupt, .mismatch:
            return TrackStoreError(
                .corrupt,
                "the store \(path) is damaged: \(reason). Stop the server, keep a copy, "
                    + "then restore a backup or save what is left with `sqlite3 \(path) .recover`")
        case .cannotOpen:
            return TrackStoreError(
                .failed,
                "the store \(path) cannot be opened for writing: \(reason). "
                    + "Its directory must exist and belong to the server's user")
        case .interrupted:
            return TrackStoreError(.failed, "the work on \(path) was interrupted; nothing of it was stored")
        case .constraint, .misuse, .failed:
            return TrackStoreError(.failed, "the store \(path) failed: \(reason)")
        }
    }
}
