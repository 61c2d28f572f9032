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

    /// What a delivery makes of the fences of this set. It may take seconds.
    ///
    /// - Throws: ``FenceRefusal`` when the delivery follows another version, or is too much for the box.
    func adding(_ delivery: ServerDelivery, limits: Limits = Limits()) throws(FenceRefusal) -> ServerFenceArrival {
        guard delivery.base == 0 || delivery.base == version else {
            throw FenceRefusal(
                .text, "fences of version \(delivery.version) follow version \(delivery.base), and there is \(version)")
        }
        var new = ServerFenceArrival(
            version: delivery.version, reach: delivery.reach, fences: delivery.base == 0 ? Kept() : fences)
        for number in delivery.removed { new.fences[number] = nil }
        for fence in delivery.fences {
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

    /// The set of these fences, which were made of those of this set. Points later than the memory's last are judged by it.
    func taking(_ arrival: ServerFenceArrival, memory: EntityMemory) -> ServerFenceSet {
        var new = self
        (new.version, new.reach, new.memory) = (arrival.version, arrival.reach, memory)
        (new.fences, new.zones) = (arrival.fences, arrival.zones)
        for times in arrival.times {
            let (since, revised) = times.after(memory.lastTime)
            new.fences.begin(times.number, since: since, revised: revised)
        }
        let after = memory.lastTime ?? Timestamp(milliseconds: 0)
        // A version that judged no point is passed over.
        let base = uses.first { $0.after >= after }?.base ?? version
        new.uses.removeAll { $0.after >= after }
        new.uses.append(VersionUse(version: arrival.version, after: after, base: base))
        new.uses = new.uses.suffix(Limits().uses)
        return new
    }

    mutating func remember(_ memory: EntityMemory) { self.memory = memory }

    /// The receiver's time began anew at an earlier date.
    mutating func timeBeganAnew(at time: Timestamp, memory: EntityMemory?) {
        self.memory = memory ?? EntityMemory()
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
