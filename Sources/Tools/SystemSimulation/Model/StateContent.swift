internal import AgentControl
internal import JSON

/// What the file of the durable state says, in code of its own.
struct StateContent {
    private let state: JSONValue

    /// Nil when these bytes are no state.
    init?(_ bytes: [UInt8]) {
        guard let state = try? JSONReader.value(of: bytes), state["version"]?.integerValue == 1 else { return nil }
        self.state = state
    }

    /// What the next process resumes.
    var target: CommandedTarget? {
        guard let target = state["target"], let isStarted = target["isServiceStarted"]?.boolValue,
            let isGathering = target["isGathering"]?.boolValue
        else { return nil }
        return CommandedTarget(
            isStarted: isStarted, isGathering: isGathering,
            entity: target["entity"]?.stringValue ?? CommandedTarget().entity)
    }

    /// Whether no setting of the file is another one. A setting at its default need not be there.
    func has(_ settings: AgentSettings) -> Bool {
        (state["settings"]?.objectValue ?? [:]).allSatisfy { name, value in
            // gatherInterval in the file is gather_interval for people.
            let key = name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
            guard AgentSetting.all.contains(where: { $0.key == key }) else { return true }
            guard let wanted = settings.values[key] else { return value == .null }
            if let left = value.doubleValue, let right = wanted.doubleValue { return left == right }
            return value == wanted
        }
    }
}
