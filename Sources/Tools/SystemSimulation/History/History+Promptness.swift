internal import AgentControl
internal import AgentRuntime
internal import NIOCore
internal import TrackCache
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
        guard let limit, let age = ledger.oldestWaiting(at: now, count: box.executor.cache.count), age > limit else {
            return
        }
        fail(
            Violation(
                guarantee: .liveness,
                detail: "online and nothing is wrong, and a point has waited for \(age / 1000) s, not "
                    + "\(limit / 1000) s at most"))
    }

    private func isWorldWell(_ box: AgentBox) -> Bool {
        guard let server, server.store != nil, !server.isStopping, !box.isStopping, !target.isFinishing else {
            return false
        }
        // Between two looks a process may end and another begin, and a server too.
        guard now - box.bornAt > PromptnessModel.recovery, answers.hasServed(PromptnessModel.recovery, now) else {
            return false
        }
        let isDiskWell =
            disk.faults.isEmpty && disk.capacity == nil && !disk.isReadOnly && disk.synchronizationDelay == 0
            && box.executor.slowness == 0 && box.executor.stalledUntil <= loop.now && box.executor.cache.state == .disk
        return isDiskWell && network.isWell && !storeTrouble.fails && !storeTrouble.losesAnswers
            && storeTrouble.slowness <= StoreTrouble().slowness && box.agent.status().link.state == .online
    }
}
