import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import AlarmLog

/// What becomes of early alarms, and which of them a server that has forgotten points is told of again.
@Suite struct EarlyUpdateTests {
    private let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])
    private let stream = StreamID(high: 1, low: 2)

    private func open() -> AlarmJournal { AlarmJournal(directory: "/var/saker", fileSystem: disk, now: .start) }

    private func early(_ id: UInt64, _ sequence: UInt64, of stream: StreamID? = nil) -> NewAlarm {
        var alarm = NewAlarm.fence(id)
        alarm.type = 3
        alarm.early = EarlyAlarmPoint(stream: stream ?? self.stream, sequence: sequence)
        alarm.service = 1
        return alarm
    }

    private func push(_ id: UInt64) -> NewAlarm {
        NewAlarm(id: id, type: 3, entity: "van_07", time: 1, received: 5, body: "{}")
    }

    @Test func thePushOfAReportedAlarmIsAcknowledgedOnlyWhenItIsDurable() throws {
        let journal = open()
        let number = try #require(try journal.append(early(11, 7), isOwed: false).number)
        journal.note(.done, of: [number])
        #expect(try journal.append(push(11), isOwed: false) == .known)
        disk.crash(seed: 3)
        let again = open()
        #expect(try again.alarms(AlarmQuery()).alarms.map(\.isConfirmed) == [true])
        #expect(try again.append(push(11), isOwed: false) == .known)
    }

    /// The next login may find the server ahead of the lost points again, and then nobody asks.
    @Test func whatIsToBeReportedAgainLasts() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])
            let journal = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: .start)
            #expect(try journal.append(early(11, 7), isOwed: false).number == 1)
            #expect(try journal.append(push(11), isOwed: false) == .confirmed(1))
            let lost = ForgottenPoints(stream: stream, sequences: 5...9)
            #expect(try journal.reportAgain(of: "van_07", service: 1, without: lost, now: .start) == 1)
            disk.crash(seed: seed)
            let again = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: .start)
            #expect(again.reportCount == 1, "power cut \(seed)")
        }
    }

    /// Points 11 to 20 are lost.
    @Test func onlyWhatTheServerMayHaveForgottenIsReportedAgain() throws {
        let journal = open()
        let other = StreamID(high: 9, low: 9)
        func add(_ alarm: NewAlarm, isConfirmed: Bool = false, _ report: ReportState = .none) throws -> UInt64 {
            let number = try #require(try journal.append(alarm, isOwed: false).number)
            if isConfirmed { #expect(try journal.append(push(alarm.id), isOwed: false) == .confirmed(number)) }
            if report != .none { journal.note(report, of: [number]) }
            return number
        }
        var ofOther = early(9, 15)
        ofOther.entity = "van_08"
        var elsewhere = early(10, 15)
        elsewhere.service = 2
        var own = NewAlarm.fence(12)
        own.service = 1
        let wanted = [
            try add(early(1, 11), isConfirmed: true), try add(early(2, 20)), try add(early(3, 5), .done),
            try add(early(4, 1, of: other), isConfirmed: true), try add(own, .done),
            // Their points come again, and the server judges them from places of before.
            try add(early(6, 21), isConfirmed: true), try add(early(14, 22)),
        ]
        _ = try add(early(5, 10), isConfirmed: true)
        _ = try add(early(7, 15), .refused)
        _ = try add(early(8, 3, of: other))
        _ = try add(ofOther, isConfirmed: true)
        _ = try add(elsewhere, isConfirmed: true)
        var local = NewAlarm.fence(13)
        local.service = 1
        _ = try add(local)
        let lost = ForgottenPoints(stream: stream, sequences: 11...20)
        #expect(try journal.reportAgain(of: "van_07", service: 1, without: lost, now: .start) == wanted.count)
        disk.crash(seed: 5)
        let again = open()
        let reports = try again.reports(of: "van_07", service: 1, limit: 100, bytes: 1 << 20, now: .start)
        #expect(reports.map(\.number) == wanted)
        #expect(again.foreignReportCount(besides: "van_07", of: 1) == 0)
        // They wait already.
        #expect(try again.reportAgain(of: "van_07", service: 1, without: lost, now: .start) == 0)
        again.note(.done, of: Set(wanted))
        #expect(try again.alarms(AlarmQuery()).alarms.filter(\.isConfirmed).count == 9)
    }

    /// The ring has forgotten that the server had its points, and so sends them again; the server has lost them.
    @Test func anAlarmThatWasConfirmedTellsThatTheServerHasForgotten() throws {
        let journal = open()
        #expect(try journal.append(early(1, 11), isOwed: false).number == 1)
        #expect(try journal.append(early(2, 12), isOwed: false).number == 2)
        let lost = ForgottenPoints(stream: stream, sequences: 11...11, isCertain: false)
        #expect(try journal.reportAgain(of: "van_07", service: 1, without: lost, now: .start) == 0)
        #expect(try journal.append(push(2), isOwed: false) == .confirmed(2))
        let later = ForgottenPoints(stream: stream, sequences: 13...13, isCertain: false)
        #expect(try journal.reportAgain(of: "van_07", service: 1, without: later, now: .start) == 0)
        #expect(try journal.reportAgain(of: "van_08", service: 1, without: lost, now: .start) == 0)
        #expect(try journal.reportAgain(of: "van_07", service: 1, without: lost, now: .start) == 2)
    }
}
