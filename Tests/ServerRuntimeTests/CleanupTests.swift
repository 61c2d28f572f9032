import Foundation
import Logging
import ProgramTestKit
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

/// The removal of old points, by the clock of the test.
@Suite struct PointRetentionTests {
    private static let day: Int64 = 86_400_000
    private let today = Timestamp(milliseconds: 1_800_000_000_000)

    /// A service with points of so many days ago, each received at once.
    private func service(_ store: any TrackStore, _ retention: Retention, _ ages: [Int64]) async throws
        -> ServiceID
    {
        let service = try await store.createService(named: "fleet", at: today).id
        try await store.setRetention(retention, of: service)
        for age in ages {
            let time = today.adding(milliseconds: -age * Self.day)
            let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
            let point = TrackPoint(Fix(time: time, coordinate: place))
            let batch = IngestBatch(
                service: service, entity: "van", position: nil, points: [point], sequences: [], payload: nil,
                received: time)
            _ = await store.ingest([batch])
        }
        return service
    }

    private func ages(_ store: any TrackStore, _ service: ServiceID) async throws -> [Int64] {
        try await store.points(
            of: "van", in: service, from: Timestamp(milliseconds: .min), through: Timestamp(milliseconds: .max),
            limit: 99
        ).map { today.milliseconds(since: $0.point.fix.time) / Self.day }
    }

    private func retention(
        _ store: any TrackStore, days: Int?, now: Timestamp? = nil, newest: Timestamp? = nil,
        monotonic: @escaping @Sendable () -> MonotonicTime = { MonotonicTime(milliseconds: 0) },
        isClockKept: Bool = true
    ) -> PointRetention {
        PointRetention(
            store: store, standardDays: days,
            time: TrustedTime(
                newest: newest, clock: { [today] in now ?? today }, monotonic: monotonic, isKept: { isClockKept }),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func eachServiceKeepsItsPointsAsLongAsItSays() async throws {
        let store: any TrackStore = TestStore()
        let short = try await service(store, .days(7), [400, 8, 6, 0])
        let forever = try await service(store, .forever, [400, 0])
        let standard = try await service(store, .standard, [400, 31, 29, 0])
        await retention(store, days: nil).round()
        #expect(try await ages(store, short) == [6, 0])
        #expect(try await ages(store, forever) == [400, 0])
        #expect(try await ages(store, standard) == [400, 31, 29, 0])
        await retention(store, days: 30).round()
        #expect(try await ages(store, standard) == [29, 0])
        #expect(try await ages(store, forever) == [400, 0])
    }

    /// Ten years ahead everything would be too old, and nobody could bring it back.
    @Test func aClockThatIsAheadRemovesNothing() async throws {
        let store: any TrackStore = TestStore()
        let service = try await service(store, .days(7), [5, 0])
        let ahead = today.adding(milliseconds: 3650 * Self.day)
        let unkept = retention(store, days: nil, now: ahead, newest: today, isClockKept: false)
        await unkept.round()
        #expect(try await ages(store, service) == [5, 0])
        // What comes while the clock is ahead has its time, and proves nothing.
        let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
        _ = await store.ingest([
            IngestBatch(
                service: service, entity: "van", position: nil,
                points: [TrackPoint(Fix(time: today, coordinate: place))],
                sequences: [], payload: nil, received: ahead)
        ])
        #expect(try await store.lastReceived() == ahead)
        await unkept.round()
        #expect(try await ages(store, service) == [5, 0])
        // Of a store that was empty at the start nothing is known.
        await retention(store, days: nil, now: ahead, newest: nil, isClockKept: false).round()
        #expect(try await ages(store, service) == [5, 0])
        await retention(store, days: nil, now: ahead, newest: today, isClockKept: true).round()
        #expect(try await ages(store, service) == [0])
    }

    @Test func anUnkeptClockIsBelievedAsTimePasses() async throws {
        let elapsed = Counter()
        let (newest, day) = (today, Self.day)
        func time(_ days: Int64) -> TrustedTime {
            TrustedTime(
                newest: newest, clock: { newest.adding(milliseconds: days * day) },
                monotonic: { MonotonicTime(milliseconds: Int64(elapsed.value) * day) }, isKept: { false })
        }
        let (near, far, behind) = (time(1), time(9), time(-2))
        #expect(near.now == near.noLaterThanNow && near.now == newest.adding(milliseconds: day))
        #expect(far.now == nil && far.noLaterThanNow == newest.adding(milliseconds: day))
        #expect(behind.now == nil && behind.noLaterThanNow == newest.adding(milliseconds: -2 * day))
        for _ in 0..<8 { elapsed.add() }
        #expect(far.now == newest.adding(milliseconds: 9 * day) && far.now == far.noLaterThanNow)
    }
}

/// When the copies from before migrations go.
@Suite struct CopyCleanupTests {
    private static let day: Int64 = 86_400_000

    /// `days`: how far the clock is from the moment at which the copy was made.
    @Test(arguments: [(29, true, true), (31, true, false), (3650, false, true), (3650, true, false), (0, true, true)])
    func aCopyGoesByATimeThatCanBeBelieved(days: Int64, isClockKept: Bool, stays: Bool) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/server.toml"
        try "[store]\npath = \"tracks.sqlite\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        let store = try ServerConfiguration.load(path: file).store
        let copy = store.path + ".before-v18"
        try Data("copy".utf8).write(to: URL(fileURLWithPath: copy))
        let made = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let lines = RecordedLines()
        let time = TrustedTime(
            newest: made, clock: { made.adding(milliseconds: days * Self.day) },
            monotonic: { MonotonicTime(milliseconds: 0) }, isKept: { isClockKept })
        CopyCleanup(store: store, time: time, logger: lines.logger).round()
        #expect(FileManager.default.fileExists(atPath: copy) == stays)
        #expect(lines.texts.isEmpty == stays)
    }

    @Test func withoutAnyTimeNothingGoes() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/server.toml"
        try "[store]\npath = \"tracks.sqlite\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        let store = try ServerConfiguration.load(path: file).store
        try Data("copy".utf8).write(to: URL(fileURLWithPath: store.path + ".before-v18"))
        let time = TrustedTime(
            newest: nil, clock: { Timestamp(milliseconds: 9_000_000_000_000) },
            monotonic: { MonotonicTime(milliseconds: 0) }, isKept: { false })
        CopyCleanup(store: store, time: time, logger: RecordedLines().logger).round()
        #expect(StoreFactory.migrationCopies(of: store).count == 1)
    }
}
