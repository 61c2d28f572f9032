package import NIOCore

/// Who stops gathering or the service: the values of `by` in the interface, and what the gap of the track tells.
package enum StopCause: String, Hashable, Sendable, CaseIterable {
    /// A person, or a program that is no hook.
    case person
    /// A hook of the agent, such as one that runs for an operator's push.
    case hook
    /// The server refuses what the service was to start with. Nobody may say this of himself.
    case server

    /// What a caller of the interface may say.
    static let callers: [StopCause] = [.person, .hook]
}

extension AgentControlHandler {
    package func stopService(timeout: TimeAmount?) -> EventLoopFuture<StopServiceReply> {
        stopService(timeout: timeout, by: .person)
    }

    package func stopGather() -> EventLoopFuture<StopGatherReply> { stopGather(by: .person) }
}
