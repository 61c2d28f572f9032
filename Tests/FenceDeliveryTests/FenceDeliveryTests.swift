import Compression
import FoundationEssentials
import Geodesy
import Geofencing
import ProgramTestKit
import SwiftProtobuf
import Testing
import TrackModel
import TrackWire

@testable import FenceDelivery

@Suite struct FenceDeliveryTests {
    private static let time = Timestamp(milliseconds: 1_700_000_000_000)

    private static func fence(_ id: Int32, watch: FenceSubjects, group: String? = nil) throws -> Fence {
        let center = Degrees(latitude: 31 + Double(id % 1000) / 100, longitude: 121)
        var definition = FenceDefinition(ShapeDraft(.circle(centre: center, radius: 200)))
        definition.name = "depot \(id)"
        definition.watch = watch
        definition.group = group
        return try Fence(id: id, definition, at: time)
    }

    private static func put(_ updates: [FenceUpdate]) throws -> FenceDelivery? {
        var reader = FenceDeliveryReader()
        var delivery: FenceDelivery?
        for update in updates {
            #expect(delivery == nil)
            delivery = try reader.take(update)?.unpacked()
        }
        return delivery
    }

    @Test func aDeliveryComesBack() throws {
        let fences = try (Int32(1)...50).map {
            DeliveredFence(
                try Self.fence($0, watch: .everyone, group: $0 % 2 == 0 ? "yard" : nil), since: Self.time, of: "truck")
        }
        let reach = FenceDelivery.Reach(center: try #require(Coordinate(latitude: 31, longitude: 121)), metres: 5000)
        let delivery = FenceDelivery(version: 9, base: 4, fences: fences, removed: [60, 61], reach: reach)
        let back = try Self.put(delivery.updates())
        #expect(back == delivery)
        let empty = FenceDelivery(version: 1, fences: [])
        let nothing = try Self.put(empty.updates())
        #expect(nothing == empty)
    }

    private static func content(_ change: (inout NamedZone) -> Void) throws -> FenceUpdate {
        var content = FenceUpdateContent()
        var zone = NamedZone()
        (zone.name, zone.first, zone.changes, zone.offsets) = ("Europe/Amsterdam", 3600, [-100, 50], [7200, 3600])
        change(&zone)
        content.zones = [zone]
        var update = FenceUpdate()
        (update.version, update.parts) = (1, 1)
        update.content = Data(try Zlib.compress(try content.serializedBytes(), level: 6))
        return update
    }

    @Test func zonesComeBackAndJudgeAsAtTheServer() throws {
        let zone = ZoneOffsets(
            first: 3600,
            changes: [
                .init(time: Timestamp(seconds: -1000), seconds: 0), .init(time: Timestamp(seconds: 5), seconds: 7200),
                .init(time: Timestamp(seconds: 4_102_444_800), seconds: -3600),
            ])
        var definition = try Self.fence(3, watch: .everyone).definition
        let window = try #require(WeeklyWindow(days: 31, from: 28_800, to: 61_200))
        definition.validity = FenceValidity(windows: [window], zone: .named("Europe/Amsterdam"))
        let fence = try Fence(id: 3, definition, at: Self.time)
        let delivery = FenceDelivery(
            version: 9, fences: [DeliveredFence(fence, since: Self.time, of: "truck")],
            zones: ["Europe/Amsterdam": zone, "Etc/UTC": .utc])
        let back = try #require(try Self.put(delivery.updates()))
        #expect(back == delivery)
        let plan = try back.fences[0].plan(zone: back.zones["Europe/Amsterdam"])
        let judged = try fence.plan(from: Self.time, zone: zone)
        #expect(plan == judged)
        #expect(throws: FenceError.self) { try back.fences[0].plan() }
    }

    @Test func zonesThatAreNoneAreRefused() throws {
        #expect(try Self.put([Self.content { _ in }])?.zones.count == 1)
        let wrong: [(inout NamedZone) -> Void] = [
            { $0.name = "" }, { $0.name = String(repeating: "x", count: 65) }, { $0.first = 86_401 },
            { $0.offsets = [0, -86_401] }, { $0.offsets = [0] }, { $0.changes = [5, 0] }, { $0.changes = [5, -1] },
            { $0.changes = [5, .max] }, { $0.changes = [.min, 1] },
            {
                $0.changes = Array(repeating: 1, count: 10_001)
                $0.offsets = Array(repeating: 0, count: 10_001)
            },
        ]
        for (number, change) in wrong.enumerated() {
            #expect(throws: FenceDeliveryError.self, "\(number)") { try Self.put([Self.content(change)]) }
        }
        var zone = NamedZone()
        zone.name = "Etc/UTC"
        var content = FenceUpdateContent()
        content.zones = Array(repeating: zone, count: 2)
        var update = FenceUpdate()
        (update.version, update.parts) = (1, 1)
        update.content = Data(try Zlib.compress(try content.serializedBytes(), level: 6))
        #expect(throws: FenceDeliveryError.self) { try Self.put([update]) }
    }

    @Test func aLargeDeliveryComesInParts() throws {
        let seed = Dice.seeds(1)[0]
        var random = Dice(seed: seed)
        let fences = try (Int32(1)...6000).map { id in
            var definition = FenceDefinition(
                ShapeDraft(
                    .circle(
                        centre: Degrees(
                            latitude: Double.random(in: -80...80, using: &random),
                            longitude: Double.random(in: -180...180, using: &random)),
                        radius: Double.random(in: 50...900, using: &random))))
            definition.name = "\(UInt64.random(in: 0...UInt64.max, using: &random))"
            return DeliveredFence(try Fence(id: id, definition, at: Self.time), since: Self.time, of: "truck")
        }
        let delivery = FenceDelivery(version: 7, fences: fences)
        let updates = try delivery.updates()
        #expect(updates.count > 1, "seed \(seed)")
        let back = try Self.put(updates)
        #expect(back == delivery, "seed \(seed)")
        #expect(updates.allSatisfy { WireCodec.encode(ServerFrame(.fenceUpdate($0))).count < WireLimits.frameBytes })
        // A lost, repeated or foreign part is told, and a new beginning is taken.
        var reader = FenceDeliveryReader()
        _ = try reader.take(updates[0])
        #expect(throws: FenceDeliveryError.self) { try reader.take(updates[0].with { $0.part = 2 }) }
        #expect(throws: FenceDeliveryError.self) { try reader.take(updates[1]) }
        _ = try reader.take(updates[0])
        #expect(throws: FenceDeliveryError.self) { try reader.take(updates[1].with { $0.version = 8 }) }
        _ = try reader.take(updates[0])
        #expect(throws: FenceDeliveryError.self) { try reader.take(updates[1].with { $0.base = 5 }) }
        _ = try reader.take(updates[0].with { $0.parts = 4 })
        #expect(throws: FenceDeliveryError.self) {
            try reader.take(
                updates[1].with {
                    $0.part = 2
                    $0.parts = 4
                })
        }
    }

