import Geodesy
import Geofencing
import Logging
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Ingest

/// A sender that makes much from little.
@Suite struct FloodTests {
    private struct Place {
        let bench: Bench
        let service: ServiceID

        init(
            fences: Int, watching names: [String]? = ["van"], remote: Bool = false, isOpen: Bool = true,
            _ log: any LogHandler = SwiftLogNoOpLogHandler()
        ) async throws {
            bench = try await Bench(isOpen: isOpen, log: log)
            service = try #require(ServiceID(rawValue: 1))
            for name in Set(["van", "bus"] + (names ?? [])) {
                try await bench.store.haveEntity(named: name, in: service, at: .at(-1000))
            }
            for _ in 0..<fences {
                var definition = FenceDefinition(
                    ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 100)))
                definition.watch = try names.map { try FenceSubjects($0) } ?? .everyone
                if remote {
                    definition.reactions = try [.enter, .exit].map {
                        try FenceReaction(on: $0, parameters: "{}", isRemote: true)
                    }
                }
                _ = try await bench.store.createFence(definition, in: service, at: .at(-1000))
            }
        }

        /// In and out of the fences with each point.
        func batch(_ entity: String, points: Int, from first: Int, received: Int64 = 100_000) throws -> IngestBatch {
            IngestBatch(
                service: service, entity: entity, position: nil,
                points: try (first..<first + points).map { number in
                    let place = try #require(
                        Coordinate(latitude: 40, longitude: number.isMultiple(of: 2) ? 116.003 : 116))
                    return TrackPoint(
                        Fix(
                            time: Timestamp(milliseconds: Timestamp.at(0).milliseconds + Int64(number) * 5000),
                            coordinate: place, speed: 5200, accuracy: 50, mode: .threeDimensional))
                }, sequences: [], payload: nil, received: .at(received))
        }

        func alarms() async throws -> Int {
            try await bench.store.alarms(in: service, matching: AlarmFilter(), page: Page(offset: 0, limit: 0)).total
        }
    }

    @Test func anEntityMakesNoMoreAlarmsThanItsAllowanceAndLosesNoPoint() async throws {
        let limits = OutputAllowance.Limits()
        let lines = Lines()
        let place = try await Place(fences: 100, lines)
        for round in 0..<8 {
            let stored = await place.bench.writer.submit([try place.batch("van", points: 60, from: round * 60)])
            #expect(stored == [.success(0)])
        }
        let made = 8 * 60 * 100
        #expect(try await place.alarms() == limits.alarmsAtOnce)
        let counts = place.bench.writer.counts
        #expect(counts.storedPoints == 8 * 60)
        #expect(counts.alarms == UInt64(limits.alarmsAtOnce))
        // All but those at the beginning, before which nothing was known.
        #expect(counts.untoldAlarms >= UInt64(made - limits.alarmsAtOnce - 200))
        #expect(lines.count { $0.contains("more alarms than are told") } == 1)
        // An hour later there is room again, and the places are known.
        _ = await place.bench.writer.submit([try place.batch("van", points: 2, from: 480, received: 103_600)])
        #expect(try await place.alarms() == limits.alarmsAtOnce + 200)
    }

    /// A hundred fences crossed at once, again and again: each is told.
    @Test func anHonestVehicleIsToldEverything() async throws {
        let place = try await Place(fences: 100)
        for round in 0..<20 {
            // In, out and in again.
            let batch = try place.batch("van", points: 2, from: round * 60, received: 100_000 + Int64(round) * 300)
            _ = await place.bench.writer.submit([batch])
        }
        #expect(place.bench.writer.counts.untoldAlarms == 0)
        #expect(try await place.alarms() >= 3800)
    }

    @Test func messagesToOthersHaveABoundAndTheAlarmsStay() async throws {
        let names = ["van", "bus"] + (0..<98).map { "other\($0)" }
        let place = try await Place(fences: 10, watching: names, remote: true)
        for round in 0..<2 {
            _ = await place.bench.writer.submit([try place.batch("van", points: 50, from: round * 50)])
        }
        let counts = place.bench.writer.counts
        #expect(counts.untoldAlarms == 0 && counts.untoldMessages > 0)
        #expect(try await place.alarms() >= 900)
        let told = try await place.bench.store.pushes(
            in: place.service, matching: PushFilter(), at: .at(100), page: Page(offset: 0, limit: 0)
        ).total
        let others = told - (try await place.alarms())
        let limit = OutputAllowance.Limits().messagesAtOnce
        #expect((limit - 99...limit).contains(others))
    }

    /// What makes little is stored first, with as much of the other as a transaction may have.
    @Test func aBatchThatMakesMuchWaitsBehindThoseThatMakeLittle() async throws {
        let place = try await Place(fences: 100, isOpen: false)
        let (much, little) = (TestOwner(.session(1)), TestOwner(.session(2)))
        let blocker = TestOwner(.session(3))
        // The first transaction holds the writer up until all others wait.
        try place.bench.submit(try place.batch("bus", points: 1, from: 0), of: blocker, ticket: 0)
        #expect(await place.bench.nextTransaction() == 1)
        for ticket in 0..<4 {
            try place.bench.submit(
                try place.batch("van", points: 60, from: ticket * 60), of: much, ticket: UInt64(ticket))
        }
        try place.bench.submit(try place.batch("bus", points: 1, from: 1), of: little, ticket: 0)
        place.bench.gate.open()
        // The batch of the bus, though four came before it, and the one of the van that has room beside it.
        #expect(await place.bench.nextTransaction() == 2)
        _ = await little.settled(1)
        let settled = await much.settled(4)
        #expect(settled.map(\.ticket) == [0, 1, 2, 3])
        #expect(place.bench.writer.counts.storedPoints == 242)
        #expect(place.bench.writer.counts.staleBatches == 0)
    }
}

/// The lines of a log.
struct Lines: LogHandler {
    private final class Told: Sendable {
        let lines = Mutex<[String]>([])
    }

    private let told = Told()
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    func count(where isMeant: (String) -> Bool) -> Int { told.lines.withLock { $0.count(where: isMeant) } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { told.lines.withLock { $0.append("\(event.message)") } }
}
