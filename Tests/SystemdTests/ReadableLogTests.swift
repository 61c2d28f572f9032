import Glibc
import Logging
import Testing

@testable import Systemd

@Suite struct ReadableLogTests {
    private func line(
        _ message: Logger.Message, level: Logger.Level = .info, _ metadata: Logger.Metadata = [:]
    ) -> String {
        let event = LogEvent(
            level: level, message: message, metadata: metadata, source: nil, file: "", function: "", line: 1)
        return String(decoding: ReadableLogHandler().line(for: event, at: 1_795_255_200), as: UTF8.self)
    }

    @Test func aLineHasTimeLevelMessageAndSortedValues() {
        #expect(line("Link lost", ["b": "2", "a": "x y"]) == "2026-11-21T10:00:00Z info  Link lost a=\"x y\" b=2\n")
        #expect(line("x", level: .warning) == "2026-11-21T10:00:00Z warn  x\n")
        #expect(line("x", ["message_id": "\(MessageID.linkLost)"]) == "2026-11-21T10:00:00Z info  x\n")
    }

    @Test func nothingBreaksTheLineOrSteersTheTerminal() {
        #expect(
            line("a\nb\u{1b}[2J\u{7f}\u{85}\u{2028}\u{202e}", ["k\n": "v\r"])
                == "2026-11-21T10:00:00Z info  a\\nb\\u{1b}[2J\\u{7f}\\u{85}\\u{2028}\\u{202e} k\\n=v\\u{d}\n")
    }

    @Test func whatNobodySeesIsEscaped() {
        #expect(
            line("a\u{3164}\u{2800}\u{34f}b", ["k\u{ffa0}": "\u{115f}"])
                == "2026-11-21T10:00:00Z info  a\\u{3164}\\u{2800}\\u{34f}b k\\u{ffa0}=\\u{115f}\n")
        // Of scripts and emoji only the joiners are escaped.
        #expect(line("न\u{94d}\u{fe0f}é京") == "2026-11-21T10:00:00Z info  न\u{94d}\u{fe0f}é京\n")
    }

    @Test(arguments: [("", "\"\""), ("a=b", "\"a=b\""), ("say \"hi\"", "\"say \\\"hi\\\"\""), ("a\\b", "\"a\\\\b\"")])
    func ambiguousValuesAreQuoted(value: String, shown: String) {
        #expect(ReadableText.quotedIfNeeded(value) == shown)
    }

    @Test func aLongLineIsCutBetweenCharacters() {
        for padding in 0..<4 {
            let text = line("\(String(repeating: "x", count: padding) + String(repeating: "€", count: 3000))")
            #expect(text.utf8.count <= ReadableLogHandler.maximumLine)
            #expect(text.utf8.count > ReadableLogHandler.maximumLine - 4)
            #expect(text.hasSuffix("€…\n"))
        }
    }

    @Test func aFullPipeLosesLinesInsteadOfWaiting() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let logger = Logger(label: "x") { _ in ReadableLogHandler(descriptor: ends[1]) }
        // More than any pipe holds: a waiting write would never return.
        let before = SystemLog.lostMessages
        for _ in 0..<50_000 { logger.info("to nobody") }
        #expect(SystemLog.lostMessages > before)
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(ends[0], &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        #expect(text.hasSuffix("to nobody\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.hasSuffix("Z info  to nobody") })
    }

    @Test func theJournalIsUsedOnlyWhenItIsTheStream() throws {
        let journald = try DatagramListener()
        var status = stat()
        #expect(fstat(STDERR_FILENO, &status) == 0)
        func handler(_ stream: String?) -> any LogHandler {
            SystemLog.handlerFactory(
                identifier: "sakerd", level: .debug, environment: stream.map { ["JOURNAL_STREAM": $0] } ?? [:],
                journalPath: journald.path)("x")
        }
        #expect(handler("\(status.st_dev):\(status.st_ino)") is JournalLogHandler)
        #expect(handler("\(status.st_dev):\(status.st_ino)").logLevel == .debug)
        for other in [nil, "", ":", "1:2:3", "\(status.st_dev):\(status.st_ino + 1)", "x:y"] {
            #expect(handler(other) is ReadableLogHandler)
        }
    }
}
