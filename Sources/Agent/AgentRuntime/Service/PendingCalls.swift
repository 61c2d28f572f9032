internal import AgentLogic

/// Control calls that wait for a machine's answer.
struct PendingCalls {
    private var next: UInt64 = 1
    private var waiting: [RequestID: (ServiceReply) -> Void] = [:]

    /// A number for a call; `answer` is called once, when the machine has decided.
    mutating func add(_ answer: @escaping (ServiceReply) -> Void) -> RequestID {
        let request = RequestID(rawValue: next)
        next += 1
        waiting[request] = answer
        return request
    }

    /// The caller of a request, who is answered once; nil when that was done before.
    mutating func take(_ request: RequestID) -> ((ServiceReply) -> Void)? {
        waiting.removeValue(forKey: request)
    }
}
