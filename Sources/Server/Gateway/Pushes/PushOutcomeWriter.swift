import Logging
import Synchronization
import TrackModel
import TrackStore

/// Notes in the store what became of the messages of all sessions: the outcomes of many sessions go into one transaction.
final class PushOutcomeWriter: Sendable {
    struct Outcome: Hashable, Sendable {
        let service: ServiceID
        let entity: String
        let settlement: PushSettlement
    }

    private let store: any TrackStore
    private let registry: SessionRegistry
    private let sleep: @Sendable (Duration) async -> Void
    private let logger: Logger
    private let counters: GatewayCounters
    private let queue = Mutex<[Outcome]>([])
    private let isForgetting = Atomic(false)
    private let work: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// How long the dispatcher waits after a failure of the store.
    private static let interval = Duration.seconds(1)
    /// Outcomes of one transaction.
    private static let group = 4096
    /// Outcomes that may wait while the store fails. Further outcomes are forgotten: the next login sends their pushes
    /// again, and the agent acknowledges the pushes that it knows.
    private static let maximumWaiting = 100_000

    init(
        store: any TrackStore, registry: SessionRegistry, counters: GatewayCounters,
        sleep: @escaping @Sendable (Duration) async -> Void, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.counters = counters
        self.sleep = sleep
        self.logger = logger
        (work, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func settle(_ outcomes: [Outcome]) {
        let isKept = queue.withLock { queue in
            guard queue.count + outcomes.count <= Self.maximumWaiting else { return false }
            queue += outcomes
            return true
        }
        if isKept { wake.yield() } else { forgot(outcomes.count, reason: "too many wait for the store") }
    }

    /// Works until ``finish()``, and then notes the remaining outcomes.
    func run() async {
        for await _ in work { await settleAll() }
        await settleAll()
    }

    func finish() { wake.finish() }

    // MARK: Outcomes

    private func settleAll() async {
        while !Task.isCancelled {
            let outcomes = queue.withLock { Array($0.prefix(Self.group)) }
            guard !outcomes.isEmpty else { return }
            do throws(TrackStoreError) {
                try await store.settlePushes(outcomes.map(\.settlement))
            } catch {
                // What is dropped is sent again after the next login.
                let isTriedAgain = error.isRetriable && queue.withLock { $0.count } < Self.maximumWaiting / 2
                logger.error(
                    "what became of pushes could not be stored",
                    metadata: [
                        "reason": "\(error.detail)", "pushes": "\(outcomes.count)", "will_retry": "\(isTriedAgain)",
                    ])
                if !isTriedAgain {
                    drop(outcomes.count)
                    forgot(outcomes.count, reason: "the store does not take them")
                }
                await sleep(Self.interval)
                continue
            }
            drop(outcomes.count)
            isForgetting.store(false, ordering: .relaxed)
            tellOthers(outcomes)
        }
    }

    /// One line when forgetting begins; the counter has the rest.
    private func forgot(_ count: Int, reason: String) {
        let isFirst = isForgetting.exchange(true, ordering: .relaxed) == false
        counters.add(UInt64(count), to: \.forgottenPushOutcomes)
        guard isFirst else { return }
        logger.warning(
            "what became of pushes is forgotten: they are sent again after the next login",
            metadata: ["reason": "\(reason)", "pushes": "\(count)"])
    }

    private func drop(_ count: Int) {
        queue.withLock { $0.removeFirst(count) }
    }

    private func tellOthers(_ outcomes: [Outcome]) {
        for outcome in outcomes where outcome.settlement.outcome == .acknowledged {
            for link in registry.links(of: outcome.entity, in: outcome.service) {
                link.perform { $0.pushesSettled([outcome.settlement.id]) }
            }
        }
    }
}
