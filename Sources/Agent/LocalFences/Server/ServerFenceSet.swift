package import FenceDelivery
internal import Geodesy
package import Geofencing
package import TrackModel

/// The server's fences for one entity of one service: which version, since which point it judges, and the entity's fence state at
/// that point. It judges nothing.
package struct ServerFenceSet: Hashable, Sendable {
    package struct Limits: Hashable, Sendable {
        package var fences = FenceDelivery.mostFences
        /// Of all fences together.
        package var vertices = 200_000
        /// Versions that are remembered because points wait that they judged.
        package var uses = 1000

        package init() {}
    }

    package let service: Int64
    package let entity: String
    /// 0: there is no set.
    package private(set) var version: UInt64 = 0
    package private(set) var fences = Kept<ServerFence>()
    /// In the order of their times; never empty when there is a set.
    package private(set) var uses: [VersionUse] = []
    package private(set) var reach: FenceDelivery.Reach?
    /// What the time zones of the fences stand for at the server. Another database may differ, and vehicle and server would
    /// tell other alarms.
    package private(set) var zones: [String: ZoneOffsets] = [:]
    /// As the points before the newest use left it.
    package private(set) var fenceState = EntityFenceState()

    package init(service: Int64, entity: String) {
        self.service = service
        self.entity = entity
    }

    mutating func restore(
        _ version: UInt64, _ fences: Kept<ServerFence>, _ uses: [VersionUse], _ reach: FenceDelivery.Reach?,
        _ fenceState: EntityFenceState, _ zones: [String: ZoneOffsets]
    ) {
        (self.version, self.fences, self.uses, self.reach, self.fenceState) = (version, fences, uses, reach, fenceState)
        self.zones = zones
    }

    package func isOf(_ entity: String, _ service: Int64) -> Bool {
        service == self.service && ExactName(entity) == ExactName(self.entity)
    }

    /// What is judged of a fence of the set.
    ///
    /// - Throws: ``FenceError`` when the server has not sent its time zone.
    package func plan(of fence: ServerFence) throws(FenceError) -> FencePlan {
        try fence.plan(zone: fence.zoneName.flatMap { zones[$0] })
    }

    /// Some fence needs a time zone that has not come.
    var lacksZones: Bool { fences.facts.contains { $0.map { zones[$0] == nil } ?? false } }

    // MARK: Changes

    /// What a delivery makes of the fences of this set. It may take seconds.
    ///
    /// - Throws: ``FenceRefusal`` when the delivery follows another version, or is too much for the box.
    func adding(_ delivery: FenceDelivery, limits: Limits = Limits()) throws(FenceRefusal) -> ServerFenceArrival {
        guard delivery.base == 0 || delivery.base == version else {
            throw FenceRefusal(
                .text, "fences of version \(delivery.version) follow version \(delivery.base), and there is \(version)")
        }
        var new = ServerFenceArrival(
            version: delivery.version, reach: delivery.reach, fences: delivery.base == 0 ? Kept() : fences)
        for number in delivery.removed { new.fences[number] = nil }
        for delivered in delivery.fences {
            let fence = ServerFence(delivered)
            new.fences[fence.number] = fence
            new.times.append(times(of: fence))
        }
        let names = Set(new.fences.facts.compactMap { $0 })
        new.zones = zones.merging(delivery.zones) { $1 }.filter { names.contains($0.key) }
        guard new.fences.count <= limits.fences else {
            throw FenceRefusal(.tooMany, "\(new.fences.count) server fences: the box takes \(limits.fences)")
        }
        guard new.fences.vertices <= limits.vertices else {
            throw FenceRefusal(
                .tooMany, "\(new.fences.vertices) vertices of server fences: the box takes \(limits.vertices)")
        }
        return new
    }

    private func times(of fence: ServerFence) -> ServerFenceArrival.Times {
        var times = ServerFenceArrival.Times(number: fence.number, since: fence.since, revised: fence.revised)
        // A fence whose time zone has come only now was not judged before.
        if let old = fences[fence.fence.id], old.zoneName.map({ zones[$0] != nil }) ?? true {
            times.before = (old.since, old.fence.areaRevision == fence.fence.areaRevision ? old.revised : nil)
        }
        return times
    }

    /// The set of these fences, which were made of those of this set. Points later than the fence state's last are judged by it.
    func taking(_ arrival: ServerFenceArrival, fenceState: EntityFenceState) -> ServerFenceSet {
        var new = self
        (new.version, new.reach, new.fenceState) = (arrival.version, arrival.reach, fenceState)
        (new.fences, new.zones) = (arrival.fences, arrival.zones)
        for times in arrival.times {
            let (since, revised) = times.after(fenceState.lastTime)
            new.fences.begin(times.number, since: since, revised: revised)
        }
        let after = fenceState.lastTime ?? Timestamp(milliseconds: 0)
        // A version that judged no point is passed over.
        let base = uses.first { $0.after >= after }?.base ?? version
        new.uses.removeAll { $0.after >= after }
        new.uses.append(VersionUse(version: arrival.version, after: after, base: base))
        new.uses = new.uses.suffix(Limits().uses)
        return new
    }

    mutating func remember(_ fenceState: EntityFenceState) { self.fenceState = fenceState }

    /// The receiver's time began anew at an earlier date.
    mutating func timeBeganAnew(at time: Timestamp, fenceState: EntityFenceState?) {
        self.fenceState = fenceState ?? EntityFenceState()
        _ = fences.begin(by: time)
        let before = time.adding(milliseconds: -1)
        let wrong = uses.count { $0.after > before }
        guard wrong > 0, let newest = uses.last else { return }
        uses.removeLast(wrong)
        uses.append(VersionUse(version: newest.version, after: before, base: newest.version))
    }

    /// The oldest point that the server does not have yet is of this time; nil: there is none. Uses that judged none of
    /// these points are forgotten.
    ///
    /// - Returns: whether there were such uses.
    mutating func forgetUses(before oldest: Timestamp?) -> Bool {
        let first =
            oldest.flatMap { oldest in uses.lastIndex { $0.after < oldest } } ?? (oldest == nil ? uses.count - 1 : 0)
        guard first > 0 else { return false }
        uses.removeFirst(first)
        return true
    }

    /// By which versions points of these times were judged, both included.
    package func uses(from first: Timestamp, through last: Timestamp) -> [VersionUse] {
        uses.covering(from: first, through: last)
    }
}

