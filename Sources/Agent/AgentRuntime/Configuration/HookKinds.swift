internal import AgentControl

extension AgentEvent.Change {
    /// The kinds that hooks may be run for; alarms are told apart from the others.
    static let hookKinds = ["alarm", "cache", "connection", "feed", "gather", "loss", "service"]
}
