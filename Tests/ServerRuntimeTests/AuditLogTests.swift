import Foundation
import ProgramTestKit
import Systemd
import Testing
import TrackModel
import TrackStore

@testable import ServerRuntime

/// Who has changed what, as the journal is told.
@Suite struct AuditLogTests {
    @Test func anEntrySaysWhatWasDoneAndByWhom() throws {
        let directory = try TemporaryDirectory()
        let journal = try NotifyListener(path: directory.path + "/journal")
        let service = try #require(ServiceID(rawValue: 7))
        AuditLog(path: journal.path, log: nil).note(.keyRevoke, in: service, about: "a1b2c3d4")
        let fields = Set(journal.received.split(separator: "\n"))
        for field in [
            "MESSAGE_ID=\(MessageID.administrativeAct)",
            "MESSAGE=An administrator has changed something (service 7, act key revoke, subject a1b2c3d4, who \(AuditLog.who))",
            "SAKER_ACT=key revoke", "SAKER_SERVICE=7", "SAKER_SUBJECT=a1b2c3d4", "SAKER_WHO=\(AuditLog.who)",
            "SYSLOG_IDENTIFIER=saker-server",
        ] { #expect(fields.contains(Substring(field)), "\(field) in \(fields)") }
        #expect(!AuditLog.who.isEmpty)
    }

    /// As in a container.
    @Test func withoutAJournalALogIsTold() throws {
        let directory = try TemporaryDirectory()
        let log = directory.path + "/log"
        try Data().write(to: URL(fileURLWithPath: log))
        let acts = AuditLog(path: directory.path + "/none", log: log)
        acts.note(.columnAdd, in: ServiceID(rawValue: 7), about: "track oil\nforged line")
        acts.note(.districtRemove, in: nil, about: "china")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        try #require(lines.count == 2)
        #expect(lines[0].contains("an administrator has changed something act=\"column add\""))
        #expect(lines[0].contains("service=7 subject=\"track oil\\nforged line\" who=\(AuditLog.who)"))
        #expect(lines[1].contains("act=\"district remove\" service=- subject=china"))
    }

    @Test func whatHasNoKeyIsToldToo() async throws {
        let directory = try TemporaryDirectory()
        let acts = AuditLog(path: directory.path + "/none", log: directory.path + "/log")
        try Data().write(to: URL(fileURLWithPath: directory.path + "/log"))
        let store = try await StoreFactory.make(at: directory.path + "/tracks.sqlite")
        let administration = ServiceAdministration(store: store, acts: acts)
        let service = try await administration.create(named: "A", isSigned: false).service.rawValue
        try await administration.addColumn(
            "oil", type: .double, kind: .track, description: "", isSearchable: false, to: service)
        try await administration.deleteColumn("oil", kind: .track, of: service)
        _ = try await administration.push(
            "{\"text\":\"Call\"}", type: 100, to: nil, lifetime: 60_000, in: service)
        let told = try String(contentsOfFile: directory.path + "/log", encoding: .utf8)
        for act in ["service create", "key create", "column add", "column delete", "push send"] {
            #expect(told.contains("act=\"\(act)\""), "\(act) in \(told)")
        }
    }
}