extension [VersionUse] {
    /// Those that judged points of these times, both included.
    package func covering(from first: Timestamp, through last: Timestamp) -> [VersionUse] {
        let begin = lastIndex { $0.after < first } ?? 0
        return dropFirst(begin).filter { $0.after < last }
    }
}

/// A fence of the server's as the box judges it.
package struct ServerFence: KeepableFence {
    package let fence: Fence
    /// Points before are not judged by it: not before the fence watched the entity, and not those that the box judged without
    /// it.
    var since: Timestamp
    /// Places are set anew from points before.
    var revised: Timestamp
    /// The server makes it of everybody whom the fence watches; nil: the fence is in no group.
    let group: GroupCode?

    init(_ delivered: DeliveredFence) {
        (fence, since, group) = (delivered.fence, delivered.since, delivered.group)
        revised = fence.revisedAt
    }

    package var number: Int32 { fence.id }
    /// The time zone that the fence needs; nil when it needs none.
    package var facts: String? { zoneName }
    package var vertexCount: Int { fence.definition.shape.vertexCount }

    /// The time zone that the fence needs; nil when it needs none.
    var zoneName: String? { fence.definition.validity?.zoneName }

    /// What is judged. `zone`: what the zone of the weekly windows stands for.
    ///
    /// - Throws: ``FenceError`` when the weekly windows name a zone and `zone` is nil: then only the server judges the fence.
    func plan(zone: ZoneOffsets? = nil) throws(FenceError) -> FencePlan {
        var plan = try fence.plan(from: since, zone: zone)
        plan.group = group
        plan.revisedAt = revised
        return plan
    }

    // MARK: As bytes, see docs/formats/fences.md

    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(fixed: fence.id)
        bytes.append(fixed: since.milliseconds)
        bytes.append(fixed: revised.milliseconds)
        bytes.append(group == nil ? 0 : 1)
        bytes.append(fixed: group?.rawValue ?? 0)
        return bytes + fence.encoded
    }

    package var fenceStart: Int { 29 }

    package static var mostTimeBytes: Int { 20 }
    package static func times(in head: [UInt8]) -> [Int] { head.count < mostTimeBytes ? [] : [4, 12] }

    /// The number that stands in the bytes of a fence.
    static func number(in bytes: [UInt8]) throws(FenceStateCodingError) -> Int32 {
        var rest = FixedBytes(bytes, of: "a server fence")
        return try rest.integer()
    }

    package init(number: Int32, encoded bytes: [UInt8], isKnown: Bool) throws(FenceStateCodingError) {
        var rest = FixedBytes(bytes, of: "a server fence")
        guard try rest.integer(Int32.self) == number else {
            throw FenceStateCodingError(description: "a server fence has another number than \(number)")
        }
        since = Timestamp(milliseconds: try rest.integer())
        revised = Timestamp(milliseconds: try rest.integer())
        let (isGrouped, code): (UInt8, UInt64) = (try rest.integer(), try rest.integer())
        group = isGrouped == 0 ? nil : GroupCode(rawValue: code)
        fence = try Fence(id: number, encoded: rest.remaining, isKnown: isKnown)
    }
}

