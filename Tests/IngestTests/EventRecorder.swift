import Logging
import Synchronization

/// Keeps the events of the journal that a logger is told.
struct EventRecorder: LogHandler {
    private final class Events: Sendable {
        let list = Mutex<[String]>([])
    }

    private let events = Events()
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    /// The message ids in their order.
    var ids: [String] { events.list.withLock { $0 } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard let id = event.metadata?["message_id"] else { return }
        events.list.withLock { $0.append("\(id)") }
    }
}
