import Logging
import Testing

@testable import Systemd

@Suite struct JournalTests {
    let journald: DatagramListener
    let journal: Journal
    let logger: Logger

    init() throws {
        journald = try DatagramListener()
        let journal = try #require(Journal(path: journald.path))
        self.journal = journal
        logger = Logger(label: "uplink") { JournalLogHandler(label: $0, identifier: "sakerd", journal: journal) }
    }

    private static var entry: JournalEntry {
        var entry = JournalEntry()
        entry.append("MESSAGE", "x")
        return entry
    }

    private func fields() throws -> [String: String] {
        let datagram = try #require(journald.receive())
        return try #require(journalFields(datagram.bytes))
    }

    @Test func anEventBecomesFields() throws {
        var logger = logger
        logger[metadataKey: "entity"] = "truck-12"
        logger.warning(
            "The connection is down",
            metadata: ["message_id": "\(MessageID.linkLost)", "retry-after": "4 s", "server": "a=b"], file: "F.swift",
            function: "run()", line: 7)
        #expect(
            try fields() == [
                "MESSAGE": "The connection is down (entity truck-12, retry-after 4 s, server a=b)", "PRIORITY": "4",
                "SYSLOG_IDENTIFIER": "sakerd",
                "CODE_FILE": "F.swift", "CODE_LINE": "7", "CODE_FUNC": "run()", "SAKER_LOGGER": "uplink",
                "MESSAGE_ID": MessageID.linkLost.rawValue, "SAKER_ENTITY": "truck-12", "SAKER_RETRY_AFTER": "4 s",
                "SAKER_SERVER": "a=b",
            ])
    }

    @Test(arguments: zip(Logger.Level.allCases, ["7", "7", "6", "5", "4", "3", "2"]))
    func levelsAreSyslogPriorities(level: Logger.Level, priority: String) throws {
        var logger = logger
        logger.logLevel = .trace
        logger.log(level: level, "x")
        #expect(try fields()["PRIORITY"] == priority)
    }

    @Test func theStatementsMetadataCountsBeforeTheLoggers() throws {
        var logger = logger
        logger[metadataKey: "entity"] = "old"
        logger.info("x", metadata: ["entity": "new"])
        #expect(try fields()["SAKER_ENTITY"] == "new")
    }

    @Test func lineBreaksInValuesCannotForgeFields() throws {
        let value = "first\nPRIORITY=0\n\nMESSAGE=forged\n"
        logger.info("two\nlines", metadata: ["reason": "\(value)", "message_id": "no\nMESSAGE_ID=x"])
        let fields = try fields()
        #expect(fields["MESSAGE"] == "Two lines: first PRIORITY=0  MESSAGE=forged ")
        #expect(fields["SAKER_REASON"] == value)
        #expect(fields["PRIORITY"] == "6")
        #expect(fields["MESSAGE_ID"] == nil)
        #expect(fields["SAKER_MESSAGE_ID"] == "no\nMESSAGE_ID=x")
    }

    @Test func theBinaryFramingIsTheDocumentedOne() {
        var entry = JournalEntry()
        entry.append("A", "b")
        entry.append("C", "d\ne")
        #expect(entry.bytes == Array("A=b\nC\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("d\ne\n".utf8))
    }

    @Test(arguments: [
        ("entity", "SAKER_ENTITY"), ("_x", "SAKER__X"), ("9", "SAKER_9"), ("größe=\n", "SAKER_GR____E__"),
        (String(repeating: "k", count: 80), "SAKER_" + String(repeating: "K", count: 58)),
    ])
    func keysBecomeNamesThatTheJournalTakes(key: String, name: String) {
        #expect(JournalEntry.fieldName(forKey: key) == name)
    }

    @Test func whatFitsNoDatagramIsPassedInASealedFile() throws {
        let values = (0..<3).map { String(repeating: "\($0)", count: 200_000) }
        logger.info("large", metadata: ["a": "\(values[0])", "b": "\(values[1])", "c": "\(values[2])"])
        let datagram = try #require(journald.receive())
        #expect(datagram.bytes.isEmpty)
        #expect(datagram.seals == 15)
        let file = try #require(datagram.file)
        let fields = try #require(journalFields(file))
        #expect(try #require(fields["MESSAGE"]?.utf8.count) < 2048)
        #expect(["SAKER_A", "SAKER_B", "SAKER_C"].map { fields[$0] } == values)
    }

    @Test func aValueIsCutBetweenCharacters() {
        for offset in 0..<4 {
            var entry = JournalEntry()
            let start = String(repeating: "x", count: JournalEntry.maximumValue - offset)
            entry.append("A", start + "€€")
            let value = String(decoding: entry.bytes.dropFirst(2).dropLast(), as: UTF8.self)
            #expect(value == start + (offset == 3 ? "€" : ""))
        }
    }

    @Test func aJournalThatDoesNotKeepUpLosesEntriesAndCountsThem() throws {
        let before = SystemLog.lostMessages
        var written: UInt64 = 0
        while journal.send(Self.entry) { written += 1 }
        logger.info("x")
        #expect(SystemLog.lostMessages >= before + 2)
        var read: UInt64 = 0
        while journald.take() != nil { read += 1 }
        #expect(read == written)
        logger.info("again")
        #expect(try fields()["MESSAGE"] == "Again")
    }

    /// What `journalctl -u` and a forwarding to syslog show.
    @Test func theMessageIsASentenceWithItsReasonAndDetails() {
        func text(_ message: String, _ fields: [(String, String)]) -> String {
            JournalSentence.text(message, fields.map { (key: $0.0, value: $0.1) })
        }
        #expect(text("A login is refused", []) == "A login is refused")
        #expect(
            text(
                "a login is refused",
                [("reason", "no such key"), ("zone", "z"), ("address", "10.0.0.1"), ("entity", "van")])
                == "A login is refused: no such key (entity van, address 10.0.0.1, zone z)")
        #expect(text("saker-server stops", [("error", "x")]) == "saker-server stops: x")
        // What the message says already is not said again, and an unknown detail is left out.
        #expect(
            text("Points are lost: bound=3", [("reasons", "bound=3"), ("entity", "")]) == "Points are lost: bound=3")
        #expect(text("x", [("stored_through", "7")]) == "X (stored through 7)")
        #expect(text("x", [("a", "1\n\u{1B}[2J2")]) == "X (a 1  [2J2)")
        #expect(text("x", [("a", String(repeating: "é", count: 300))]).utf8.count < 220)
        #expect(text("x", [("reason", String(repeating: "é", count: 9000))]).utf8.count <= 2048)
    }

    @Test func withoutAJournalEntriesAreCounted() throws {
        let journal = try #require(Journal(path: "/nonexistent/socket"))
        let before = SystemLog.lostMessages
        #expect(!journal.send(Self.entry))
        #expect(SystemLog.lostMessages > before)
    }

    @Test func anErrorGivenWithAnEventIsAField() throws {
        struct Failure: Error, CustomStringConvertible { let description = "no route" }
        logger.error("x", error: Failure())
        #expect(try fields()["SAKER_ERROR"] == "no route")
    }
}
