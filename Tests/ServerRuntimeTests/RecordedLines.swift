import Logging
import Synchronization

/// What a logger is told: each line with its metadata.
final class RecordedLines: Sendable {
    struct Line: Sendable {
        let text: String
        let metadata: [String: String]
    }

    private struct Handler: LogHandler {
        let lines: RecordedLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        init(_ lines: RecordedLines) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(text: "\(event.message)", metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
            lines.told.withLock { $0.append(line) }
        }
    }

    private let told = Mutex<[Line]>([])

    var all: [Line] { told.withLock { $0 } }
    var texts: [String] { all.map(\.text) }
    var logger: Logger { Logger(label: "test") { _ in Handler(self) } }
}
