internal import Logging
internal import NIOCore

/// Hands the agent's journal to the history.
struct ObservingLog: LogHandler {
    private let history: NIOLoopBound<History>
    private let process: ProcessLoop
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(_ history: NIOLoopBound<History>, _ process: ProcessLoop) {
        self.history = history
        self.process = process
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard process.isAlive else { return }
        history.value.agentSaid("\(event.message)", event.metadata)
    }
}
