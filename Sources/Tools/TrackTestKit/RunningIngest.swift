package import Ingest
import Logging
import TrackModel
package import TrackStore

/// A writer of points that runs until it is let go of.
package final class RunningIngest: Sendable {
    package let writer: IngestWriter

    /// Tests play at any time: no clock is before this program, unless `clock` says so.
    package init(
        _ store: any TrackStore, limits: IngestLimits = IngestLimits(),
        clock: ClockRule = ClockRule(made: Timestamp(milliseconds: .min))
    ) {
        let writer = IngestWriter(
            store: store, limits: limits, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            clock: clock)
        self.writer = writer
        // Ends when the writer is finished.
        Task { await writer.run() }
    }

    deinit { writer.finish() }
}
