import AgentControl

/// The vehicle's health, as its operator hears of it.
enum HealthView {
    /// Nothing of an agent that does not say.
    static func rows(_ status: AgentStatus) -> [(String, [String])] {
        guard let health = status.health else { return [] }
        var lines = health.troubles.map { "TROUBLE: \($0.text)" }
        if lines.isEmpty { lines = ["well"] }
        if let end = health.certificateEndTime {
            lines.append("own certificate until \(TimeText.both(end, now: status.time))")
        }
        lines.append(told(health, status))
        return [("Health", lines)]
    }

    private static func told(_ health: HealthStatus, _ status: AgentStatus) -> String {
        guard let time = health.toldTime else { return "the server has not been told since the agent started" }
        return "the server was told \(TimeText.relative(time, now: status.time))"
    }
}