extension Kept where Value == ServerFence {
    /// Since when a fence judges, and when its places were set anew. The fence is not made for that.
    mutating func begin(_ number: Int32, since: Timestamp, revised: Timestamp) {
        var times: [UInt8] = []
        times.append(fixed: since.milliseconds)
        times.append(fixed: revised.milliseconds)
        replace(number, from: 4, with: times)
    }
}

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
        bytes.append(counted: fenceState.encoded)
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

    /// - Throws: ``FenceStateCodingError`` for bytes that no version of this program wrote.
    package init(encoded bytes: [UInt8]) throws(FenceStateCodingError) {
        var rest = FixedBytes(bytes, of: "the set of server fences")
        let format: UInt8 = try rest.integer()
        guard (1...Self.format).contains(format) else {
            throw FenceStateCodingError(
                description: "the set of server fences has format \(format), not 1 to \(Self.format)")
        }
        let service: Int64 = try rest.integer()
        self.init(service: service, entity: try rest.text())
        let version: UInt64 = try rest.integer()
        let hasReach: UInt8 = try rest.integer()
        let (latitude, longitude): (Int32, Int32) = (try rest.integer(), try rest.integer())
        let metres: UInt32 = try rest.integer()
        var reach: FenceDelivery.Reach?
        if hasReach != 0, let center = Coordinate(latitudeE7: latitude, longitudeE7: longitude) {
            reach = FenceDelivery.Reach(center: center, metres: metres)
        }
        var uses: [VersionUse] = []
        for _ in 0..<(try rest.integer(UInt32.self)) {
            let used: UInt64 = try rest.integer()
            let after = Timestamp(milliseconds: try rest.integer())
            uses.append(VersionUse(version: used, after: after, base: try rest.integer()))
        }
        let fenceState = try EntityFenceState(encoded: try rest.counted())
        var fences = Kept<ServerFence>()
        for _ in 0..<(try rest.integer(UInt32.self)) {
            let fence = try rest.counted()
            try fences.add(try ServerFence.number(in: fence), encoded: fence)
        }
        let zones = format > 1 ? try Self.zones(&rest) : [:]
        guard rest.remaining.isEmpty, version > 0, !uses.isEmpty else {
            throw FenceStateCodingError(description: "the set of server fences has another length, or no version")
        }
        restore(version, fences, uses, reach, fenceState, zones)
    }

    private static func zones(_ rest: inout FixedBytes) throws(FenceStateCodingError) -> [String: ZoneOffsets] {
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
