import AlarmCallbacks
import Logging
import ServiceLifecycle
import Synchronization
import Systemd
import TrackModel
import TrackStore
import WebAPI

/// Sends alarms of fences to operators' URLs: for each service one request after the other, in the order of the alarms.
final class CallbackSending: Service {
    private let store: any CallbackStore
    private let client: CallbackClient
    private let counters: CallbackCounters
    /// The answers of a service's URL cause each line.
    private let log: RequestLog
    private let now: @Sendable () -> Timestamp
    private let look: Duration
    /// Names this process among the servers that share a store.
    private let sender = Int64.random(in: .min ... .max)
    private let machine = Mutex(CallbackMachine())

    init(
        store: any CallbackStore, client: CallbackClient, counters: CallbackCounters, logger: Logger,
        now: @escaping @Sendable () -> Timestamp, look: Duration = .milliseconds(CallbackRules.look)
    ) {
        (self.store, self.client, self.counters) = (store, client, counters)
        (self.now, self.look, log) = (now, look, RequestLog(logger, now: now))
    }

    func run() async {
        await cancelWhenGracefulShutdown { await self.work() }
    }

    /// Until the task is cancelled.
    func work() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let due = await due()
                for service in machine.withLock({ $0.begin(due, at: now()) }) {
                    group.addTask { await self.serve(service) }
                }
                try? await Task.sleep(for: look)
            }
        }
    }

    /// None while the store does not say.
    private func due() async -> [ServiceID] {
        do throws(TrackStoreError) {
            let due = try await store.dueCallbacks(at: now(), limit: CallbackRules.lookedAt)
            tell(machine.withLock { $0.storeWorked(of: nil) }, of: nil)
            return due
        } catch {
            // At the end of the server a reading is cut short.
            guard !Task.isCancelled else { return [] }
            tell(machine.withLock { $0.storeFailed(error.detail, of: nil) }, of: nil)
            return []
        }
    }

    private func serve(_ service: ServiceID) async {
        defer { machine.withLock { $0.end(service) } }
        for _ in 0..<CallbackRules.requests where !Task.isCancelled {
            do throws(TrackStoreError) {
                guard try await sendSome(of: service) else { return }
            } catch {
                machine.withLock { $0.hold(service, at: now()) }
                guard !Task.isCancelled else { return }
                tell(machine.withLock { $0.storeFailed(error.detail, of: service) }, of: service)
                return
            }
        }
    }

    /// True when there may be more to send at once.
    private func sendSome(of service: ServiceID) async throws(TrackStoreError) -> Bool {
        let start = now()
        let found = try await store.claimCallbacks(
            of: service, by: sender, at: start, through: start.adding(milliseconds: CallbackRules.claim),
            limit: CallbackRules.alarms)
        guard let claim = found else { return false }
        let answer = await client.send(
            CallbackBody.alarms(claim.callbacks.map(\.alarm), of: service), to: claim.target, of: service)
        if Task.isCancelled, answer != .taken {
            _ = try await settle(CallbackMachine.release(claim, of: service, at: now()))
            return false
        }
        let settlement = CallbackMachine.settlement(of: claim, in: service, answer, at: now())
        let isOurs = try await settle(settlement)
        tell(machine.withLock { $0.storeWorked(of: service) }, of: service)
        note(answer, settlement, isOurs)
        return answer == .taken
    }

    /// Also when the server ends: what was taken must not be sent again.
    private func settle(_ settlement: CallbackSettlement) async throws(TrackStoreError) -> Bool {
        let (store, sender) = (store, sender)
        let result: Result<Bool, TrackStoreError> = await Task {
            do throws(TrackStoreError) {
                return .success(try await store.settleCallbacks(settlement, by: sender))
            } catch {
                return .failure(error)
            }
        }.value
        return try result.get()
    }

    /// When the claim had ended by itself, another sender has it: what became of the alarms is its affair.
    private func note(_ answer: CallbackAnswer, _ settlement: CallbackSettlement, _ isOurs: Bool) {
        let ended = isOurs ? UInt64(settlement.ended.count) : 0
        counters.count { counts in
            if answer == .taken {
                counts.taken += 1
                counts.takenAlarms += ended
            } else {
                counts.failed += 1
                counts.givenUpAlarms += ended
            }
        }
        tell(machine.withLock { $0.note(answer, of: settlement.service) }, of: settlement.service)
        guard answer != .taken, ended > 0 else { return }
        log.write(
            .warning,
            "alarms are given up, which the operator's URL did not take for ten minutes; the history has them",
            of: settlement.service, ["alarms": "\(ended)", "message_id": "\(MessageID.callbacksGivenUp)"])
    }

    /// `service` nil: it is of no service.
    private func tell(_ notice: CallbackMachine.OperatorNotice?, of service: ServiceID?) {
        switch notice {
        case .failing(let reason):
            log.write(
                .warning, "the operator's URL takes no alarms", of: service,
                ["reason": "\(reason)", "message_id": "\(MessageID.callbacksFailing)"])
        case .working:
            log.write(
                .notice, "the operator's URL takes alarms again", of: service,
                ["message_id": "\(MessageID.callbacksWorking)"])
        case .storeFailing(let reason):
            log.write(
                .error, "alarms are not sent to operators' URLs: this server's own store refuses what sending needs",
                of: service, ["reason": "\(reason)"])
        case .storeWorking:
            log.write(.notice, "the store allows again to send alarms to operators' URLs", of: service, [:])
        case nil: break
        }
    }
}

/// Counts of requests to operators' URLs since the start of the server.
final class CallbackCounters: Sendable {
    struct Counts: Hashable, Sendable {
        /// Requests that were taken, and requests that were not.
        var taken: UInt64 = 0
        var failed: UInt64 = 0
        /// Alarms that an operator's server took, and alarms that were given up.
        var takenAlarms: UInt64 = 0
        var givenUpAlarms: UInt64 = 0
    }

    private let state = Mutex(Counts())

    init() {}

    var counts: Counts { state.withLock { $0 } }

    func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0) } }
}
