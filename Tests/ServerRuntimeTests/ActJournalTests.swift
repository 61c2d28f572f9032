import ProgramTestKit
import Systemd
import Testing
import TrackModel

@testable import ServerRuntime

/// Who has changed what, as the journal is told.
@Suite struct ActJournalTests {
    @Test func anEntrySaysWhatWasDoneAndByWhom() throws {
        let directory = try TemporaryDirectory()
        let journal = try NotifyListener(path: directory.path + "/journal")
        let service = try #require(ServiceID(rawValue: 7))
        ActJournal(path: journal.path).note("key revoke", in: service, about: "a1b2c3d4")
        let fields = Set(journal.received.split(separator: "\n"))
        for field in [
            "MESSAGE_ID=\(MessageID.administrativeAct)", "MESSAGE=an administrator has changed something",
            "SAKER_ACT=key revoke", "SAKER_SERVICE=7", "SAKER_SUBJECT=a1b2c3d4", "SAKER_WHO=\(ActJournal.who)",
            "SYSLOG_IDENTIFIER=saker-server",
        ] { #expect(fields.contains(Substring(field)), "\(field) in \(fields)") }
        #expect(!ActJournal.who.isEmpty)
    }

    @Test func withoutAJournalNothingIsTold() throws {
        let directory = try TemporaryDirectory()
        let service = try #require(ServiceID(rawValue: 7))
        ActJournal(path: directory.path + "/none").note("key revoke", in: service)
    }
}
