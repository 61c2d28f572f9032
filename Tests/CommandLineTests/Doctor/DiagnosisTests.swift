import AgentControl
import JSON
import Testing
import Varlink

@testable import saker

/// The verdicts as functions of the facts.
@Suite struct DiagnosisTests {
    init() {
        _ = LocalTime.isUTC
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let title: String
        let facts: Facts
        let name: Check.Name
        let verdict: Check.Verdict
        /// Parts of what was found, and of the remedy.
        var found = ""
        var remedy = ""

        var testDescription: String { title }

        init(
            _ title: String, _ facts: Facts, _ name: Check.Name, _ verdict: Check.Verdict, _ found: String = "",
            _ remedy: String = ""
        ) {
            (self.title, self.facts, self.name, self.verdict) = (title, facts, name, verdict)
            (self.found, self.remedy) = (found, remedy)
        }
    }

    static func silent(_ code: VarlinkClientError.Code, _ change: (inout Facts) -> Void = { _ in }) -> Facts {
        Facts.with {
            $0.answer = .silent(code, "/run/saker/agent.varlink: no")
            change(&$0)
        }
    }

    static func gpsd(_ result: GPSDFacts.Result, host: String = "127.0.0.1") -> Facts {
        Facts.status { $0.feed.state = .noFix }.changed {
            $0.gpsd = GPSDFacts(host: host, port: 2947, result: result)
        }
    }

    static func unresolved(_ resolution: ServerFacts.Resolution) -> ServerFacts {
        ServerFacts(host: "track.example.org", port: 7443, resolution: resolution, connection: nil)
    }

    static let receiver = [GPSDFacts.Device(path: "/dev/ttyACM0", driver: "")]

    static let agentCases = [
        Case(
            "not installed", silent(.missing) { $0.program = nil }, .agent, .failed, "not installed", "make install"),
        Case(
            "not started", silent(.missing) { $0.unit?.active = "inactive" }, .agent, .failed, "", "enable --now sakerd"
        ),
        Case(
            "no systemd", silent(.missing) { $0.unit = nil }, .agent, .failed, "",
            "sakerd --config /etc/saker/agent.toml"),
        Case(
            "no unit", silent(.refused) { $0.unit?.load = "not-found" }, .agent, .failed, "knows no sakerd.service",
            "sudo make install"),
        Case(
            "failing",
            silent(.missing) {
                $0.unit = UnitFacts(load: "loaded", active: "activating", result: "exit-code", restarts: 9)
            },
            .agent, .failed, "exit-code", "journalctl -u sakerd"),
        Case(
            "file in the socket's place",
            silent(.refused) {
                $0.files = [FileFacts(path: "/run/saker/agent.varlink", role: .socket, found: .inTheWay)]
            }, .agent, .failed, "is no socket", "sudo mv /run/saker/agent.varlink "),
        Case("elsewhere", silent(.missing), .agent, .failed, "nothing listens", "--socket"),
        Case(
            "no group",
            silent(.permissionDenied) { $0.user = UserFacts(name: "alice", isRoot: false, isInGroup: false) },
            .agent, .failed, "alice may not", "usermod -aG saker alice"),
        Case(
            "old session",
            silent(.permissionDenied) { $0.user = UserFacts(name: "alice", isRoot: false, isInGroup: true) },
            .agent, .failed, "alice may not", "log in again"),
        Case("hanging", silent(.timeout), .agent, .failed, "does not answer", "restart sakerd"),
        Case("another version", Facts.with { $0.answer = .refused("odd") }, .agent, .failed, "odd", "same version"),
        Case("restarting", Facts.with { $0.unit?.restarts = 7 }, .agent, .warning, "7 times", "journalctl"),
        Case(
            "service stopped", Facts.status { $0.service.state = .stopped }, .service, .failed, "stopped",
            "saker service start"),
        Case(
            "gather stopped", Facts.status { $0.gather.state = .stopped }, .gather, .failed, "stopped",
            "saker gather start"),
        Case(
            "both stopped",
            Facts.status {
                $0.service.state = .stopped
                $0.gather.state = .stopped
            }, .gather, .notChecked, "service is stopped", "saker gather start"),
        Case("waiting", Facts.status { $0.gather.state = .waiting }, .gather, .ok, "waits for a fix"),
        Case(
            "choosy",
            Facts.status {
                $0.settings.values["desired_accuracy"] = 1.5
                $0.counters.skipped["inaccurate"] = 9000
            }, .settings, .warning, "90 % of the fixes", "--desired-accuracy 0"),
        Case(
            "too fast", Facts.status { $0.counters.skipped["implausible"] = 2500 }, .settings, .warning, "25 %",
            "--activity"),
    ]

