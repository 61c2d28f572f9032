import Logging
import Synchronization
import Testing
import TrackModel

@testable import AgentRuntime

/// What a sender can make the agent write into the journal is bounded, and what was left out is said.
@Suite struct JournalBudgetTests {
    private final class Journal: Sendable {
        private let written = Mutex<[String]>([])
        let now = Mutex(MonotonicTime(milliseconds: 0))

        var lines: [String] { written.withLock { $0 } }

        func makeLog() -> (log: Logger, budget: JournalBudget) {
            let budget = JournalBudget(clock: { self.now.withLock { $0 } })
            return (Logger(label: "agent", factory: budget.bounding { _ in Handler(journal: self) }), budget)
        }

        private struct Handler: LogHandler {
            let journal: Journal
            var metadata = Logger.Metadata()
            var logLevel = Logger.Level.info

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
                journal.written.withLock { $0.append("\(event.message)\(fields.joined())") }
            }
        }
    }

    @Test func aServerThatSendsWithoutEndWritesLittle() {
        let journal = Journal()
        let (log, budget) = journal.makeLog()
        for number in 0..<5000 { log.warning("Points are refused", metadata: ["stream": "\(number)"]) }
        #expect(journal.lines.count == 100)
        log.error("The disk is full")
        #expect(journal.lines.last == "The disk is full")

        journal.now.withLock { $0 += 2000 }
        for _ in 0..<2 { log.warning("Points are refused") }
        #expect(journal.lines.count == 102)
        #expect(journal.lines.last == "Points are refused skipped=4900")

        budget.sayLeftOut(with: log)
        #expect(journal.lines.count == 102)
        journal.now.withLock { $0 += 60_000 }
        budget.sayLeftOut(with: log)
        #expect(journal.lines.last == "Lines of the journal were left out line=Points are refused skipped=1")
        budget.sayLeftOut(with: log)
        #expect(journal.lines.count == 103)
    }

    @Test func aUserWhoCallsWithoutEndHidesNoOtherUser() {
        let journal = Journal()
        let (log, _) = journal.makeLog()
        for _ in 0..<5000 { log.info("A call has changed something", metadata: ["uid": "1000", "method": "x"]) }
        #expect(journal.lines.count == 100)
        log.info("A call has changed something", metadata: ["uid": "0", "method": "StopService"])
        #expect(journal.lines.last == "A call has changed something method=StopService uid=0")
    }

    /// Texts that differ each time do not get around the bound.
    @Test func allMessagesTogetherHaveABudget() {
        let journal = Journal()
        let (log, budget) = journal.makeLog()
        for number in 0..<20_000 { log.info("text \(number)") }
        #expect(journal.lines.count == 1000)
        journal.now.withLock { $0 += 600_000 }
        budget.sayLeftOut(with: log)
        #expect(journal.lines.count <= 1000 + 21)
        #expect(journal.lines.last?.hasPrefix("Lines of the journal were left out line=others skipped=") == true)
    }
}
