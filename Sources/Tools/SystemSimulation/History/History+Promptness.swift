internal import AgentControl
internal import AgentLogic
internal import AgentRuntime
internal import DiskRing
internal import Gateway
internal import NIOCore
internal import TrackModel
internal import TrackTestKit

// In a world where nothing is wrong no point waits longer than its pack.
extension History {
    /// Looks every ten seconds.
    func watchPromptness() {
        after(10_000) { $0.watchPromptness() }
        guard let box else { return promptness.trouble(now) }
        let settings = box.agent.settings()
        let limit = promptness.limit(
            isWell: isWorldWell(box), gather: settings.gatherInterval, pack: settings.packInterval, now)
        checkLink(box)
        if limit != nil { checkPushes(calmSince: promptness.unwellAt) }
        guard let limit, let age = ledger.oldestWaiting(at: now, count: box.executor.cache.count) else { return }
        let wait = promptness.counted(wait: age, now)
        guard wait > limit else { return }
        fail(
            Violation(
                guarantee: .liveness,
                detail: "online and nothing is wrong, and a point has waited for \(wait / 1000) s, not "
                    + "\(limit / 1000) s at most"))
    }

    /// Milliseconds after which an agent has noticed that nothing comes from the server any more: a heartbeat, and its
    /// answer, which may hold up another one. Longer by two looks.
    private static let deadLink: Int64 = {
        let timing = UplinkTiming()
        return Int64(GatewayDeadlines().heartbeatInterval) * 1000 + timing.arrival + timing.acknowledgement + 20_000
    }()

    /// An agent that calls itself online has a link from which it has heard not long ago.
    private func checkLink(_ box: AgentBox) {
        guard box.agent.status().link.state == .online, let link = box.connector.connections.last,
            let silent = link.silentAt, now - MonotonicTime(silent) > Self.deadLink
        else { return }
        fail(
            Violation(
                guarantee: .liveness,
                detail: "the agent calls itself online, and nothing has come over its link for "
                    + "\((now - MonotonicTime(silent)) / 1000) s"))
    }

    private func isWorldWell(_ box: AgentBox) -> Bool {
        guard let server, server.store != nil, !server.isStopping, !box.isStopping, !target.isFinishing,
            twin?.isThere != true
        else {
            return false
        }
        // Between two looks a process may end and another begin, and a server too.
        guard now - box.bornAt > PromptnessModel.recovery, answers.hasServed(PromptnessModel.recovery, now) else {
            return false
        }
        return isDiskWell(box) && box.executor.cache.state == .disk && network.isWell && !storeTrouble.fails
            && !storeTrouble.losesAnswers && storeTrouble.slowness <= StoreTrouble().slowness
            && box.agent.status().link.state == .online
    }
}

// Sessions of the server: each login ends the session that its stream had before.
extension History {
    func watchSessions(_ frames: FrameChecker, _ socket: VirtualSocket, _ machine: ServerMachine) {
        frames.onWelcome = { [unowned self, unowned socket, weak machine] stream in
            let former = machine?.sessions.welcomed(socket, stream) ?? []
            guard !former.isEmpty else { return }
            after(SessionModel.timeout) { history in
                guard former.contains(where: \.isActive) else { return }
                history.fail(
                    Violation(
                        guarantee: .boundedMemory,
                        detail: "a session goes on \(SessionModel.timeout / 1000) s after a newer login of its stream")
                )
            }
        }
    }
}

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
