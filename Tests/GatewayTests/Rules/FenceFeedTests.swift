import FenceDelivery
import Geodesy
import Geofencing
import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

@Suite struct FenceFeedTests {
    private static func parts(_ count: UInt32, version: UInt64) -> FenceFeed.Update {
        let parts = (0..<count).map { number in
            var update = FenceUpdate()
            (update.version, update.part, update.parts) = (version, number, count)
            return update
        }
        return FenceFeed.Update(version: Int64(version), parts: parts)
    }

    @Test func whatChangesWhileTheStoreIsAskedIsAskedForOnceMore() {
        var feed = FenceFeed(version: 3)
        #expect(feed.mayHaveChanged() == [.load(since: 3, around: nil)])
        #expect(feed.mayHaveChanged() == [])
        #expect(feed.mayHaveChanged() == [])
        #expect(feed.loaded(nil) == [.load(since: 3, around: nil)])
        #expect(feed.loaded(nil) == [])
        #expect(feed.loaded(Self.parts(1, version: 9)) == [], "nobody asked")
    }

    @Test func theNextDifferenceWaitsForTheLastPart() {
        var feed = FenceFeed(version: 0)
        _ = feed.mayHaveChanged()
        #expect(feed.loaded(Self.parts(3, version: 7)) == [.send])
        #expect(feed.next().part?.part == 0)
        #expect(feed.mayHaveChanged() == [])
        #expect(feed.next().part?.part == 1)
        let last = feed.next()
        #expect(last.part?.part == 2)
        #expect(last.actions == [.load(since: 7, around: nil)])
        #expect(feed.next().part == nil)
        #expect(!feed.hasParts)
    }

    @Test func aStoreThatFailsIsAskedAgain() {
        var feed = FenceFeed(version: 5)
        _ = feed.mayHaveChanged()
        #expect(feed.failed() == [.setTimer(milliseconds: FenceFeed.retry)])
        #expect(feed.mayHaveChanged() == [.load(since: 5, around: nil)])
    }

    @Test func anotherPlaceNeedsAllFencesAnew() throws {
        let place = try #require(Coordinate(latitude: 31, longitude: 121))
        var feed = FenceFeed(version: 5)
        #expect(feed.asked(around: place) == [.load(since: 0, around: place)])
        #expect(feed.loaded(Self.parts(1, version: 6)) == [.send])
        _ = feed.next()
        #expect(feed.mayHaveChanged() == [.load(since: 6, around: place)])
    }

    @Test func theZonesThatTheFencesNameGoWithThem() throws {
        let time = Timestamp(milliseconds: 1000)
        let entity = EntityKey(service: try #require(ServiceID(rawValue: 1)), name: "car")
        let draft = ShapeDraft(.circle(centre: Degrees(latitude: 31, longitude: 100), radius: 20))
        let window = try #require(WeeklyWindow(days: 127, from: 0, to: 3600))
        let fences = try [FenceZone.named("Asia/Shanghai"), .named("Mars/Olympus"), .offset(60)].enumerated().map {
            var definition = FenceDefinition(draft)
            definition.validity = FenceValidity(windows: [window], zone: $0.element)
            let fence = try Fence(id: Int32($0.offset + 1), definition, at: time)
            return SubjectFence(record: FenceRecord(fence: fence, version: 8, everyoneSince: time), since: time)
        }
        let shanghai = ZoneOffsets(first: 28_800)
        let update = FenceReading.update(fences, version: 8, of: entity, around: nil) { name in
            name == "Mars/Olympus" ? nil : name == "Asia/Shanghai" ? shanghai : .utc
        }
        var reader = FenceDeliveryReader()
        let delivery = try #require(try update.parts.compactMap { try reader.take($0)?.unpacked() }.last)
        #expect(delivery.fences.count == 3 && delivery.zones == ["Asia/Shanghai": shanghai])
    }

    @Test func aVehicleGetsTheNearestOfTooManyFences() throws {
        let time = Timestamp(milliseconds: 1000)
        let entity = EntityKey(service: try #require(ServiceID(rawValue: 1)), name: "car")
        let count = FenceDelivery.mostFences + 500
        let fences = try (1...count).map { number in
            let centre = Degrees(latitude: 31, longitude: 100 + Double(number) / 1000)
            let draft = ShapeDraft(.circle(centre: centre, radius: 20))
            let fence = try Fence(id: Int32(number), FenceDefinition(draft), at: time)
            return SubjectFence(record: FenceRecord(fence: fence, version: 8, everyoneSince: time), since: time)
        }
        let east = try #require(Coordinate(latitude: 31, longitude: 100 + Double(count) / 1000))
        func delivery(_ update: FenceFeed.Update) throws -> FenceDelivery {
            var reader = FenceDeliveryReader()
            return try #require(try update.parts.compactMap { try reader.take($0)?.unpacked() }.last)
        }
        let near = try delivery(FenceReading.update(fences, version: 8, of: entity, around: east))
        #expect(near.fences.count == FenceDelivery.mostFences)
        #expect(near.fences.map(\.fence.id).min() == 501)
        let reach = try #require(near.reach)
        #expect(reach.center == east)
        // The first that is left out is 10,000 steps of a thousandth of a degree away.
        #expect(abs(Double(reach.metres) - 954_000) < 3000)
        let nowhere = try delivery(FenceReading.update(fences, version: 8, of: entity, around: nil))
        #expect(nowhere.fences.isEmpty)
        #expect(nowhere.reach?.metres == 0)
        let few = try delivery(FenceReading.update(Array(fences.prefix(10)), version: 8, of: entity, around: nil))
        #expect(few.fences.count == 10)
        #expect(few.reach == nil)
    }
}
