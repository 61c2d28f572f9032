import AgentControl
import Diagnosing

/// The agent's configuration file.
enum ConfigurationCheck {
    static func configuration(_ facts: Facts) -> Check {
        let path = facts.configurationPath
        switch facts.configuration {
        case .missing where facts.status != nil:
            return .notChecked(
                .configuration, "\(path) does not exist: the agent reads another file", "saker doctor --config FILE")
        case .missing:
            return .failed(
                .configuration, "\(path) does not exist: this vehicle is not enrolled",
                "sudo saker enroll - (asks for the line that saker-server init printed)")
        case .forbidden:
            return .notChecked(
                .configuration, "\(facts.user.name) may not read \(path)", "sudo saker doctor")
        case .invalid(let problems, _):
            return .failed(
                .configuration, problems.joined(separator: "; "),
                "Correct \(path) and check it: sudo saker doctor. Then: sudo systemctl restart sakerd")
        case .unjudged(_, let reason):
            return .notChecked(.configuration, reason, facts.user.isRoot ? nil : "sudo saker doctor")
        case .valid(let places, let warnings):
            if let status = facts.status, let difference = difference(places, status) {
                return .warning(
                    .configuration, difference,
                    "To run with \(path): sudo systemctl restart sakerd. For another file: saker doctor --config FILE")
            }
            guard warnings.isEmpty else {
                return .warning(
                    .configuration, warnings.joined(separator: "; "), warnings.map(repair).joined(separator: "; "))
            }
            return .ok(.configuration, "\(path) is right")
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
