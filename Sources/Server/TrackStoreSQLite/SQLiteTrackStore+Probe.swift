import SQLDatabase
import Synchronization
package import TrackStore

extension SQLiteTrackStore {
    package func probe() async throws(TrackStoreError) {
        try checkOpen()
        do {
            _ = try await probeConnection().read { try $0.value(Int64.self, "SELECT value FROM counter") }
        } catch {
            throw translated(error)
        }
    }

    /// All readers may be in use. The writer is no reader's affair.
    private func probeConnection() throws -> SQLiteQueue {
        try probing.withLock { probing in
            if let probing { return probing }
            let made = try SQLiteQueue(path: path, .readOnly, busyTimeout: options.busyTimeout)
            probing = made
            return made
        }
    }
}
