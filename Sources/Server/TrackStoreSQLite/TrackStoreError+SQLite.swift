import GRDB
import TrackStore

extension TrackStoreError {
    /// Errors of this program pass; errors of SQLite become errors of the store. The detail never holds SQL arguments,
    /// which may be positions.
    static func translated(_ error: any Error, path: String) -> TrackStoreError {
        if let own = error as? TrackStoreError { return own }
        if error is CancellationError {
            return TrackStoreError(.failed, "the work on \(path) was cancelled; nothing of it was stored")
        }
        guard let error = error as? DatabaseError else {
            return TrackStoreError(.failed, "the store \(path) failed: \(type(of: error))")
        }
        let reason = "\(error.message ?? "no reason given") (SQLite code \(error.extendedResultCode.rawValue))"
        switch error.resultCode {
        case .SQLITE_FULL:
            return TrackStoreError(
                .full, "the store \(path) cannot grow: \(reason). Make room on its disk or raise its limit")
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE:
            // The only growth that SQLite does not report as full.
            return TrackStoreError(.full, "the store's shared memory \(path)-shm cannot grow: \(reason). Make room")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return TrackStoreError(.busy, "another process holds the store \(path): \(reason). Try again")
        case .SQLITE_NOTADB:
            return TrackStoreError(
                .corrupt, "\(path) is not a SQLite database: \(reason). Move it away or correct the store's path")
        case .SQLITE_CORRUPT:
            return TrackStoreError(
                .corrupt,
                "the store \(path) is damaged: \(reason). Stop the server, keep a copy, "
                    + "then restore a backup or save what is left with `sqlite3 \(path) .recover`")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY:
            return TrackStoreError(
                .failed,
                "the store \(path) cannot be opened for writing: \(reason). "
                    + "Its directory must exist and belong to the server's user")
        case .SQLITE_INTERRUPT, .SQLITE_ABORT:
            return TrackStoreError(.failed, "the work on \(path) was interrupted; nothing of it was stored")
        default:
            return TrackStoreError(.failed, "the store \(path) failed: \(reason)")
        }
    }
}
