import NIOCore
import NIOPosix
import Synchronization
import Testing
import TrackModel
import TrackWire

@testable import Gateway

/// A server whose clock is wrong costs nobody a point.
@Suite(.timeLimit(.minutes(5))) struct ClockTests {
    @Test func byAWrongClockNoPointIsRefusedAndNoneIsTaken() async throws {
        let time = Mutex(Timestamp(seconds: 0))
        try await Fixture.run(clock: { time.withLock { $0 } }) { fixture in
            let early = try await fixture.connect()
            let refused = try #require(await early.hello(fixture.hello())?.refused)
            #expect(refused.code == .unable && refused.reason.contains("before this program was made"))
            await early.close()
            while fixture.server.connectionCount > 0 { await Task.yield() }

            // TLS has asked for no certificate by that clock, so nobody gets in over this connection.
            let slow = try await fixture.connect()
            // The server looks at its clock when it takes the connection, which is later than the kernel does.
            while fixture.server.connectionCount < 1 { await Task.yield() }
            for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { try await loop.submit {}.get() }
            time.withLock { $0 = Fixture.now }
            #expect(await slow.hello(fixture.hello())?.refused?.code == .unable)
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...8)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 8)

            // The clock is lost while the agent is there.
            time.withLock { $0 = Timestamp(seconds: 0) }
            agent.send(.upload(upload(9...16)))
            let closing = try #require(await agent.next()?.message?.closing)
            #expect(closing.code == .unable && closing.reason.contains("set the clock"))
            #expect(await agent.next() == nil)
            #expect(fixture.server.counts.refusedPoints == 0)

            time.withLock { $0 = Fixture.now }
            let again = try await fixture.connect()
            #expect(await again.hello(fixture.hello())?.welcome?.storedThrough == 8)
            again.send(.upload(upload(9...16)))
            let acknowledged = try #require(await again.next()?.message?.uploadAck)
            #expect(acknowledged.storedThrough == 16 && acknowledged.refused.isEmpty)
        }
    }

    @Test func aClockFarBehindWhatIsStoredTakesNoPoints() async throws {
        let time = Mutex(Fixture.now)
        try await Fixture.run(clock: { time.withLock { $0 } }) { fixture in
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...8)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 8)
            time.withLock { $0 = Fixture.now.adding(milliseconds: -23 * 3_600_000) }
            agent.send(.upload(upload(9...16)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 16)
            time.withLock { $0 = Fixture.now.adding(milliseconds: -25 * 3_600_000) }
            agent.send(.upload(upload(17...20)))
            #expect(await agent.next()?.message?.closing?.code == .unable)
        }
    }
}
