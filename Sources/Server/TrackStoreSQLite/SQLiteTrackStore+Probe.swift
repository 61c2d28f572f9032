import GRDB
import Synchronization
package import TrackStore

extension SQLiteTrackStore {
    package func probe() async throws(TrackStoreError) {
        try checkOpen()
        do {
            _ = try await probeConnection().read { try Int64.fetchOne($0, sql: "SELECT value FROM counter") }
        } catch {
            throw translated(error)
        }
    }

    /// The pool's readers may all be in use. The writer is no reader's affair.
    private func probeConnection() throws -> DatabaseQueue {
        try probing.withLock { probing in
            if let probing { return probing }
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(options.busyTimeout)
            configuration.label = "track store probe"
            let made = try DatabaseQueue(path: path, configuration: configuration)
            probing = made
            return made
        }
    }
}
