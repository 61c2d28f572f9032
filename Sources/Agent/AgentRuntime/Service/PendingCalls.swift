internal import AgentControl
internal import AgentLogic

/// Control calls that wait for a machine's answer.
struct PendingCalls {
    struct Call {
        let method: AgentMethod
        /// The machine has decided.
        let answer: (ServiceReply) -> Void
        /// No machine will decide.
        let fail: (AgentControlError) -> Void
    }

    private var next: UInt64 = 1
    private var waiting: [RequestID: Call] = [:]

    /// A number for a call. Either `answer` or `fail` of the call is called, once.
    mutating func add(_ call: Call) -> RequestID {
        let request = RequestID(rawValue: next)
        next += 1
        waiting[request] = call
        return request
    }

    /// The call of a request; nil when it was taken before.
    mutating func take(_ request: RequestID) -> Call? {
        waiting.removeValue(forKey: request)
    }

    /// All calls that wait, in the order in which they came.
    mutating func takeAll() -> [Call] {
        defer { waiting = [:] }
        return waiting.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }
}
