internal import Geodesy
package import Geofencing
package import TrackModel

/// The server's fences for one entity of one service: which version, since which point it judges, and the entity's memory at
/// that point. It judges nothing.
package struct ServerFenceSet: Hashable, Sendable {
    package struct Limits: Hashable, Sendable {
        package var fences = 10_000
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
    package private(set) var reach: ServerReach?
    /// What the time zones of the fences stand for at the server. Another database may differ, and vehicle and server would
    /// tell other alarms.
    package private(set) var zones: [String: ZoneOffsets] = [:]
    /// As the points before the newest use left it.
    package private(set) var memory = EntityMemory()

    package init(service: Int64, entity: String) {
        self.service = service
        self.entity = entity
    }

    mutating func restore(
        _ version: UInt64, _ fences: Kept<ServerFence>, _ uses: [VersionUse], _ reach: ServerReach?,
        _ memory: EntityMemory, _ zones: [String: ZoneOffsets]
    ) {
        (self.version, self.fences, self.uses, self.reach, self.memory) = (version, fences, uses, reach, memory)
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

    /// The set that a delivery makes of this one. Points later than the memory's last are judged by it.
    ///
    /// - Throws: ``FenceRefusal`` when the delivery follows another version, or is too much for the box.
    func adding(
        _ delivery: ServerDelivery, memory: EntityMemory, limits: Limits = Limits()
    ) throws(FenceRefusal) -> ServerFenceSet {
        guard delivery.base == 0 || delivery.base == version else {
            throw FenceRefusal(
                .text, "fences of version \(delivery.version) follow version \(delivery.base), and there is \(version)")
        }
        var new = self
        new.version = delivery.version
        new.reach = delivery.reach
        new.memory = memory
        if delivery.base == 0 { new.fences = Kept() }
        for number in delivery.removed { new.fences[number] = nil }
        for fence in delivery.fences { new.fences[fence.number] = adapted(fence, memory) }
        let names = Set(new.fences.facts.compactMap { $0 })
        new.zones = new.zones.merging(delivery.zones) { $1 }.filter { names.contains($0.key) }
        guard new.fences.count <= limits.fences else {
            throw FenceRefusal(.tooMany, "\(new.fences.count) server fences: the box takes \(limits.fences)")
        }
        guard new.fences.vertices <= limits.vertices else {
            throw FenceRefusal(
                .tooMany, "\(new.fences.vertices) vertices of server fences: the box takes \(limits.vertices)")
        }
        let after = memory.lastTime ?? Timestamp(milliseconds: 0)
        // A version that judged no point is passed over.
        let base = uses.first { $0.after >= after }?.base ?? version
        new.uses.removeAll { $0.after >= after }
        new.uses.append(VersionUse(version: delivery.version, after: after, base: base))
        new.uses = new.uses.suffix(limits.uses)
        return new
    }

    /// Points that were judged without a fence, or by another area, say nothing of it: it begins behind them.
    private func adapted(_ fence: ServerFence, _ memory: EntityMemory) -> ServerFence {
        guard let last = memory.lastTime else { return fence }
        var fence = fence
        let next = last.adding(milliseconds: 1)
        // A fence whose time zone has come only now was not judged before, nor one that came since the newest judged point: to the
        // server both are new.
        if let old = fences[fence.fence.id], old.since < next, old.zoneName.map({ zones[$0] != nil }) ?? true {
            fence.since = old.since
            fence.revised = old.fence.areaRevision == fence.fence.areaRevision ? old.revised : max(fence.revised, next)
        } else {
            fence.since = max(fence.since, next)
        }
        return fence
    }

    mutating func remember(_ memory: EntityMemory) { self.memory = memory }

    /// The receiver's time began anew at an earlier date.
    mutating func timeBeganAnew(at time: Timestamp, memory: EntityMemory?) {
        self.memory = memory ?? EntityMemory()
        for number in fences.numbers { fences[number]?.begin(by: time) }
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
