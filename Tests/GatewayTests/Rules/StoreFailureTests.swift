import Ingest
import Logging
import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Gateway

/// What a store that fails costs, as the log and the counters tell it.
@Suite struct StoreFailureTests {
    /// Every call of a login, and what became of pushes, fails.
    private struct FailingStore: StoreDecorator {
        let inner: any EngineStore
        let error: TrackStoreError

        func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord] { throw error }
        func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError) { throw error }
    }

    /// The texts and reasons that a logger is told.
    private struct Lines: LogHandler {
        private final class Told: Sendable {
            let lines = Mutex<[String]>([])
        }

        private let told = Told()
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        var all: [String] { told.lines.withLock { $0 } }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let reason = event.metadata?["reason"].map { "\($0)" } ?? ""
            told.lines.withLock { $0.append("\(event.message): \(reason)") }
        }
    }

    private let lines = Lines()

    private func store(_ code: TrackStoreError.Code) -> FailingStore {
        FailingStore(inner: TestStore(), error: TrackStoreError(code, "page 7 is damaged"))
    }

    private func logger() -> Logger { Logger(label: "test") { [lines] _ in lines } }

    @Test(arguments: [(TrackStoreError.Code.corrupt, LoginRefusalReason.internal), (.busy, .busy)])
    func theLogSaysWhyTheStoreCouldNotJudgeALogin(
        _ code: TrackStoreError.Code, _ reason: LoginRefusalReason
    ) async throws {
        let request = try LoginRules.check(MachineBench.hello(), from: nil)
        let refusal = await #expect(throws: LoginRefusal.self) {
            let store = store(code)
            let core = GatewayCore(
                limits: GatewayLimits(), deadlines: GatewayDeadlines(), store: store,
                ingest: RunningIngest(store).writer, logger: logger(), now: { Fixture.now }, callHandler: nil)
            _ = try await Login.admit(request, from: "192.0.2.1", to: core)
        }
        #expect(refusal.map { LoginRefusalReason($0.code) } == reason)
        #expect(refusal?.reason.contains("page 7") == false, "the agent is not told")
        #expect(lines.all == ["The store cannot judge a login: page 7 is damaged"])
    }

    @Test func outcomesOfPushesThatTheStoreDoesNotTakeAreCountedAndSaidOnce() async throws {
        let counters = GatewayCounters()
        let dispatcher = PushOutcomeWriter(
            store: store(.corrupt), registry: SessionRegistry(), counters: counters, sleep: { _ in }, logger: logger())
        for id in UInt64(1)...3 {
            let settlement = PushSettlement(id: id, outcome: .acknowledged, time: Fixture.now)
            let service = try #require(ServiceID(rawValue: 1))
            dispatcher.settle([PushOutcomeWriter.Outcome(service: service, entity: "car", settlement: settlement)])
        }
        dispatcher.finish()
        await dispatcher.run()
        #expect(counters.counts.forgottenPushOutcomes == 3)
        #expect(lines.all.filter { $0.contains("forgotten") }.count == 1)
        #expect(!lines.all.contains { $0.contains("tried again") })
    }

    /// SQLite ends a reading with an error when its task is cancelled.
    @Test func aReadingThatTheEndOfTheServerCutsShortIsNoFailure() async {
        let polling = ChangePolling(interval: .seconds(1), sleep: { _ in }, logger: logger())
        let work = Task {
            await polling.run { () async throws(TrackStoreError) in
                while !Task.isCancelled { await Task.yield() }
                throw TrackStoreError(.failed, "the work was interrupted")
            }
        }
        work.cancel()
        await work.value
        #expect(lines.all.isEmpty)
    }

    @Test func aStoreThatGoesOnFailingIsNamedOnceUntilItAnswersAgain() async {
        let answers: [Result<Bool, TrackStoreError>] = [
            .failure(TrackStoreError(.busy, "one")), .failure(TrackStoreError(.busy, "two")), .success(true),
            .success(false), .failure(TrackStoreError(.busy, "three")),
        ]
        let calls = Mutex(0)
        let sleeps = Mutex(0)
        let polling = ChangePolling(
            interval: .seconds(1), sleep: { _ in sleeps.withLock { $0 += 1 } }, logger: logger())
        let work = Task {
            await polling.run { () async throws(TrackStoreError) in
                let call = calls.withLock { calls in
                    defer { calls += 1 }
                    return calls
                }
                guard call < answers.count else {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return true
                }
                return try answers[call].get()
            }
        }
        await work.value
        #expect(lines.all == ["The store cannot tell of changes: one", "The store cannot tell of changes: three"])
        // After the answer that says that there is more, the store is asked at once.
        #expect(sleeps.withLock { $0 } == 4)
    }

    /// Many messages are queued, so the feed is read 300 times without a pause.
    private final class BusyStore: StoreDecorator {
        let inner: any EngineStore
        private let reads = Mutex(0)
        /// At which reading keys were judged last.
        let judged = Mutex(0)

        init(_ inner: any EngineStore) { self.inner = inner }

        func changes(
            of kinds: Set<StoreChange.Kind>, after cursor: StoreCursor?, at now: Timestamp, limit: Int
        ) async throws(TrackStoreError) -> StoreChanges {
            let read = reads.withLock { reads in
                reads += 1
                return reads
            }
            let changes = read == 1 ? ServiceID(rawValue: 1).map { [StoreChange.keys(of: $0)] } ?? [] : []
            if read == 330 { withUnsafeCurrentTask { $0?.cancel() } }
            return StoreChanges(changes: changes, unknown: [], hasMore: read < 300, through: StoreCursor(read))
        }

        func endedKeys(
            among uses: Set<AccessKeyUse>, at now: Timestamp
        ) async throws(TrackStoreError) -> Set<AccessKeyUse> {
            let read = reads.withLock { $0 }
            judged.withLock { $0 = read }
            return []
        }
    }

    /// A login may open its session up to a minute after a change, however often the feed is read meanwhile.
    @Test func aChangeIsJudgedForAMinuteAlsoWhenManyWait() async {
        let store = BusyStore(TestStore())
        let registry = SessionRegistry()
        let feed = StoreChangeFeed(
            store: store, registry: registry,
            clones: CloneEnforcement(store: store, registry: registry, lines: SenderLog(logger())),
            tasks: ServerTasks(sleep: { _ in }), now: { Fixture.now }, logger: logger())
        let work = Task { await feed.run() }
        await work.value
        #expect(store.judged.withLock { $0 } == 330)
    }
}
