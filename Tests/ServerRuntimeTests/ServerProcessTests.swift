import Glibc
import Logging
import ProgramTestKit
import Synchronization
import Systemd
import Testing
import TrackModel
import TrackStore
import WebAPI

@testable import ServerRuntime

@Suite struct StartTimeoutExtensionTests {
    /// A copy whose steps are slow, by the clock of the test.
    @Test func systemdIsAskedForTimeWhileTheStartGetsOnAndNoLonger() throws {
        let directory = try TemporaryDirectory()
        let listener = try NotifyListener(path: directory.path + "/notify")
        let clocks = EnrolmentClocks()
        let startTimeout = StartTimeoutExtension(
            notifier: Notifier(environment: ["NOTIFY_SOCKET": listener.path]), clock: { clocks.monotonic })
        func asked() -> Int {
            listener.received.split(separator: "\n").count { $0 == "EXTEND_TIMEOUT_USEC=300000000" }
        }
        #expect(asked() == 0)
        // A step a second, for a quarter of an hour.
        for _ in 0..<900 {
            startTimeout.progress()
            clocks.pass(1)
            // The kernel keeps only a few datagrams that nobody has read.
            _ = listener.received
        }
        #expect(asked() == 90)
        // Each request reaches further than the next step, however slow it is.
        #expect(StartTimeoutExtension.interval < 300_000)
        clocks.pass(600)
        #expect(asked() == 90)
        startTimeout.progress()
        #expect(asked() == 91)
    }
}

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

@Suite struct FileLimitTests {
    @Test func theSoftLimitBecomesTheHardOne() {
        let allowed = FileLimit.raise()
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == limit.rlim_max)
        #expect(allowed == UInt64(limit.rlim_cur))
        // A second time there is nothing left to raise.
        #expect(FileLimit.raise() == allowed)
    }
}

@Suite(.timeLimit(.minutes(2))) struct WorkThreadsTests {
    private final class Order: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    /// One key has a hundred pieces of work, and another one that comes behind them has one: it is done before most of them.
    @Test func aKeyWithMuchToDoHoldsUpNoOther() async throws {
        let threads = WorkThreads(1)
        let order = Order()
        let much = threads.executor(for: .address("192.0.2.1"))
        let little = threads.executor(for: .address("192.0.2.2"))
        // The one thread is here while all of them are given to it.
        await Task(executorPreference: much) {
            await withTaskGroup(of: Void.self) { group in
                for piece in 0..<100 { group.addTask(executorPreference: much) { order.note("much \(piece)") } }
                group.addTask(executorPreference: little) { order.note("little") }
            }
        }.value
        #expect(order.all.count == 101)
        let place = try #require(order.all.firstIndex(of: "little"))
        #expect(place <= 1, "\(place)")
        try await threads.stop()
    }
}
