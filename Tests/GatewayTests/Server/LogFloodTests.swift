import Logging
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

/// Senders that make the server write lines.
@Suite(.timeLimit(.minutes(5))) struct LogFloodTests {
    private struct Lines: LogHandler {
        private final class Told: Sendable {
            let lines = Mutex<[String]>([])
        }

        private let told = Told()
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        func count(_ text: String) -> Int { told.lines.withLock { $0.count { $0.contains(text) } } }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { told.lines.withLock { $0.append("\(event.message)") } }
    }

    @Test func refusedPointsOfAVehicleAreFewLinesAndAllCounted() async throws {
        let lines = Lines()
        try await Fixture.run(log: lines) { fixture in
            let agent = try await fixture.login()
            let ahead = Fixture.now.milliseconds / 1000 + 1_000_000
            for number in 1...200 as ClosedRange<Int64> {
                let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
                let point = TrackPoint(Fix(time: Timestamp(seconds: ahead + number), coordinate: place))
                agent.send(.upload(Upload(BatchCodec.encode([point]), firstSequence: UInt64(number))))
            }
            var refused = 0
            while refused < 200 {
                guard let ack = try #require(await agent.next()).message?.uploadAck else { continue }
                refused += ack.refused.count
            }
            #expect(fixture.server.counts.refusedPoints == 200)
            // One line of the budget was the login's, and a slow machine gives some more.
            #expect((1...60).contains(lines.count("Points of a vehicle are refused")))
        }
    }

    @Test func loginsWithoutAKeyAreFewLinesAndAllCounted() async throws {
        let lines = Lines()
        try await Fixture.run(log: lines) { fixture in
            for _ in 0..<100 {
                let agent = try await fixture.connect()
                var hello = fixture.hello()
                hello.ak = "wrong"
                #expect(await agent.hello(hello)?.refused != nil)
                await agent.close()
            }
            #expect(fixture.server.counts.refusedLogins == 100)
            #expect((1...80).contains(lines.count("A login is refused")))
        }
    }
    /// A key of the scope `legacy-device` makes up one vehicle after the other.
    @Test func theVehiclesOfOneServiceLeaveAnotherItsLines() throws {
        let lines = Lines()
        let log = SenderLog(Logger(label: "test") { _ in lines })
        let (one, two) = (try #require(ServiceID(rawValue: 1)), try #require(ServiceID(rawValue: 2)))
        for number in 0..<110_000 {
            log.write(.info, "made up", [:], of: .vehicle(EntityKey(service: one, name: "evil_\(number)")))
        }
        log.write(.info, "genuine", [:], of: .vehicle(EntityKey(service: two, name: "bus")))
        #expect(lines.count("genuine") == 1)
    }
}