    static let configurationCases = [
        Case(
            "no file", silent(.missing) { $0.configuration = .missing }, .configuration, .failed, "not enrolled",
            "saker enroll -"),
        Case("another file", Facts.with { $0.configuration = .missing }, .configuration, .notChecked, "", "--config"),
        Case(
            "no right", Facts.with { $0.configuration = .forbidden }, .configuration, .notChecked, "may not read",
            "sudo saker doctor"),
        Case(
            "wrong", Facts.with { $0.configuration = .invalid(["a.toml:3: prot: no such key"], nil) }, .configuration,
            .failed,
            "no such key", "Correct /etc/saker/agent.toml"),
        Case(
            "unjudged",
            Facts.with {
                $0.user = UserFacts(name: "alice", isRoot: false, isInGroup: true)
                $0.configuration = .unjudged(Facts.places, "its key is hidden")
            }, .configuration, .notChecked, "hidden", "sudo saker doctor"),
        Case(
            "changed since",
            Facts.with {
                var places = Facts.places
                places.host = "new.example.org"
                $0.configuration = .valid(places, warnings: [])
            }, .configuration, .warning, "the file says new.example.org:7443", "restart sakerd"),
        Case(
            "readable",
            Facts.with { $0.configuration = .valid(Facts.places, warnings: ["/x holds a secret: chmod 0640 /x"]) },
            .configuration, .warning, "holds a secret", "sudo chmod 0640 /x"),
    ]

    static let receiverCases = [
        Case(
            "no gpsd", gpsd(.unreachable("Connection refused")), .gpsd, .failed, "Connection refused",
            "systemctl enable --now gpsd.socket"),
        Case("no gpsd there", gpsd(.unreachable("no"), host: "10.0.0.9"), .gpsd, .failed, "10.0.0.9:2947", "gpsd -G"),
        Case("device waits for gpsd", gpsd(.unreachable("no")), .device, .notChecked, "gpsd does not answer"),
        Case("fix waits for gpsd", gpsd(.unreachable("no")), .fix, .notChecked, "gpsd does not answer"),
        Case("not gpsd", gpsd(.foreign("SSH-2.0")), .gpsd, .failed, "SSH-2.0", "[gnss]"),
        Case(
            "no device", gpsd(.answers(release: "3.25", devices: [], fix: nil)), .device, .failed, "no receiver",
            "/etc/default/gpsd"),
        Case(
            "a port to try",
            gpsd(.answers(release: "3.25", devices: [], fix: nil)).changed { $0.serialPorts = ["/dev/ttyUSB3"] },
            .device,
            .failed, "/dev/ttyUSB3", "gpsdctl add /dev/ttyUSB3"),
        Case(
            "no device, no fix", gpsd(.answers(release: "3.25", devices: [], fix: nil)), .fix, .notChecked,
            "no receiver"),
        Case(
            "another device",
            Facts.with {
                var places = Facts.places
                places.device = "/dev/ttyS1"
                $0.configuration = .valid(places, warnings: [])
            }, .device, .failed, "wants /dev/ttyS1", "device in [gnss]"),
        Case(
            "no fix", gpsd(.answers(release: "3.25", devices: receiver, fix: GPSDFacts.Fix(mode: 1, accuracy: nil))),
            .fix,
            .failed, "has no fix", "sky"),
        Case(
            "mute", gpsd(.answers(release: "3.25", devices: receiver, fix: nil)), .fix, .failed, "says nothing", "cgps"),
        Case(
            "a fix without the agent",
            silent(.missing) {
                $0.gpsd?.result = .answers(release: "3.25", devices: receiver, fix: GPSDFacts.Fix(mode: 3, accuracy: 4))
            }, .fix, .ok, "3D, accurate to 4.0 m"),
        Case("flat", Facts.status { $0.feed.lastFix?.mode = 2 }, .fix, .warning, "2D", "antenna"),
        Case("poor", Facts.status { $0.feed.lastFix?.accuracy = 120 }, .fix, .warning, "120.0 m", "antenna"),
        Case("old", Facts.status { $0.feed.lastFix?.age = 25_000 }, .fix, .warning, "25 s old", "gpspipe"),
    ]

