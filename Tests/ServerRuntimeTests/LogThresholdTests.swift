import Logging
import Synchronization
import Testing

@testable import ServerRuntime

private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
}

private struct Recorder: LogHandler {
    let lines: Lines
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.lines.withLock { $0.append(event.message.description) } }
}

@Suite("The log level")
struct LogThresholdTests {
    @Test func loggersMadeBeforeFollowAChange() {
        let lines = Lines()
        let threshold = LogThreshold(.warning)
        let logger = Logger(label: "x") { _ in AdjustableLogHandler(Recorder(lines: lines), threshold: threshold) }
        var quiet = logger
        quiet.logLevel = .error
        logger.info("a")
        threshold.current = .debug
        logger.debug("b")
        quiet.warning("c")
        quiet.error("d")
        threshold.current = .critical
        quiet.error("e")
        #expect(lines.lines.withLock { $0 } == ["b", "d"])
    }
}