    @Test func theVehicleJudgesTheServersPlanAndHearsOfNobodyElse() throws {
        let watch = try FenceSubjects(["truck", "van", "bus"])
        let fence = try Self.fence(3, watch: watch, group: "yard")
        let delivered = DeliveredFence(fence, since: Self.time, of: "truck")
        let back = try #require(try Self.put(FenceDelivery(version: 1, fences: [delivered]).updates())).fences[0]
        let plan = try back.plan()
        let judged = try fence.plan(from: Self.time)
        #expect(plan == judged)
        #expect(back.fence.definition.watch.entities.map(\.text) == ["truck"])
    }

    @Test func whatIsNoDeliveryIsRefused() throws {
        let fence = DeliveredFence(try Self.fence(3, watch: .everyone), since: Self.time, of: "truck")
        let update = try FenceDelivery(version: 2, base: 1, fences: [fence]).updates()[0]
        func refuse(_ change: (inout FenceUpdate) -> Void) {
            var reader = FenceDeliveryReader()
            #expect(throws: FenceDeliveryError.self) { try reader.take(update.with(change))?.unpacked() }
        }
        refuse { $0.version = 1 }
        refuse { $0.version = 0 }
        refuse { $0.parts = 0 }
        refuse { $0.part = 1 }
        refuse { $0.content = $0.content.dropLast() }
        refuse { $0.content = .init(repeating: 7, count: 40) }
        // A bomb: 40 MiB of zeros in 40 kB.
        let bomb = try Zlib.compress([UInt8](repeating: 0, count: 40 << 20))
        refuse { $0.content = .init(bomb) }
        // One SentFence with the number 3 and nothing else.
        let unreadable = try Zlib.compress([0x0A, 2, 8, 3])
        refuse { $0.content = .init(unreadable) }
        var reader = FenceDeliveryReader()
        #expect(throws: FenceDeliveryError.self) {
            try reader.take(FenceDelivery(version: 2, base: 1, fences: [fence, fence]).updates()[0])?.unpacked()
        }
        #expect(throws: FenceDeliveryError.self) {
            try reader.take(FenceDelivery(version: 2, base: 1, fences: [fence], removed: [3]).updates()[0])?.unpacked()
        }
    }
}

extension FenceUpdate {
    fileprivate func with(_ change: (inout Self) -> Void) -> Self {
        var update = self
        change(&update)
        return update
    }
}
