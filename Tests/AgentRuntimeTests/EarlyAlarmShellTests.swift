import AlarmLog
import DiskRing
import JSON
import LocalFences
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// No early alarm is forgotten because the disk had no time for it, or refused to show it.
@Suite struct EarlyAlarmShellTests {
    private final class Setup {
        let log = EventRecorder()
        let bench: ShellBench
        let disk: DiskSimulation
        let journal: SlowDisk<AlarmJournal>
        let ring: SlowDisk<DiskRing>
        private(set) var sent: [AlarmUpload] = []
        private(set) lazy var shell = EarlyAlarmShell(bench.context, journal: journal, ring: ring) {
            [unowned self] effect in
            switch effect {
            case .send(let report): sent.append(report)
            }
        }

        var stream: StreamID { CacheSnapshot(ring.subject).stream }

        init(_ disk: DiskSimulation = DiskSimulation(seed: 1, directories: ["/", "/state"])) throws {
            self.disk = disk
            bench = ShellBench(log: log)
            journal = SlowDisk(AlarmJournal(directory: "/state", fileSystem: disk, now: 0))
            ring = SlowDisk(try DiskRing(directory: "/cache", fileSystem: disk, now: 0))
        }

        /// An early alarm of the van, of the point with this sequence of the stream or of another one.
        @discardableResult
        func early(_ id: UInt64, sequence: UInt64, of stream: StreamID? = nil) throws -> UInt64 {
            var key = [UInt8](repeating: 0, count: 15)
            key.append(UInt8(id))
            let digits = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let alarm = NewAlarm(
                id: id, type: 3, entity: "van", time: 1_780_000_000_000, received: 1, body: "{\"key\":\"\(digits)\"}",
                fence: AlarmFence(fence: 1, action: .enter),
                early: EarlyAlarmPoint(stream: stream ?? self.stream, sequence: sequence), service: 7)
            guard case .new(let kept) = try journal.subject.append(alarm, isOwed: false, now: 0) else {
                Issue.record("the journal does not take the alarm")
                return 0
            }
            return kept.number
        }

        func logIn(storedThrough: UInt64 = 0, acknowledged: UInt64 = 0) {
            shell.loggedIn(
                as: "van", of: 7, takesReports: true, storedThrough: storedThrough, acknowledged: acknowledged,
                stream: stream)
        }

        /// The disk works, and whatever follows from it.
        func work() {
            for _ in 0..<5 {
                journal.work()
                ring.work()
                bench.loop.run()
            }
        }

        func wait(seconds: Int64) {
            for _ in 0..<seconds {
                bench.loop.advanceTime(by: .seconds(1))
                work()
            }
        }

        /// How the alarms of the journal stand.
        func reports() throws -> [ReportState] {
            try journal.subject.alarms(AlarmQuery(), now: 0).alarms.map(\.report)
        }

        func answerAll() {
            for report in sent {
                var answer = AlarmUploadAck()
                answer.id = report.id
                shell.answered(answer)
            }
            sent = []
        }
    }

    private static let other = StreamID(high: 9, low: 9)

    /// The point of the alarm is of a stream that never comes: the server is to be told. The disk has no room for the note.
    @Test func anAlarmIsReportedAlsoWhenTheJournalTookNoNoteOfIt() throws {
        let setup = try Setup()
        try setup.early(11, sequence: 5, of: Self.other)
        setup.shell.open()
        setup.work()
        #expect(setup.shell.waitingCount == 1)
        setup.journal.accepts = false
        setup.logIn()
        setup.work()
        #expect(try setup.reports() == [.none] && setup.sent.isEmpty)
        setup.wait(seconds: 3)
        setup.journal.accepts = true
        setup.wait(seconds: 5)
        #expect(try setup.reports() == [.wanted])
        #expect(setup.sent.map(\.alarms.count) == [1])
        #expect(setup.log.ids.contains(MessageID.alarmJournalFailed.description))
        #expect(setup.log.ids.contains(MessageID.alarmJournalReturned.description))
    }

