import AgentControl
import Diagnosing
import Terminal
import TrackModel
import Varlink

/// Checks the agent itself: service, gathering, settings.
enum AgentChecks {
    /// So many starts in a row are no accident.
    private static let manyRestarts = 3

    static func agent(_ facts: Facts) -> Finding {
        switch facts.answer {
        case .status(let status):
            let found =
                "sakerd \(status.version) answers at \(facts.socket), started "
                + DurationText.relative(status.startedTime, now: status.time)
            guard let unit = facts.unit, unit.restarts > manyRestarts else { return .ok(found) }
            return .warning(
                "\(found); systemd has restarted it \(unit.restarts) times",
                "See why: journalctl -u sakerd -p warning -n 50")
        case .refused(let reason):
            return .failed(
                "the agent at \(facts.socket) answers, but not with its status: \(reason)",
                "Install the same version of sakerd and saker, then: sudo systemctl restart sakerd")
        case .silent(.permissionDenied, let detail): return forbidden(facts, detail)
        case .silent(.missing, let detail), .silent(.refused, let detail): return absent(facts, detail)
        case .silent(_, let detail):
            return .failed(
                "the agent does not answer: \(detail)",
                "See why: journalctl -u sakerd -n 50. Then: sudo systemctl restart sakerd")
        }
    }

    private static func forbidden(_ facts: Facts, _ detail: String) -> Finding {
        .failed(
            "\(facts.user.name) may not ask the agent: \(detail)",
            facts.user.isInGroup
                ? "\(facts.user.name) is in the group saker since this session began: log in again, or now: "
                    + "sudo saker doctor"
                : "sudo usermod -aG saker \(facts.user.name), then log in again; or now: sudo saker doctor")
    }

    private static func absent(_ facts: Facts, _ detail: String) -> Finding {
        guard facts.program != nil else {
            return .failed(
                "sakerd is not installed (\(detail))",
                "sudo apt install saker-agent, or in Saker's sources: make build && sudo make install. Then: sudo saker "
                    + "enroll -")
        }
        if let file = facts.files.first(where: { $0.role == .socket && $0.found == .inTheWay }) {
            return .failed(
                "\(file.path) is no socket and is in the way of the agent's (\(detail)); the agent tracks without it",
                "Move it: sudo mv \(file.path) \(file.path).old. The agent then opens its socket by itself")
        }
        let restart = "See why: journalctl -u sakerd -n 50. Then: sudo systemctl restart sakerd"
        guard let unit = facts.unit else {
            return .failed(
                "the agent does not run (\(detail))", "Start it: sakerd --config \(facts.configurationPath)")
        }
        switch (unit.load, unit.active) {
        case ("not-found", _):
            return .failed(
                "the agent does not run, and systemd knows no sakerd.service (\(detail))",
                "In Saker's sources: sudo make install. Then: sudo systemctl enable --now sakerd")
        case (_, "inactive") where facts.configuration == .missing:
            return .failed(
                "the agent waits for \(facts.configurationPath): this vehicle is not enrolled (\(detail))",
                "sudo saker enroll - (asks for the line that saker-server init printed)")
        case (_, "inactive"):
            return .failed(
                "the agent is not started (\(detail))",
                "Start it, now and at boot: sudo systemctl enable --now sakerd")
        case (_, "active"):
            return .failed(
                "systemd says that the agent runs, but nothing listens on its socket (\(detail))",
                "If it listens elsewhere ([control] socket in \(facts.configurationPath)): saker doctor --socket PATH. "
                    + restart)
        default:
            return .failed(
                "the agent does not stay up: systemd says \(unit.active), \(unit.result) (\(detail))", restart)
        }
    }

    static func service(_ facts: Facts) -> Finding {
        guard let status = facts.status else { return .notChecked("the agent cannot be asked") }
        switch status.service.state {
        case .stopped: return .failed("stopped: somebody said so, or it never began", "saker service start")
        case .stopping: return .warning("is being stopped", "When it has stopped: saker service start")
        case .starting, .running:
            return .ok(
                status.service.state.rawValue + (status.service.entity.map { " as \($0)" } ?? ""))
        }
    }

    static func gather(_ facts: Facts) -> Finding {
        guard let status = facts.status else { return .notChecked("the agent cannot be asked") }
        switch status.gather.state {
        case .stopped where status.service.state == .stopped:
            return .notChecked("the service is stopped", "After the service: \(start(facts))")
        case .stopped: return .failed("stopped: no points are made", start(facts))
        case .waiting, .gathering:
            let obstacle = status.obstacle.flatMap(TrackingObstacle.init)
            if obstacle == .losingPoints, status.counters.lost["wrong_date", default: 0] > 0 {
                return .failed(status.reason, Self.dateRemedy)
            }
            if let remedy = obstacle.flatMap(Self.remedy) {
                return .failed(status.reason, remedy)
            }
            let pace = "every \(status.settings.gatherInterval) s"
            guard status.gather.state == .gathering else {
                return .ok("told to gather \(pace), waits for a fix")
            }
            let last = status.gather.lastPointTime.map { ", last point of \(LocalTime.text($0))" } ?? ""
            return .ok(pace + last)
        }
    }

