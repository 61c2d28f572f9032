package import Logging
import Synchronization

/// The least severity of the whole process, which a reload may change.
package final class LogThreshold: Sendable {
    private let level: Mutex<Logger.Level>

    package init(_ level: Logger.Level) {
        self.level = Mutex(level)
    }

    package var current: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }
}

/// Any log handler, with its level taken from one place: loggers that were made long ago follow a change.
package struct AdjustableLogHandler: LogHandler {
    private var inner: any LogHandler
    private let threshold: LogThreshold

    /// The inner handler must let everything through.
    package init(_ inner: any LogHandler, threshold: LogThreshold) {
        self.inner = inner
        self.inner.logLevel = .trace
        self.threshold = threshold
    }

    /// Setting it can only make one logger quieter than the process: that is what its holder wants.
    package var logLevel: Logger.Level {
        get { max(own ?? .trace, threshold.current) }
        set { own = newValue }
    }
    private var own: Logger.Level?

    package var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = newValue }
    }

    package var metadataProvider: Logger.MetadataProvider? {
        get { inner.metadataProvider }
        set { inner.metadataProvider = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key] }
        set { inner[metadataKey: key] = newValue }
    }

    package func log(event: LogEvent) {
        inner.log(event: event)
    }
}
