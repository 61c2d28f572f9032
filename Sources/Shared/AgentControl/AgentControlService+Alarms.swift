import NIOCore

// Alarms and messages.
extension AgentControlService {
    func listAlarms(_ parameters: inout CallParameters) throws -> EventLoopFuture<AlarmsReply> {
        let selection = AlarmSelection(
            after: try parameters.integer("after"), from: try parameters.integer("from"),
            through: try parameters.integer("through"), type: try parameters.integer("type"),
            limit: try parameters.integer("limit") ?? AlarmSelection().limit)
        try parameters.finish()
        try check(selection)
        return handler.alarms(selection)
    }

    private func check(_ selection: AlarmSelection) throws(AgentControlError) {
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
