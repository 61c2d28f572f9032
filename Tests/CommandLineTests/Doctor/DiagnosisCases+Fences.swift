import AgentControl
import Diagnosing
import Varlink

@testable import SakerCommand

/// What is wrong with the server's fences on the vehicle.
extension DiagnosisTests {
    private static func server(
        online: LinkStatus.State = .online, _ change: (inout ServerFencesStatus) -> Void
    ) -> Facts {
        Facts.status { status in
            var server = ServerFencesStatus(
                version: 1_772_660_030_000, kept: 7, inside: 0, alarms: 2, confirmed: 2, unconfirmed: 0,
                reportsWaiting: 0,
                remembered: RememberedStatus(state: .durable))
            (server.changedTime, server.sent) = (server.version, true)
            change(&server)
            var fences = FencesStatus(
                kept: 0, watching: 0, inside: 0, alarms: 0, late: 0, leftOut: 0, dropped: 0, waiting: 0,
                lastAlarmTime: nil, lastError: nil, remembered: RememberedStatus(state: .durable))
            fences.server = server
            status.fences = fences
            status.link.state = online
        }
    }

    /// Minutes before the status, while the link stands for longer.
    private static func reports(_ minutes: Int64, linkSince: Int64 = 120) -> Facts {
        server { $0.reportsWaiting = 3 }.changedStatus { status in
            status.fences?.server?.reportsWaitingSince = status.time - minutes * 60_000
            status.link.since = status.time - linkSince * 60_000
        }
    }

    static let fenceCases = [
        Case("no server fences", Facts.healthy, .fences, .ok, "no fences of the server"),
        Case("server fences", server { _ in }, .fences, .ok, "7 fences of the server, changed"),
        Case(
            "only the nearest", server { ($0.kept, $0.completeWithin) = (10_000, 12_000) }, .fences, .ok,
            "10,000 fences of the server, only the nearest ones"),
        Case(
            "update not in use", server { $0.lastError = "too many vertices" }, .fences, .warning,
            "newest update is not in use: too many vertices", "saker reconnect"),
        Case(
            "an old server", server { $0.sent = false }, .fences, .warning, "sends no fences", "Update saker-server"),
        Case("an old server, offline", server(online: .waiting) { $0.sent = false }, .fences, .ok, "7 fences"),
        Case(
            "unreadable file", server { ($0.version, $0.kept, $0.fileError) = (0, 0, "it is damaged") }, .fences,
            .warning, "could not be read when the agent started, and the server has not sent them again: it is damaged",
            "saker reconnect"),
        Case(
            "unreadable file, offline", server(online: .waiting) { $0.fileError = "it is damaged" }, .fences, .warning,
            "it is damaged", "Bring the vehicle online"),
        Case(
            "not on the disk",
            server { $0.remembered = RememberedStatus(state: .failing, lastError: "no space left") }, .fences, .warning,
            "no space left", "check disk"),
        Case("reports on their way", reports(9), .fences, .ok, "7 fences"),
        Case("reports of an earlier link", reports(90, linkSince: 2), .fences, .ok, "7 fences"),
        Case(
            "reports without an answer", reports(11), .fences, .warning,
            "3 reports of alarms without an answer for 11 min",
            "journalctl -u saker-server"),
        Case("unconfirmed", server { $0.unconfirmed = 2 }, .fences, .warning, "2 early alarms", "same entity"),
        Case(
            "not judged", server { ($0.notJudged, $0.notJudgedReasons) = (1, ["the zone Mars/Olympus is unknown"]) },
            .fences, .warning, "1 of them judged by the server alone: the zone Mars/Olympus is unknown",
            "saker fence list --server"),
        Case("fences of an agent that is silent", silent(.missing), .fences, .notChecked, "cannot be asked"),
    ]
}