    static let clockCases = [
        Case("unkept", Facts.with { $0.clock.isSynchronised = false }, .clock, .warning, "nobody keeps", "timedatectl"),
        Case("unknown", Facts.with { $0.clock.isSynchronised = nil }, .clock, .ok, "nobody says"),
        Case("1970", Facts.with { $0.clock.time = 60_000 }, .clock, .warning, "1970-01-01", "timedatectl"),
        Case(
            "server ahead", Facts.with { $0.clock.serverDifference = 90_000 }, .clock, .warning,
            "server 1 min 30 s ahead"),
        Case(
            "rolled over", Facts.with { $0.clock.receiverDifference = -619_315_200_000 }, .clock, .warning,
            "receiver's date is wrong", "firmware"),
        Case(
            "too early", Facts.link(.waiting, "certificate_not_yet_valid").changed { $0.clock.isSynchronised = false },
            .clock,
            .failed, "not yet valid", "timedatectl"),
        Case(
            "absurd", Facts.with { ($0.clock.serverDifference, $0.clock.receiverDifference) = (.min, .max) }, .clock,
            .warning,
            "behind"),
    ]

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
            "connection stands", "resolvectl"),
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
        Case("expired", Facts.link(.refused, "certificate_expired"), .tls, .failed, "", "Renew"),
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
        Case("silent", Facts.link(.waiting, "handshake_timeout"), .tls, .failed, "", "mtu 1280"),
        Case("old TLS", Facts.link(.waiting, "protocol_version"), .tls, .failed, "", "minimum_tls"),
        Case("unheard-of", Facts.link(.waiting, "something_new"), .tls, .failed, "", "saker reconnect"),
        Case("no TLS, no login", Facts.link(.refused, "certificate_untrusted"), .login, .notChecked, "TLS failed"),
        Case("key", Facts.link(.refused, "key_refused"), .login, .failed, "access key", "/etc/saker/credentials/ak"),
        Case("key, so TLS", Facts.link(.refused, "key_refused"), .tls, .ok),
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

    static let storageCases = [
        Case(
            "in memory",
            Facts.status { ($0.cache.state, $0.cache.lastError) = (.memory, "no space left") }, .disk, .failed,
            "no space left",
            "df -h /var/lib/saker/cache"),
        Case(
            "not remembered",
            Facts.status { $0.remembered = RememberedStatus(state: .failing, lastError: "no space left") }, .disk,
            .failed, "no space left", "df -h"),
        Case(
            "in the way",
            Facts.status { ($0.cache.state, $0.cache.lastError) = (.memory, "ENOTDIR") }.changed {
                $0.files = [FileFacts(path: "/var/lib/saker", role: .writable, found: .inTheWay)]
            }, .disk, .failed, "ENOTDIR", "sudo mv /var/lib/saker "),
        Case(
            "in the way, permissions",
            Facts.with { $0.files = [FileFacts(path: "/var/lib/saker", role: .writable, found: .inTheWay)] },
            .permissions, .failed, "/var/lib/saker is a file", "sudo mv /var/lib/saker "),
        Case("read-only", Facts.with { $0.disk?.isReadOnly = true }, .disk, .failed, "read-only", "remount,rw"),
        Case("tight", Facts.with { $0.disk?.free = 4 << 20 }, .disk, .warning, "4 MiB of", "df -h"),
        Case(
            "promised too much", Facts.with { $0.disk?.free = 100 << 20 }, .disk, .warning, "256 MiB",
            "saker settings cache-limit 50MiB"),
        Case("unknown disk", Facts.with { $0.disk = nil }, .disk, .notChecked, "cannot be looked at"),
        Case(
            "lost", Facts.status { $0.counters.lost = ["bound": 1200] }, .cache, .warning, "bound 1,200", "cache-limit"),
        Case(
            "nearly full",
            Facts.link(.waiting, "connect_refused").changedStatus { $0.cache.bytes = 250 << 20 }, .cache, .warning,
            "97 %"),
        Case("room", Facts.healthy, .cache, .ok, "room for about 161 d"),
        Case(
            "foreign directory", Facts.with { $0.files[0].found = .mode(0o755, owner: 0) }, .permissions, .failed,
            "user 0",
            "chown -R 990 /var/lib/saker"),
        Case(
            "closed directory", Facts.with { $0.files[0].found = .mode(0o500, owner: 990) }, .permissions, .failed,
            "0500", "chmod u+rwx"),
        Case(
            "unreadable configuration",
            Facts.with {
                $0.files[0] = FileFacts(
                    path: "/etc/saker/agent.toml", role: .readable, found: .mode(0o640, owner: 0, group: 0),
                    agentUser: 990,
                    agentGroup: 990)
            }, .permissions, .failed, "may not read", "chgrp saker /etc/saker/agent.toml"),
        Case(
            "readable configuration",
            Facts.with {
                $0.files[0] = FileFacts(
                    path: "/etc/saker/agent.toml", role: .readable, found: .mode(0o640, owner: 0, group: 990),
                    agentUser: 990,
                    agentGroup: 990)
            }, .permissions, .ok),
        Case(
            "open secret", Facts.with { $0.files[1].found = .mode(0o644, owner: 0) }, .permissions, .warning, "0644",
            "chmod o-rwx"),
        Case(
            "hidden", Facts.with { $0.files[1].found = .hidden }, .permissions, .notChecked, "may not look",
            "sudo saker doctor"),
    ]

    @Test(arguments: agentCases + configurationCases + receiverCases + clockCases + serverCases + storageCases)
    func aVerdictFollowsFromTheFacts(_ given: Case) throws {
        let diagnosis = Diagnosis(given.facts)
        let check = try #require(diagnosis.checks.first { $0.name == given.name })
        #expect(check.verdict == given.verdict, "\(check)")
        #expect(given.found.isEmpty || check.found.contains(given.found), "\(check)")
        #expect(given.remedy.isEmpty || check.remedy?.contains(given.remedy) == true, "\(check)")
        // Who is told of a failure is told what to do.
        #expect(diagnosis.checks.allSatisfy { $0.verdict != .failed || $0.remedy != nil })
        let expected: Int32 =
            given.facts.status == nil ? 3 : diagnosis.checks.contains { $0.verdict == .failed } ? 1 : 0
        #expect(diagnosis.exitCode == expected)
    }

    @Test func aHealthyBoxPassesEveryCheckOnce() {
        let diagnosis = Diagnosis(.healthy)
        #expect(
            diagnosis.checks.map(\.name)
                == Check.Name.allCases.sorted { left, right in
                    order(left, diagnosis) < order(right, diagnosis)
                })
        #expect(diagnosis.checks.filter { $0.verdict != .ok } == [])
        #expect(diagnosis.exitCode == 0)
        #expect(diagnosis.lines.last == "17 ok. Nothing keeps this vehicle from being tracked.")
        #expect(diagnosis.json["failed"] == 0 && diagnosis.json["checks"]?.arrayValue?.count == 17)
    }

    private func order(_ name: Check.Name, _ diagnosis: Diagnosis) -> Int {
        diagnosis.checks.firstIndex { $0.name == name } ?? .max
    }

    @Test func aFailureIsShownWithItsRemedyBelow() throws {
        let lines = Diagnosis(Self.gpsd(.unreachable("Connection\u{1B} refused"))).lines
        let index = try #require(lines.firstIndex { $0.hasPrefix("FAILED       gpsd            gpsd does not answer") })
        #expect(lines[index].hasSuffix("Connection? refused"))
        #expect(lines[index + 1].hasPrefix("                             -> Start it: sudo systemctl enable"))
        #expect(lines[index + 2].hasPrefix("not checked  device          gpsd does not answer"))
        #expect(lines.last?.contains("1 failed") == true)
    }
}

extension Facts {
    func changed(_ change: (inout Facts) -> Void) -> Facts {
        var facts = self
        change(&facts)
        return facts
    }

    func changedStatus(_ change: (inout AgentStatus) -> Void) -> Facts {
        guard var status else { return self }
        change(&status)
        return changed { $0.answer = .status(status) }
    }
}
