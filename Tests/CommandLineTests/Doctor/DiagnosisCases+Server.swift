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
