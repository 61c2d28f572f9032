import Ingest
import MetricsText
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

/// An acknowledgement follows the commit, never precedes it, and no failure of the store loses a point.
@Suite(.timeLimit(.minutes(5))) struct CommitTests {
    @Test func noAcknowledgementComesBeforeTheCommit() async throws {
        let gate = StoreBox()
        try await Fixture.run(wrapping: gate.wrap()) { fixture in
            let store = try gate.store()
            var arrivals = store.arrivals.makeAsyncIterator()
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...10)))
            #expect(await arrivals.next() == 1)
            // These reach the queue while the first transaction hangs. The heartbeat's answer comes after whatever
            // the gateway would have said of them.
            agent.send(.upload(upload(11...20)))
            agent.send(.upload(upload(21...30)))
            agent.send(.heartbeat(Heartbeat()))
            #expect(await agent.next()?.message?.isHeartbeat == true)
            #expect(try await fixture.storedTimes().isEmpty)
            store.open()
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 10)
            // The two that waited became one transaction and one acknowledgement.
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 30)
            #expect(await arrivals.next() == 2)
            #expect(try await fixture.storedTimes().count == 30)
            // Two transactions, and nothing waits any more.
            #expect(fixture.ingest.counts.commits.count == 2)
            #expect(fixture.ingest.counts.failedCommits == 0)
            #expect(fixture.ingest.waitingBytes == 0)
        }
    }

    @Test func aConnectionKilledBeforeTheCommitLosesNothing() async throws {
        let gate = StoreBox()
        try await Fixture.run(wrapping: gate.wrap()) { fixture in
            let store = try gate.store()
            var arrivals = store.arrivals.makeAsyncIterator()
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...10)))
            #expect(await arrivals.next() == 1)
            agent.kill()
            #expect(await agent.next() == nil)
            store.open()
            // The new session starts wherever the store stands by now, and sends all it has no acknowledgement for.
            let again = try await fixture.login()
            again.send(.upload(upload(1...12)))
            #expect(await again.next()?.message?.uploadAck?.storedThrough == 12)
            #expect(try await fixture.storedTimes() == (1...12).map(time))
        }
    }

    @Test func aKilledConnectionMidFrameStoresNothing() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            let whole = WireCodec.encode(ClientFrame(.upload(upload(1...500))))
            try await agent.sendAndWait(bytes: Array(whole.prefix(whole.count / 2)))
            agent.kill()
            #expect(await agent.next() == nil)
            let again = try await fixture.connect()
            #expect(await again.hello(fixture.hello())?.welcome?.storedThrough == 0)
            #expect(try await fixture.storedTimes().isEmpty)
        }
    }

    @Test func aBusyStoreIsAskedAgain() async throws {
        let busy = TrackStoreError(.busy, "someone holds it")
        try await Fixture.run(wrapping: { GateStore($0, isOpen: true, failures: [busy, busy]) }) { fixture in
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...10)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 10)
            #expect(try await fixture.storedTimes().count == 10)
        }
    }

    @Test func aStoreThatStaysBusySendsAgentsAwayUnacknowledged() async throws {
        let full = TrackStoreError(.full, "no space left")
        try await Fixture.run(wrapping: { GateStore($0, isOpen: true, failures: [full, full, full]) }) { fixture in
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...10)))
            let closing = try #require(await agent.next()?.message?.closing)
            #expect(closing.code == .unable)
            #expect(closing.retryAfter == 30)
            #expect(await agent.next() == nil)
            #expect(try await fixture.storedTimes().isEmpty)
        }
    }

    /// Were the batch behind a failed one stored, the stream would stand beyond the hole and the points be lost.
    @Test func nothingBehindAFailedBatchIsStored() async throws {
        let gate = StoreBox(failures: [TrackStoreError(.failed, "broken")])
        try await Fixture.run(wrapping: gate.wrap()) { fixture in
            let store = try gate.store()
            var arrivals = store.arrivals.makeAsyncIterator()
            let agent = try await fixture.login()
            let other = try await fixture.login(stream: StreamID(high: 1, low: 1), entity: "van")
            agent.send(.upload(upload(1...10)))
            #expect(await arrivals.next() == 1)
            agent.send(.upload(upload(11...20)))
            agent.send(.heartbeat(Heartbeat()))
            #expect(await agent.next()?.message?.isHeartbeat == true)
            other.send(.upload(upload(1...5)))
            other.send(.heartbeat(Heartbeat()))
            #expect(await other.next()?.message?.isHeartbeat == true)
            store.open()
            #expect(await agent.next()?.message?.closing?.code == .internal)
            #expect(await agent.next() == nil)
            #expect(await other.next()?.message?.uploadAck?.storedThrough == 5)
            #expect(try await fixture.storedThrough() == 0)
            #expect(try await fixture.storedTimes().isEmpty)
        }
    }

    @Test func theWindowStopsTheReadingNotTheConnection() async throws {
        let gate = StoreBox()
        try await Fixture.run(wrapping: gate.wrap()) { fixture in
            let store = try gate.store()
            var arrivals = store.arrivals.makeAsyncIterator()
            let agent = try await fixture.login()
            for batch in 0..<40 {
                let first = Int64(batch) * 10 + 1
                agent.send(.upload(upload(first...first + 9)))
            }
            agent.send(.heartbeat(Heartbeat()))
            #expect(await arrivals.next() != nil)
            store.open()
            // The heartbeat stands behind 40 batches, of which 16 may wait: it is not read before 24 are stored.
            var last: UInt64 = 0
            while let message = await agent.next()?.message, !message.isHeartbeat {
                last = try #require(message.uploadAck?.storedThrough)
            }
            #expect(last >= 240)
            while last < 400 { last = try #require(await agent.next()?.message?.uploadAck?.storedThrough) }
            #expect(try await fixture.storedTimes().count == 400)
        }
    }

    @Test func aFullQueueHoldsEveryoneAndLosesNothing() async throws {
        let gate = StoreBox()
        try await Fixture.run(
            wrapping: gate.wrap(),
            limits: { $0.waitingBytes = 5000 }
        ) { fixture in
            let store = try gate.store()
            var agents: [TestAgent] = []
            for index in 0..<8 {
                let agent = try await fixture.login(
                    stream: StreamID(high: 5, low: UInt64(index)), entity: "car\(index)")
                for batch in 0..<5 {
                    let first = Int64(batch) * 10 + 1
                    agent.send(.upload(upload(first...first + 9)))
                }
                agents.append(agent)
            }
            store.open()
            for (index, agent) in agents.enumerated() {
                var last: UInt64 = 0
                while last < 50 { last = try #require(await agent.next()?.message?.uploadAck?.storedThrough) }
                #expect(try await fixture.storedTimes(of: "car\(index)") == (1...50).map(time))
            }
        }
    }

    @Test func stoppingStoresAndAcknowledgesWhatWasReceived() async throws {
        let gate = StoreBox()
        try await Fixture.run(wrapping: gate.wrap()) { fixture in
            let store = try gate.store()
            var arrivals = store.arrivals.makeAsyncIterator()
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...10)))
            #expect(await arrivals.next() == 1)
            let stopped = Task { await fixture.server.stop() }
            store.open()
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 10)
            #expect(await agent.next()?.message?.closing?.code == .shutdown)
            #expect(await agent.next() == nil)
            await stopped.value
            await fixture.server.core.census.untilEmpty(atMost: .seconds(60))
            #expect(fixture.server.connectionCount == 0)
            #expect(fixture.server.localPort == nil)
        }
    }

    @Test func aStoreThatHangsDoesNotKeepTheServerFromStopping() async throws {
        let gate = StoreBox()
        try await Fixture.run(
            wrapping: gate.wrap(), configure: { $0.deadlines.drain = .milliseconds(50) }
        ) { fixture in
            let store = try gate.store()
            var arrivals = store.arrivals.makeAsyncIterator()
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...10)))
            #expect(await arrivals.next() == 1)
            await fixture.server.stop()
            #expect(await agent.next()?.message?.closing?.code == .shutdown)
            await fixture.server.core.census.untilEmpty(atMost: .seconds(60))
            #expect(fixture.server.connectionCount == 0)
            store.open()
        }
    }
}

/// Holds the gate that a fixture's store was wrapped with.
final class StoreBox {
    private let failures: [TrackStoreError]
    private var gate: GateStore?

    init(failures: [TrackStoreError] = []) {
        self.failures = failures
    }

    func wrap() -> (any EngineStore) -> any TrackStore {
        { inner in
            let gate = GateStore(inner, failures: self.failures)
            self.gate = gate
            return gate
        }
    }

    func store() throws -> GateStore {
        guard let gate else { throw Unexpected(message: "the fixture did not wrap its store") }
        return gate
    }
}
