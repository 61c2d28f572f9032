package import Ingest
import Logging
package import TrackStore

/// A writer of points that runs until it is let go of.
package final class RunningIngest: Sendable {
    package let writer: IngestWriter

    package init(_ store: any TrackStore, limits: IngestLimits = IngestLimits()) {
        let writer = IngestWriter(
            store: store, limits: limits, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        self.writer = writer
        // Ends when the writer is finished.
        Task { await writer.run() }
    }

    deinit { writer.finish() }
}
