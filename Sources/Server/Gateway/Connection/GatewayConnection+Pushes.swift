import Logging
import NIOCore
import TrackModel
import TrackStore
import TrackWire

// Messages from the server to the agent of this connection.
extension GatewayConnection {
    /// The session begins, or something was queued for its entity.
    func pushesMayWait() {
        guard case .open(let session) = phase else { return }
        perform(pushes.mayWait(now: monotonicNow), in: session)
    }

    /// They are acknowledged, by whichever session of the entity.
    func pushesSettled(_ ids: [UInt64]) {
        guard case .open(let session) = phase else { return }
        perform(pushes.settledElsewhere(ids, now: monotonicNow), in: session)
    }

    func take(_ acknowledgement: PushAck, in session: OpenSession) {
        perform(pushes.acknowledged(acknowledgement.ids, now: monotonicNow), in: session)
    }

    private func perform(_ actions: [PushMachine.Action], in session: OpenSession) {
        var outcomes: [PushDesk.Outcome] = []
        for action in actions {
            switch action {
            case .load(let message, let limit): load(after: message, limit: limit, in: session)
            case .send(let push): send(push)
            case .settle(let push, let outcome):
                core.counters.add(to: outcome == .acknowledged ? \.acknowledgedPushes : \.givenUpPushes)
                if outcome == .givenUp {
                    core.logger.notice(
                        "push given up: the agent does not acknowledge it",
                        metadata: metadata(["push": "\(push.id)", "type": "\(push.type)"]))
                }
                outcomes.append(
                    PushDesk.Outcome(
                        service: session.rules.service, entity: session.rules.entity,
                        settlement: PushSettlement(id: push.id, outcome: outcome, time: core.now())))
            case .setTimer(let delay):
                pushTimer?.cancel()
                pushTimer = context?.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) {
                    guard case .open(let session) = self.phase else { return }
                    self.perform(self.pushes.timerFired(now: self.monotonicNow), in: session)
                }
            case .cancelTimer:
                pushTimer?.cancel()
                pushTimer = nil
            }
        }
        if !outcomes.isEmpty { core.pushDesk.settle(outcomes) }
    }

    private func load(after message: Int64, limit: Int, in session: OpenSession) {
        let (core, service, entity) = (core, session.rules.service, session.rules.entity)
        start { () async -> @Sendable (GatewayConnection) -> Void in
            let result: Result<[PendingPush], TrackStoreError>
            do throws(TrackStoreError) {
                result = .success(
                    try await core.store.pendingPushes(
                        of: entity, in: service, after: message, at: core.now(), limit: limit))
            } catch {
                result = .failure(error)
            }
            return { connection in
                guard case .open(let session) = connection.phase else { return }
                switch result {
                case .success(let found):
                    connection.perform(connection.pushes.loaded(found, now: connection.monotonicNow), in: session)
                case .failure(let error):
                    core.logger.error("store cannot tell of pushes", metadata: ["reason": "\(error.detail)"])
                    connection.perform(connection.pushes.loadFailed(now: connection.monotonicNow), in: session)
                }
            }
        }
    }

    private func send(_ push: PendingPush) {
        // An agent that takes nothing gets it with the next attempt: what it does not read must not pile up here.
        guard context?.channel.isWritable == true else { return }
        var frame = Push()
        frame.id = push.id
        frame.type = push.type
        frame.json = push.body
        frame.time = push.created.milliseconds
        core.counters.add(to: \.sentPushes)
        send(ServerFrame(.push(frame)))
    }

    /// The loop's clock.
    private var monotonicNow: MonotonicTime {
        MonotonicTime(milliseconds: Int64((context?.eventLoop.now.uptimeNanoseconds ?? 0) / 1_000_000))
    }
}
