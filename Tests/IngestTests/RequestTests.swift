import Ingest
import Testing
import TrackModel
import TrackStore
import TrackTestKit

/// Batches of the Web API's requests: the queue, the bounds and the transactions of the sessions' batches.
@Suite(.timeLimit(.minutes(5))) struct RequestTests {
    @Test func batchesAreStoredWhenTheCallReturns() async throws {
        let bench = try await Bench()
        let results = await bench.writer.submit([try batch(of: 3), try batch(of: 2, entity: "van")])
        #expect(results == [.success(0), .success(0)])
        #expect(try await bench.store.counts().points == 5)
        let counts = bench.writer.counts
        #expect(counts.storedBatches == 2)
        #expect(counts.storedPoints == 5)
        #expect(bench.writer.waitingBytes == 0)
        #expect(await bench.writer.submit([]).isEmpty)
    }

    @Test func aBatchThatFailsFailsAlone() async throws {
        let bench = try await Bench()
        let results = await bench.writer.submit([try batch(of: 1), try batch(of: 1, service: 99), try batch(of: 1)])
        #expect(results == [.success(0), .failure(.unknownService), .success(0)])
        #expect(bench.writer.counts.failedBatches == 1)
    }

    @Test func requestsAndSessionsShareATransaction() async throws {
        let bench = try await Bench(isOpen: false)
        let writer = bench.writer
        let session = TestOwner(.session(1))
        try bench.submit(batch(of: 1), of: session, ticket: 1)
        #expect(await bench.nextTransaction() == 1)
        // These wait while the first transaction hangs.
        try bench.submit(batch(of: 1), of: session, ticket: 2)
        let request = Task { await writer.submit([try batch(of: 1), try batch(of: 1)]) }
        while writer.waitingBytes < 4 * 200 { await Task.yield() }
        bench.gate.open()
        #expect(await bench.nextTransaction() == 3)
        #expect(try await request.value == [.success(0), .success(0)])
        #expect(await session.settled(2).map(\.ticket) == [1, 2])
    }

    @Test func aFullQueueMakesARequestWaitAndThenRefusesIt() async throws {
        var limits = IngestLimits()
        limits.waitingBytes = 300
        limits.requestWait = .zero
        let bench = try await Bench(isOpen: false, limits: limits)
        let session = TestOwner(.session(1))
        try bench.submit(batch(of: 1), of: session, ticket: 1)
        #expect(await bench.writer.submit([try batch(of: 1)]) == [.failure(.busy)])
        bench.gate.open()
        _ = await session.settled(1)
        #expect(await bench.writer.submit([try batch(of: 1)]) == [.success(0)])
        #expect(bench.writer.waitingBytes == 0)
    }

    @Test func aRequestThatFoundNoRoomGoesOnWhenThereIsSome() async throws {
        var limits = IngestLimits()
        limits.waitingBytes = 300
        let (waits, wait) = AsyncStream<Duration>.makeStream()
        let bench = try await Bench(isOpen: false, limits: limits) { duration in
            wait.yield(duration)
            // Until it is cancelled.
            for await _ in AsyncStream<Void>.makeStream().stream {}
        }
        let writer = bench.writer
        try bench.submit(batch(of: 1), of: TestOwner(.session(1)), ticket: 1)
        #expect(await bench.nextTransaction() == 1)
        let request = Task { await writer.submit([try batch(of: 1)]) }
        var iterator = waits.makeAsyncIterator()
        #expect(await iterator.next() == limits.requestWait)
        bench.gate.open()
        #expect(try await request.value == [.success(0)])
    }

    @Test func afterTheEndRequestsAreRefusedAndWhatWaitedIsStored() async throws {
        let bench = try await Bench(isOpen: false)
        let writer = bench.writer
        let request = Task { await writer.submit([try batch(of: 1)]) }
        #expect(await bench.nextTransaction() == 1)
        let second = Task { await writer.submit([try batch(of: 1)]) }
        while writer.waitingBytes < 2 * 200 { await Task.yield() }
        writer.finish()
        bench.gate.open()
        #expect(try await request.value == [.success(0)])
        #expect(try await second.value == [.success(0)])
        #expect(await writer.submit([try batch(of: 1)]) == [.failure(.busy)])
        #expect(writer.waitingBytes == 0)
    }

    @Test func aRequestIsAnsweredWhenTheWriterIsCancelled() async throws {
        let bench = try await Bench(isOpen: false)
        let writer = bench.writer
        let request = Task { await writer.submit([try batch(of: 1)]) }
        #expect(await bench.nextTransaction() == 1)
        let second = Task { await writer.submit([try batch(of: 1)]) }
        while writer.waitingBytes < 2 * 200 { await Task.yield() }
        bench.writing.cancel()
        bench.gate.open()
        #expect(try await request.value == [.success(0)])
        #expect(try await second.value == [.failure(.busy)])
    }

    @Test func aStoreThatHangsIsWaitedForWithinABound() async throws {
        var limits = IngestLimits()
        limits.requestAnswer = .seconds(3)
        let (waits, wait) = AsyncStream<Duration>.makeStream()
        let bench = try await Bench(isOpen: false, limits: limits) { wait.yield($0) }
        #expect(await bench.writer.submit([try batch(of: 1)]) == [.failure(.busy)])
        var iterator = waits.makeAsyncIterator()
        #expect(await iterator.next() == .seconds(3))
        bench.gate.open()
    }
}
