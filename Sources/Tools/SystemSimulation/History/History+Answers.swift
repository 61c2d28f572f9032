// A link may die of the network or of a slow store, and not because the server forgot to go on.
extension History {
    /// Looks at the network every second.
    func feelPulse() {
        answers.network(isWell: network.isWell, now)
        after(1000) { $0.feelPulse() }
    }

    /// The agent has given its link up, for this reason.
    func linkLost(_ reason: String) {
        guard reason.hasPrefix("the server has not answered for") else { return }
        // The next look may find the agent online again.
        promptness.trouble(now)
        guard network.isWell, let server, !server.isStopping,
            server.watch.calls == 0, answers.isOwed(now, lastCall: server.watch.lastCall)
        else { return }
        fail(
            Violation(
                guarantee: .liveness,
                detail: "the server owes an answer, although network and store are well and it has nothing to do"))
    }
}