    /// Without a receiver the agent refuses to start, unless it is told to keep trying.
    private static func start(_ facts: Facts) -> String {
        "saker gather start" + (ReceiverChecks.device(facts).verdict == .ok ? "" : " --keep-trying")
    }

    /// What to do when the server refuses the dates of points.
    private static let dateRemedy =
        "The receiver's date is wrong, or the server's clock. See what the receiver sends: \(Remedy.receiver). On the server: "
        + "date"

    /// What to do when fixes come and points do not; nil: another check says it.
    private static func remedy(_ obstacle: TrackingObstacle) -> String? {
        switch obstacle {
        case .noTime: "Let the receiver send its time (NMEA: RMC or ZDA). What it sends: \(Remedy.sentences)"
        case .noPlace: "Let the receiver send its place (NMEA: GGA or RMC). What it sends: \(Remedy.sentences)"
        case .clockStands:
            "Switch the receiver off and on, then look whether its time goes on: \(Remedy.receiver)"
        case .wrongDate:
            "\(Remedy.lookAtClock); if it is, update the receiver's firmware (a week rollover), and gpsd"
        case .notLater, .unconfirmedTime:
            "See the times that it sends: \(Remedy.receiver). Then: sudo systemctl restart gpsd"
        case .inaccurate: "saker settings location --desired-accuracy 0, or give the antenna a freer view of the sky"
        case .implausible: "saker settings location --activity other"
        case .noPoints, .losingPoints, .other: "See the checks of disk and cache, and: journalctl -u sakerd -n 50"
        case .serviceStopped, .gatheringOff, .noReceiver, .noFix, .loginRefused, .certificateEnded: nil
        }
    }

    /// Settings that drop most of the track by mistake.
    static func settings(_ facts: Facts) -> Finding {
        guard let status = facts.status else { return .notChecked("the agent cannot be asked") }
        let fixes = status.counters.fixes
        func share(_ reason: String) -> Int64 {
            let count = status.counters.skipped[reason] ?? 0
            return fixes < 100 ? 0 : count.clampedPercent(of: fixes)
        }
        if let accuracy = status.settings.desiredAccuracy, share("inaccurate") >= 50 {
            return .warning(
                "\(share("inaccurate")) % of the fixes are skipped as less accurate than "
                    + "\(Quantity.decimal(accuracy, 1, trimmed: true)) m",
                "saker settings location --desired-accuracy 0")
        }
        if share("implausible") >= 20 {
            return .warning(
                "\(share("implausible")) % of the fixes are skipped as too fast for the activity "
                    + status.settings.activity.rawValue,
                "saker settings location --activity other")
        }
        return .ok(
            "gather \(status.settings.gatherInterval) s, pack \(status.settings.packInterval) s, activity "
                + status.settings.activity.rawValue)
    }
}

extension Int64 {
    /// 0 ... 100; both must not be negative.
    func clampedPercent(of whole: Int64) -> Int64 {
        guard whole > 0, self > 0 else { return 0 }
        return Swift.min(100, Int64(Double(self) / Double(whole) * 100))
    }
}

/// The agent's configuration file.
enum ConfigurationCheck {
    static func configuration(_ facts: Facts) -> Finding {
        let path = facts.configurationPath
        switch facts.configuration {
        case .missing where facts.status != nil:
            return .notChecked(
                "\(path) does not exist: the agent reads another file", "saker doctor --config FILE")
        case .missing:
            return .failed(
                "\(path) does not exist: this vehicle is not enrolled",
                "sudo saker enroll - (asks for the line that saker-server init printed)")
        case .forbidden:
            return .notChecked(
                "\(facts.user.name) may not read \(path)", "sudo saker doctor")
        case .invalid(let problems, _):
            return .failed(
                problems.joined(separator: "; "),
                "Correct \(path) and check it: sudo saker doctor. Then: sudo systemctl restart sakerd")
        case .unjudged(_, let reason):
            return .notChecked(reason, facts.user.isRoot ? nil : "sudo saker doctor")
        case .valid(let places, let warnings):
            if let status = facts.status, let difference = difference(places, status) {
                return .warning(
                    difference,
                    "To run with \(path): sudo systemctl restart sakerd. For another file: saker doctor --config FILE")
            }
            guard warnings.isEmpty else {
                return .warning(
                    warnings.joined(separator: "; "), warnings.map(repair).joined(separator: "; "))
            }
            return .ok("\(path) is right")
        }
    }

    /// The sentence of sakerd ends with what to do.
    private static func repair(_ warning: String) -> String {
        let parts = warning.split(separator: ": chmod ", maxSplits: 1)
        return parts.count == 2 ? "sudo chmod \(parts[1])" : warning
    }

    private static func difference(_ places: ConfiguredPlaces, _ status: AgentStatus) -> String? {
        let server = "\(places.host):\(places.port)"
        if let running = status.link.server, running != server {
            return "the agent uses the server \(running), the file says \(server)"
        }
        let gpsd = "\(places.gpsdHost):\(places.gpsdPort)"
        if let running = status.feed.source, running != gpsd {
            return "the agent uses gpsd at \(running), the file says \(gpsd)"
        }
        return nil
    }
}
