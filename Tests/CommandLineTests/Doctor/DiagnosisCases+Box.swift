import AgentControl
import Diagnosing
import JSON
import Varlink

@testable import SakerCommand

/// What is wrong on the box: the agent, its configuration, its disk.
extension DiagnosisTests {
    private static func fences(_ state: DurableStateStatus.State, alarms: String? = nil) -> FencesStatus {
        FencesStatus(
            kept: 3, watching: 3, inside: 0, alarms: 2, late: 0, leftOut: 0, dropped: 0, waiting: 2, lastAlarmTime: nil,
            lastError: alarms,
            remembered: DurableStateStatus(state: state, lastError: state == .failing ? "no space left" : nil))
    }

    static let agentCases = [
        Case(
            "not installed", silent(.missing) { $0.program = nil }, .agent, .failed, "not installed", "make install"),
        Case(
            "not started", silent(.missing) { $0.unit?.active = "inactive" }, .agent, .failed, "", "enable --now sakerd"
        ),
        Case(
            "not enrolled",
            silent(.missing) {
                $0.unit?.active = "inactive"
                $0.configuration = .missing
            }, .agent, .failed, "waits for /etc/saker/agent.toml", "saker enroll -"),
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
        Case(
            "gather stopped, no gpsd",
            Facts.status { $0.gather.state = .stopped }.changed { $0.gpsd?.result = .unreachable("no") }, .gather,
            .failed,
            "stopped", "saker gather start --keep-trying"),
        Case(
            "gather stopped, no receiver",
            Facts.status { $0.gather.state = .stopped }.changed {
                $0.gpsd?.result = .answers(release: "3.25", devices: [], fix: nil)
            }, .gather, .failed, "stopped", "saker gather start --keep-trying"),
        Case(
            "no points",
            Facts.status {
                ($0.tracked, $0.obstacle) = (false, "not_later")
                $0.reason = "no point for 60 s: 60 fixes rejected as not later than the last point"
            }, .gather, .failed, "60 fixes rejected", "gpspipe -w"),
        Case(
            "no times",
            Facts.status { ($0.tracked, $0.obstacle, $0.reason) = (false, "no_time", "no point for 60 s") }, .gather,
            .failed, "no point for 60 s", "RMC or ZDA"),
        Case(
            "wrong date",
            Facts.status { ($0.tracked, $0.obstacle, $0.reason) = (false, "wrong_date", "no point for 60 s") }, .gather,
            .failed, "no point for 60 s", "Is the clock right? date; if it is, update"),
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

    static let storageCases = [
        Case(
            "in memory",
            Facts.status { ($0.cache.state, $0.cache.lastError) = (.memory, "no space left") }, .disk, .failed,
            "no space left",
            "df -h /var/lib/saker/cache"),
        Case(
            "in memory, not allowed",
            Facts.status { ($0.cache.state, $0.cache.lastError) = (.memory, "open: EACCES (permission denied)") },
            .disk, .failed, "EACCES", "sudo chown -R 990 /var/lib/saker"),
        Case(
            "not remembered",
            Facts.status { $0.remembered = DurableStateStatus(state: .failing, lastError: "no space left") }, .disk,
            .failed, "no space left", "df -h"),
        Case(
            "fences not remembered", Facts.status { $0.fences = fences(.failing) }, .disk, .failed,
            "local fences are not on the disk, and a restart may forget them: no space left", "df -h"),
        Case(
            "alarms not on the disk", Facts.status { $0.fences = fences(.durable, alarms: "read-only") }, .disk,
            .failed,
            "2 alarms of local fences not on the disk", "df -h"),
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
        Case("room", Facts.healthy, .cache, .ok, "room for "),
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
}
