import MetricsText
import Synchronization
import Systemd
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Ingest

/// Batches of sessions, whose order matters.
@Suite(.timeLimit(.minutes(5))) struct WriterTests {
    @Test func afterAFailureNothingOfTheSessionIsStoredAndOthersGoOn() async throws {
        let bench = try await Bench(isOpen: false, failures: [TrackStoreError(.failed, "broken")])
        let (broken, other) = (TestOwner(.session(1)), TestOwner(.session(2)))
        try bench.submit(batch(of: 1), of: broken, ticket: 1)
        #expect(await bench.nextTransaction() == 1)
        try bench.submit(batch(of: 1), of: broken, ticket: 2)
        try bench.submit(batch(of: 1), of: other, ticket: 3)
        bench.gate.open()
        #expect(await other.settled(1) == [SettledJob(ticket: 3, result: .success(0))])
        #expect(broken.settled == [SettledJob(ticket: 1, result: .failure(.failed))])
        // Even one that comes later, until the session is forgotten.
        try bench.submit(batch(of: 1), of: broken, ticket: 4)
        bench.writer.forget(.session(1))
        try bench.submit(batch(of: 1), of: broken, ticket: 5)
        #expect(await broken.settled(2).last == SettledJob(ticket: 5, result: .success(0)))
        #expect(try await bench.store.counts().points == 2)
        #expect(bench.writer.waitingBytes == 0)
    }

    @Test func nothingFailsWithALiveHint() async throws {
        let bench = try await Bench()
        let session = TestOwner(.session(1))
        var hint = try batch(of: 1, service: 99)
        (hint.hint, hint.points) = (hint.points.first, [])
        try bench.submit(hint, of: session, ticket: 1)
        try bench.submit(batch(of: 1), of: session, ticket: 2)
        #expect(
            await session.settled(2) == [
                SettledJob(ticket: 1, result: .failure(.unknownService)), SettledJob(ticket: 2, result: .success(0)),
            ])
        #expect(bench.writer.counts.failedBatches == 0)
        #expect(bench.writer.counts.hints == 0)
    }

    @Test func aPassingFailureIsTriedAgainAndThenGivenBack() async throws {
        let busy = TrackStoreError(.busy, "someone holds it")
        var limits = IngestLimits()
        limits.retries = [.zero, .zero]
        let bench = try await Bench(failures: [busy, busy, busy, busy], limits: limits)
        let session = TestOwner(.session(1))
        try bench.submit(batch(of: 1), of: session, ticket: 1)
        #expect(await session.settled(1) == [SettledJob(ticket: 1, result: .failure(.busy))])
        #expect(bench.writer.counts.failedCommits == 3)
        bench.writer.forget(.session(1))
        try bench.submit(batch(of: 1), of: session, ticket: 2)
        #expect(await session.settled(2).last == SettledJob(ticket: 2, result: .success(0)))
        #expect(bench.writer.counts.commits.count == 1)
    }

    @Test func whoWaitsForTheEndOfAllHearsWhenItIsThere() async throws {
        let bench = try await Bench(isOpen: false)
        await bench.writer.settled()
        let session = TestOwner(.session(1))
        try bench.submit(batch(of: 1), of: session, ticket: 1)
        #expect(await bench.nextTransaction() == 1)
        try bench.submit(batch(of: 1), of: session, ticket: 2)
        let waiting = try await waiting(for: bench.writer) { session.settled.map(\.ticket) }
        #expect(session.settled.isEmpty)
        bench.gate.open()
        #expect(await waiting.value == [1, 2])
    }

    /// Somebody who waits in `settled()`: returns when he waits, and fails when he goes on at once. The task's value is what
    /// `atEnd` says as soon as he goes on.
    private func waiting<Value: Sendable>(
        for writer: IngestWriter, atEnd: @escaping @Sendable () -> Value
    ) async throws -> Task<Value, Never> {
        let hasEnded = Mutex(false)
        let task = Task {
            await writer.settled()
            hasEnded.withLock { $0 = true }
            return atEnd()
        }
        while writer.state.withLock({ $0.waiters.isEmpty }) {
            try #require(!hasEnded.withLock { $0 }, "nobody waits, although a job has not ended")
            await Task.yield()
        }
        return task
    }

    @Test func whoWaitsForTheEndOfAllGivesUpWhenCancelled() async throws {
        let bench = try await Bench(isOpen: false)
        try bench.submit(batch(of: 1), of: TestOwner(.session(1)), ticket: 1)
        let waiting = try await waiting(for: bench.writer) {}
        waiting.cancel()
        await waiting.value
        // The job has not ended: only the cancellation can have ended the waiting.
        #expect(try await bench.store.counts().points == 0)
        bench.gate.open()
    }

    @Test func failedCommitsAndTheRecoveryAreEventsOfTheJournal() async throws {
        let busy = TrackStoreError(.busy, "someone holds it")
        var limits = IngestLimits()
        limits.retries = [.zero]
        let log = EventRecorder()
        let bench = try await Bench(failures: [busy, busy], limits: limits, log: log)
        let session = TestOwner(.session(1))
        for ticket in [1, 2, 3] as [UInt64] {
            try bench.submit(batch(of: 1), of: session, ticket: ticket)
            _ = await session.settled(Int(ticket))
            bench.writer.forget(session.source)
        }
        #expect(log.ids == [MessageID.storeFailed, .storeFailed, .storeRecovered].map(\.description))
    }

    /// The batch behind one that can never be stored: the store has not lost anything.
    @Test func whatComesBehindABatchThatCannotBeStoredIsNoSignOfLostCommits() async throws {
        let log = EventRecorder()
        var limits = IngestLimits()
        limits.retries = [.zero]
        let bench = try await Bench(isOpen: false, limits: limits, log: log)
        let stream = StreamID(high: 1, low: 2)
        var first = try batch(of: 1)
        let claim = try await bench.store.openStream(stream, of: "car", in: first.service, at: first.received)
        first.position = StreamPosition(stream: stream, epoch: claim.epoch, previous: 0, first: 1, count: 1)
        var second = first
        second.position = StreamPosition(stream: stream, epoch: claim.epoch, previous: 1, first: 2, count: 1)
        second.sequences = [2]
        // No sequence for its point.
        first.sequences = []
        try bench.submit(try batch(of: 1, entity: "other"), of: TestOwner(.session(7)), ticket: 1)
        #expect(await bench.nextTransaction() == 1)
        // Two sessions: a session that fails takes its later jobs with it.
        let sessions = [TestOwner(.session(1)), TestOwner(.session(2))]
        try bench.submit(first, of: sessions[0], ticket: 1)
        try bench.submit(second, of: sessions[1], ticket: 1)
        bench.gate.open()
        #expect(await sessions[0].settled(1).map(\.result) == [.failure(.failed)])
        #expect(await sessions[1].settled(1).map(\.result) == [.failure(.busy)])
        #expect(!log.ids.contains(MessageID.commitsLost.description))
        #expect(bench.writer.counts.rewoundBatches == 0)
    }

    @Test func commitsThatTheStoreHasLostAreAnEventOfTheJournal() async throws {
        let log = EventRecorder()
        let bench = try await Bench(log: log)
        let stream = StreamID(high: 1, low: 2)
        var batch = try batch(of: 1)
        let claim = try await bench.store.openStream(stream, of: "car", in: batch.service, at: batch.received)
        // An acknowledgement through 40 that the store knows nothing of.
        batch.position = StreamPosition(stream: stream, epoch: claim.epoch, previous: 40, first: 41, count: 1)
        batch.sequences = [41]
        let session = TestOwner(.session(1))
        try bench.submit(batch, of: session, ticket: 1)
        #expect(await session.settled(1).map(\.result) == [.failure(.rewound)])
        #expect(
            log.fields == [
                [
                    "message_id": MessageID.commitsLost.description, "service": "1", "entity": "car",
                    "stored_through": "0",
                ]
            ])
    }
}