    /// What the server has answered is noted, and the alarm is not sent again meanwhile.
    @Test func anAnswerIsNotedAlsoWhenTheDiskHadNoRoomForIt() throws {
        let setup = try Setup()
        try setup.early(11, sequence: 5, of: Self.other)
        setup.shell.open()
        setup.work()
        setup.logIn()
        setup.work()
        #expect(setup.sent.map(\.alarms.count) == [1])
        setup.journal.accepts = false
        setup.answerAll()
        setup.work()
        #expect(try setup.reports() == [.wanted])
        setup.journal.accepts = true
        setup.wait(seconds: 70)
        #expect(try setup.reports() == [.done] && setup.sent.isEmpty)
    }

    @Test(arguments: [false, true]) func theAlarmsOfBeforeAreReadAsSoonAsTheDiskShowsThem(hangs: Bool) throws {
        let before = try Setup()
        try before.early(11, sequence: 5, of: Self.other)
        before.disk.killProcess()
        // The disk refuses when the next process begins, or has no time.
        if !hangs { before.disk.faults = [DiskFault([.open, .read, .size], number: 5)] }
        let journal = AlarmJournal(directory: "/state", fileSystem: before.disk, now: 0)
        before.disk.faults = []
        let setup = try Setup(before.disk)
        let slow = SlowDisk(journal)
        if !hangs { before.disk.faults = [DiskFault([.open, .read, .size], number: 5)] }
        slow.accepts = !hangs
        var sent: [AlarmUpload] = []
        let shell = EarlyAlarmShell(setup.bench.context, journal: slow, ring: setup.ring) { effect in
            switch effect {
            case .send(let report): sent.append(report)
            }
        }
        func work() {
            for _ in 0..<5 {
                slow.work()
                setup.work()
            }
        }
        shell.open()
        work()
        #expect(shell.waitingCount == 0)
        #expect(setup.log.ids == [MessageID.alarmJournalFailed.description])
        // The login does not wait for the disk. What it says counts for the alarms that are read later.
        shell.loggedIn(
            as: "van", of: 7, takesReports: true, storedThrough: 0, acknowledged: 0, stream: setup.stream)
        work()
        #expect(sent.isEmpty)
        before.disk.faults = []
        slow.accepts = true
        for _ in 0..<130 {
            setup.bench.loop.advanceTime(by: .seconds(1))
            work()
        }
        #expect(sent.first?.alarms.count == 1)
        let report = try #require(sent.first)
        var answer = AlarmUploadAck()
        answer.id = report.id
        shell.answered(answer)
        work()
        #expect(try journal.alarms(AlarmQuery(), now: 1_000_000).alarms.map(\.report) == [.done])
    }

    /// Reports wait in the journal, and the disk refuses to show them while nothing else happens.
    @Test func reportsThatCouldNotBeReadAreReadLater() throws {
        let setup = try Setup()
        try setup.early(11, sequence: 5, of: Self.other)
        setup.journal.subject.note(.wanted, of: [1])
        setup.shell.open()
        setup.work()
        setup.journal.accepts = false
        setup.logIn()
        setup.work()
        #expect(setup.sent.isEmpty)
        setup.journal.accepts = true
        setup.wait(seconds: 5)
        #expect(setup.sent.map(\.alarms.count) == [1])
    }

    /// A server that was put back has lost the alarm. Nobody would ask at the next login.
    @Test func alarmsThatTheServerForgotAreReportedAlsoWhenTheDiskHadNoRoom() throws {
        let setup = try Setup()
        try setup.early(11, sequence: 5)
        setup.journal.subject.note(.done, of: [1])
        setup.shell.open()
        setup.work()
        setup.journal.accepts = false
        setup.logIn(storedThrough: 2, acknowledged: 9)
        setup.work()
        #expect(try setup.reports() == [.done])
        // The next login finds nothing missing any more.
        setup.shell.linkClosed()
        setup.logIn(storedThrough: 9, acknowledged: 9)
        setup.journal.accepts = true
        setup.wait(seconds: 70)
        #expect(try setup.reports() == [.wanted])
        #expect(setup.sent.map(\.alarms.count) == [1])
    }

    @Test func nothingIsTriedAfterTheEnd() throws {
        let setup = try Setup()
        setup.journal.accepts = false
        setup.shell.open()
        setup.work()
        setup.shell.shutDown()
        setup.journal.accepts = true
        setup.wait(seconds: 70)
        #expect(setup.shell.waitingCount == 0)
    }
}
