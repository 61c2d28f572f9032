package import Geofencing
internal import TrackModel

// The format: docs/formats/fences.md.
extension ServerFenceSet {
    /// Format 1 has no time zones.
    private static let format: UInt8 = 2

    package var encoded: [UInt8] {
        var bytes: [UInt8] = [Self.format]
        bytes.append(fixed: service)
        bytes.append(counted: entity.utf8)
        bytes.append(fixed: version)
        bytes.append(reach == nil ? 0 : 1)
        bytes.append(fixed: reach?.center.latitudeE7 ?? 0)
        bytes.append(fixed: reach?.center.longitudeE7 ?? 0)
        bytes.append(fixed: reach?.metres ?? 0)
        bytes.append(fixed: UInt32(clamping: uses.count))
        for use in uses {
            bytes.append(fixed: use.version)
            bytes.append(fixed: use.after.milliseconds)
            bytes.append(fixed: use.base)
        }
        bytes.append(counted: memory.encoded)
        bytes.append(fixed: UInt32(clamping: fences.count))
        for number in fences.numbers { bytes.append(counted: fences.encoded(number) ?? []) }
        bytes.append(fixed: UInt32(clamping: zones.count))
        for (name, zone) in zones.sorted(by: { $0.key < $1.key }) {
            bytes.append(counted: name.utf8)
            bytes.append(fixed: zone.first)
            bytes.append(fixed: UInt32(clamping: zone.changes.count))
            for change in zone.changes {
                bytes.append(fixed: change.time.milliseconds)
                bytes.append(fixed: change.seconds)
            }
        }
        return bytes
    }

    /// - Throws: ``MemoryCodingError`` for bytes that no version of this program wrote.
    package init(encoded bytes: [UInt8]) throws(MemoryCodingError) {
        var rest = FixedBytes(bytes, of: "the set of server fences")
        let format: UInt8 = try rest.integer()
        guard (1...Self.format).contains(format) else {
            throw MemoryCodingError(
                description: "the set of server fences has format \(format), not 1 to \(Self.format)")
        }
        let service: Int64 = try rest.integer()
        self.init(service: service, entity: try rest.text())
        let version: UInt64 = try rest.integer()
        let hasReach: UInt8 = try rest.integer()
        let (latitude, longitude): (Int32, Int32) = (try rest.integer(), try rest.integer())
        let metres: UInt32 = try rest.integer()
        var reach: ServerReach?
        if hasReach != 0, let center = Coordinate(latitudeE7: latitude, longitudeE7: longitude) {
            reach = ServerReach(center: center, metres: metres)
        }
        var uses: [VersionUse] = []
        for _ in 0..<(try rest.integer(UInt32.self)) {
            let used: UInt64 = try rest.integer()
            let after = Timestamp(milliseconds: try rest.integer())
            uses.append(VersionUse(version: used, after: after, base: try rest.integer()))
        }
        let memory = try EntityMemory(encoded: try rest.counted())
        var fences = Kept<ServerFence>()
        for _ in 0..<(try rest.integer(UInt32.self)) {
            let fence = try rest.counted()
            try fences.add(try ServerFence.number(in: fence), encoded: fence)
        }
        let zones = format > 1 ? try Self.zones(&rest) : [:]
        guard rest.remaining.isEmpty, version > 0, !uses.isEmpty else {
            throw MemoryCodingError(description: "the set of server fences has another length, or no version")
        }
        restore(version, fences, uses, reach, memory, zones)
    }

    private static func zones(_ rest: inout FixedBytes) throws(MemoryCodingError) -> [String: ZoneOffsets] {
        var zones: [String: ZoneOffsets] = [:]
        for _ in 0..<(try rest.integer(UInt32.self)) {
            let name = try rest.text()
            let first: Int32 = try rest.integer()
            var changes: [ZoneOffsets.Change] = []
            for _ in 0..<(try rest.integer(UInt32.self)) {
                let time = Timestamp(milliseconds: try rest.integer())
                changes.append(ZoneOffsets.Change(time: time, seconds: try rest.integer()))
            }
            zones[name] = ZoneOffsets(first: first, changes: changes)
        }
        return zones
    }
}
