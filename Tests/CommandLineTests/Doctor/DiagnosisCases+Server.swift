import AgentControl
import Diagnosing
import JSON
import Varlink

@testable import SakerCommand

/// What is wrong on the way to the server.
extension DiagnosisTests {
    static let serverCases = [
        Case(
            "no name",
            Facts.link(.waiting, "name_resolution").changed {
                $0.server = unresolved(.failed("not known"))
            },
            .dns, .failed, "not known", "host in [server]"),
        Case(
            "no name, no port",
            Facts.link(.waiting, "name_resolution").changed {
                $0.server = unresolved(.timeout)
            }, .tcp,
            .notChecked, "name is not found"),
        Case(
            "no name, and online", Facts.with { $0.server = unresolved(.timeout) },
            .dns, .warning,
            "connection stands", "getent hosts"),
        Case(
            "closed port",
            Facts.link(.waiting, "connect_refused").changed { $0.server?.connection = .refused("Connection refused") },
            .tcp, .failed, "Connection refused", "systemctl status saker-server"),
        Case(
            "no way", Facts.link(.waiting, "connect_timeout").changed { $0.server?.connection = .failed("timed out") },
            .tcp,
            .failed, "timed out", "firewall"),
        Case(
            "closed port, no TLS",
            Facts.link(.waiting, "connect_refused").changed { $0.server?.connection = .refused("no") }, .tls,
            .notChecked, "port does not answer"),
        Case(
            "open since", Facts.link(.waiting, "connect_refused"), .tls, .notChecked, "did not reach TLS",
            "saker reconnect"),
        Case(
            "untrusted", Facts.link(.refused, "certificate_untrusted"), .tls, .failed, "so it is",
            "into /etc/saker/ca.pem"),
        Case("wrong name", Facts.link(.refused, "certificate_wrong_name"), .tls, .failed, "", "server_name"),
        Case(
            "expired", Facts.link(.refused, "certificate_expired"), .tls, .failed, "", "saker-server certificate renew"),
        Case("pin", Facts.link(.refused, "pin_mismatch"), .tls, .failed, "", "pinned_key"),
        Case(
            "client certificate", Facts.link(.refused, "client_certificate_refused"), .tls, .failed, "",
            "client_certificate"),
        Case("not TLS", Facts.link(.waiting, "not_tls"), .tls, .failed, "", "device port"),
        Case(
            "unusable files", Facts.link(.refused, "credentials_unusable", "ca.pem holds no PEM certificates"), .tls,
            .failed, "ca.pem holds no", "by itself"),
        Case(
            "unusable files, closed port",
            Facts.link(.refused, "credentials_unusable").changed { $0.server?.connection = .refused("no") }, .tls,
            .failed, "so it is", "by itself"),
        Case("sign-in page", Facts.link(.waiting, "sign_in_page"), .tls, .failed, "so it is", "Sign in"),
        Case("plain HTTP", Facts.link(.waiting, "plain_http"), .tls, .failed, "", "web port"),
        Case("proxy that speaks HTTP", Facts.link(.waiting, "alpn_mismatch"), .tls, .failed, "", "undecrypted"),
        Case("another server", Facts.link(.waiting, "foreign_server"), .tls, .failed, "", "sign-in page"),
        Case("proxy in between", Facts.link(.refused, "certificate_untrusted"), .tls, .failed, "", "proxy on the way"),
        Case("cut", Facts.link(.waiting, "handshake_cut"), .tls, .failed, "", "firewall"),
        Case("silent", Facts.link(.waiting, "handshake_timeout"), .tls, .failed, "", "smaller MTU"),
        Case("old TLS", Facts.link(.waiting, "protocol_version"), .tls, .failed, "", "minimum_tls"),
        Case("unheard-of", Facts.link(.waiting, "something_new"), .tls, .failed, "", "saker reconnect"),
        Case("no TLS, no login", Facts.link(.refused, "certificate_untrusted"), .login, .notChecked, "TLS failed"),
        Case("key", Facts.link(.refused, "key_refused"), .login, .failed, "access key", "/etc/saker/credentials/ak"),
        Case("key, so TLS", Facts.link(.refused, "key_refused"), .tls, .ok),
        Case("revoked", Facts.link(.refused, "revoked"), .login, .failed, "shut out", "device approve"),
        Case(
            "a copy of the disk", Facts.link(.refused, "cloned"), .login, .failed, "another computer", "device approve"),
        Case("cloned, so TLS", Facts.link(.refused, "cloned"), .tls, .ok),
        Case(
            "a full server", Facts.link(.waiting, "server_unable", "the server's disk is full"), .login, .failed,
            "the server's disk is full", "saker-server doctor"),
        Case("a full server, so TLS", Facts.link(.waiting, "server_unable", "the server's disk is full"), .tls, .ok),
        Case(
            "a server of another year", Facts.link(.refused, "client_certificate_expired"), .tls, .failed, "",
            "is its clock right"),
        Case("revoked, so TLS", Facts.link(.refused, "revoked"), .tls, .ok),
        Case("service", Facts.link(.refused, "service_unknown"), .login, .failed, "service", "id in [service]"),
        Case("entity", Facts.link(.refused, "parameter_refused"), .login, .failed, "", "entity in [service]"),
        Case("mute server", Facts.link(.waiting, "login_timeout"), .login, .failed, "", "journalctl -u saker-server"),
        Case(
            "busy", Facts.link(.waiting, nil, "the store is busy"), .login, .failed, "the store is busy",
            "saker reconnect"),
        Case("at it", Facts.status { $0.link.state = .connecting }, .login, .notChecked, "connecting"),
        Case("stopped", Facts.status { $0.link.state = .closed }, .tls, .notChecked, "service is stopped"),
        Case("no agent", silent(.missing), .tls, .notChecked, "only the agent"),
        Case(
            "no file", Facts.with { $0.certificates[0].content = .unreadable("holds no certificate") }, .certificates,
            .failed, "holds no", "ca.pem"),
        Case(
            "ended", Facts.with { $0.certificates[0].content = .validity(from: 0, until: 1_799_999_999) },
            .certificates, .failed, "ended at 2027-01-15", "ca.pem"),
        Case(
            "ends", Facts.with { $0.certificates[0].content = .validity(from: 0, until: 1_800_864_001) }, .certificates,
            .warning, "in 10 days"),
        Case(
            "begins", Facts.with { $0.certificates[0].content = .validity(from: 1_800_000_001, until: .max) },
            .certificates, .warning, "begins"),
        Case("hidden", Facts.with { $0.certificates[0].content = .forbidden }, .certificates, .notChecked, "", "sudo"),
    ]
}

/// What is wrong with the server's fences on the vehicle.
extension DiagnosisTests {
    private static func server(
        online: LinkStatus.State = .online, _ change: (inout ServerFencesStatus) -> Void
    ) -> Facts {
        Facts.status { status in
            var server = ServerFencesStatus(
                version: 1_772_660_030_000, kept: 7, inside: 0, alarms: 2, confirmed: 2, unconfirmed: 0,
                reportsWaiting: 0,
                remembered: DurableStateStatus(state: .durable))
            (server.changedTime, server.sent) = (server.version, true)
            change(&server)
            var fences = FencesStatus(
                kept: 0, watching: 0, inside: 0, alarms: 0, late: 0, leftOut: 0, dropped: 0, waiting: 0,
                lastAlarmTime: nil, lastError: nil, remembered: DurableStateStatus(state: .durable))
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
            server { $0.remembered = DurableStateStatus(state: .failing, lastError: "no space left") }, .fences,
            .warning,
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
