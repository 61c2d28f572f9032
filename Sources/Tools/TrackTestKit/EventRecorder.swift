package import Logging
import Synchronization

/// Keeps the events of the journal that a logger is told.
package struct EventRecorder: LogHandler {
    private final class Events: Sendable {
        let list = Mutex<[Logger.Metadata]>([])
    }

    private let told = Events()
    package var logLevel = Logger.Level.trace
    package var metadata: Logger.Metadata = [:]

    package init() {}

    /// The message ids in their order.
    package var ids: [String] { fields.compactMap { $0["message_id"] } }

    /// The fields of each event, the message id among them.
    package var fields: [[String: String]] {
        told.list.withLock { $0.map { $0.mapValues { "\($0)" } } }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        guard let fields = event.metadata, fields["message_id"] != nil else { return }
        told.list.withLock { $0.append(fields) }
    }
}
