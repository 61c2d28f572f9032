internal import Compression
internal import FoundationEssentials
internal import Geofencing
internal import SwiftProtobuf
import TrackModel
package import TrackWire

extension FenceDelivery {
    /// The messages that carry it, in their order. Docs: docs/formats/track-protocol.md.
    ///
    /// - Throws: ``FenceDeliveryError`` for more than ``mostFences`` or ``mostBytes``.
    package func updates() throws(FenceDeliveryError) -> [FenceUpdate] {
        guard fences.count <= Self.mostFences else {
            throw FenceDeliveryError("\(fences.count) fences: a delivery has at most \(Self.mostFences)")
        }
        var content = FenceUpdateContent()
        content.fences = fences.map(SentFence.init)
        content.removed = removed
        if let reach { content.reach = FenceReach(reach) }
        content.zones = zones.sorted { $0.key < $1.key }.map { NamedZone($0.key, $0.value) }
        // These messages have no required fields, so encoding cannot fail.
        let plain: [UInt8] = (try? content.serializedBytes()) ?? []
        guard plain.count <= Self.mostBytes else {
            throw FenceDeliveryError("\(plain.count) bytes: a delivery has at most \(Self.mostBytes)")
        }
        let packed: [UInt8]
        do throws(CompressionError) {
            packed = try Zlib.compress(plain, level: 6)
        } catch {
            throw FenceDeliveryError(error.description)
        }
        let parts = stride(from: 0, to: packed.count, by: Self.partBytes).map {
            packed[$0..<min($0 + Self.partBytes, packed.count)]
        }
        return parts.enumerated().map { number, bytes in
            var update = FenceUpdate()
            update.version = version
            update.base = base
            update.part = UInt32(number)
            update.parts = UInt32(parts.count)
            update.content = Data(bytes)
            return update
        }
    }

    /// `packed`: the parts in their order.
    init(version: UInt64, base: UInt64, packed: [UInt8]) throws(FenceDeliveryError) {
        let content: FenceUpdateContent
        do {
            let plain = try Zlib.decompress(packed, limit: Self.mostBytes)
            content = try FenceUpdateContent(serializedBytes: plain)
        } catch let error as CompressionError {
            throw FenceDeliveryError("the content of a fence update: \(error)")
        } catch {
            throw FenceDeliveryError("the content of a fence update is not the message FenceUpdateContent")
        }
        guard content.fences.count <= Self.mostFences, content.removed.count <= Self.mostFences else {
            throw FenceDeliveryError(
                "\(content.fences.count) fences and \(content.removed.count) removed ones: at most \(Self.mostFences)")
        }
        var fences: [DeliveredFence] = []
        var numbers: Set<Int32> = []
        for sent in content.fences {
            guard numbers.insert(sent.id).inserted else {
                throw FenceDeliveryError("fence \(sent.id) comes twice in a fence update")
            }
            fences.append(try DeliveredFence(sent))
        }
        guard numbers.isDisjoint(with: content.removed) else {
            throw FenceDeliveryError("a fence update brings a fence and removes it")
        }
        guard content.zones.count <= Self.mostZones else {
            throw FenceDeliveryError("\(content.zones.count) time zones of a fence update: at most \(Self.mostZones)")
        }
        var zones: [String: ZoneOffsets] = [:]
        for zone in content.zones {
            guard zones.updateValue(try ZoneOffsets(zone), forKey: zone.name) == nil else {
                throw FenceDeliveryError("time zone '\(zone.name)' comes twice in a fence update")
            }
        }
        self.init(
            version: version, base: base, fences: fences, removed: content.removed,
            reach: content.hasReach ? try Reach(content.reach) : nil, zones: zones)
    }
}

extension SentFence {
    fileprivate init(_ fence: DeliveredFence) {
        self.init()
        id = fence.fence.id
        since = fence.since.milliseconds
        self.fence = Data(fence.fence.encoded)
        groupCode = fence.group?.rawValue ?? 0
    }
}

extension DeliveredFence {
    fileprivate init(_ sent: SentFence) throws(FenceDeliveryError) {
        do throws(FenceStateCodingError) {
            let fence = try Fence(id: sent.id, encoded: Array(sent.fence))
            let group = fence.definition.group.map { _ in GroupCode(rawValue: sent.groupCode) }
            self.init(fence, since: Timestamp(milliseconds: sent.since), group: group)
        } catch {
            throw FenceDeliveryError("fence \(sent.id) of a fence update cannot be read: \(error)")
        }
    }
}

extension FenceReach {
    fileprivate init(_ reach: FenceDelivery.Reach) {
        self.init()
        latitudeE7 = reach.center.latitudeE7
        longitudeE7 = reach.center.longitudeE7
        metres = reach.metres
    }
}

extension FenceDelivery.Reach {
    fileprivate init(_ reach: FenceReach) throws(FenceDeliveryError) {
        guard let center = Coordinate(latitudeE7: reach.latitudeE7, longitudeE7: reach.longitudeE7) else {
            throw FenceDeliveryError("the reach of a fence update has no place on earth")
        }
        self.init(center: center, metres: reach.metres)
    }
}

extension NamedZone {
    fileprivate init(_ name: String, _ zone: ZoneOffsets) {
        self.init()
        self.name = name
        first = zone.first
        var last: Int64 = 0
        for change in zone.changes {
            changes.append(change.time.seconds &- last)
            offsets.append(change.seconds)
            last = change.time.seconds
        }
    }
}

extension ZoneOffsets {
    fileprivate init(_ zone: NamedZone) throws(FenceDeliveryError) {
        guard !zone.name.isEmpty, zone.name.utf8.count <= FenceDelivery.mostZoneBytes,
            zone.changes.count == zone.offsets.count, zone.changes.count <= FenceDelivery.mostChanges,
            ([zone.first] + zone.offsets).allSatisfy(FenceZone.offsets.contains)
        else { throw FenceDeliveryError("time zone '\(zone.name)' of a fence update cannot be read") }
        var (changes, time): ([Change], Int64) = ([], 0)
        for (number, (step, offset)) in zip(zone.changes, zone.offsets).enumerated() {
            let (next, overflow) = time.addingReportingOverflow(step)
            guard !overflow, number == 0 || step > 0, Int64(Int32.min) * 4 <= next, next <= Int64(Int32.max) * 4 else {
                throw FenceDeliveryError("the changes of time zone '\(zone.name)' of a fence update do not ascend")
            }
            time = next
            changes.append(Change(time: Timestamp(seconds: time), seconds: offset))
        }
        self.init(first: zone.first, changes: changes)
    }
}
