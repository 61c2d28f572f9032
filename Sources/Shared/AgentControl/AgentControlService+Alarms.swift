import NIOCore

// Alarms and messages.
extension AgentControlService {
    func listAlarms(_ parameters: inout CallParameters) throws -> EventLoopFuture<AlarmsReply> {
        let selection = AlarmSelection(
            after: try parameters.integer("after"), from: try parameters.integer("from"),
            through: try parameters.integer("through"), type: try parameters.integer("type"),
            entity: try parameters.string("entity"), fences: try parameters.integers("fences"),
            actions: try parameters.strings("actions").map { try Self.actions($0) },
            limit: try parameters.integer("limit") ?? AlarmSelection().limit)
        try parameters.finish()
        try check(selection)
        try check(selection.entity, .listAlarms)
        try checkFences(selection.fences ?? [], "fences", .listAlarms)
        return handler.alarms(selection)
    }

    private static func actions(_ names: [String]) throws(AgentControlError) -> [AlarmSelection.Action] {
        var actions: [AlarmSelection.Action] = []
        for name in names {
            guard let action = AlarmSelection.Action(rawValue: name) else {
                throw AgentControlError(
                    .parameterError, in: .listAlarms,
                    reason: "there is no action '\(name.prefix(64))': give enter, exit, stay or overspeed",
                    parameter: "actions")
            }
            actions.append(action)
        }
        return actions
    }

    private func check(_ selection: AlarmSelection) throws(AgentControlError) {
        try check(from: selection.from, through: selection.through, .listAlarms)
        let problem: (reason: String, parameter: String)?
        if !(1...AlarmSelection.maximumCount).contains(selection.limit) {
            problem = (
                "a limit of \(selection.limit) is out of range: give 1 to \(AlarmSelection.maximumCount)", "limit"
            )
        } else if let type = selection.type, !(1...255).contains(type) {
            problem = ("there is no type \(type): give 1 to 255", "type")
        } else if let after = selection.after, after < 0 {
            problem = ("'after' is \(after): give the number of an alarm, or 0", "after")
        } else if let from = selection.from, let through = selection.through, from > through {
            problem = ("'from' (\(from)) lies after 'through' (\(through)): exchange them", "from")
        } else {
            problem = nil
        }
        guard let problem else { return }
        throw AgentControlError(
            .parameterError, in: .listAlarms, reason: problem.reason, parameter: problem.parameter)
    }
}
