internal import Geodesy
package import Geofencing
internal import TrackModel

/// A fence of the box's own, and since when it judges, by the time of the points that it judges: the box's clock may be
/// wrong.
package struct LocalFence: KeepableFence {
    /// An entity that the fence began to watch later.
    struct Joined: Hashable, Sendable {
        let entity: ExactName
        var since: Timestamp
    }

    package var fence: Fence
    /// Points before are not judged by it.
    var since: Timestamp
    /// Places are set anew from points before.
    var revised: Timestamp
    /// The newest are last.
    private(set) var joined: [Joined] = []

    /// Entities that are remembered so.
    static let mostJoined = 16

    init(_ fence: Fence, since: Timestamp) {
        self.fence = fence
        self.since = since
        revised = since
    }

    /// Points of this entity are judged from `since` on.
    mutating func join(_ entity: ExactName, since: Timestamp) {
        joined.removeAll { $0.entity == entity }
        joined = joined.suffix(Self.mostJoined - 1) + [Joined(entity: entity, since: since)]
    }

    package var number: Int32 { fence.id }
    /// Whom the fence watches.
    package var facts: FenceWatch { fence.definition.watch }
    package var vertexCount: Int { fence.definition.shape.vertexCount }

    /// What is judged for an entity.
    ///
    /// - Throws: ``FenceError`` when nobody knows the zone of the fence's weekly windows.
    func plan(for entity: String, _ zones: [String: ZoneOffsets]) throws(FenceError) -> FencePlan {
        var zone: ZoneOffsets?
        if case .named(let name)? = fence.definition.validity?.zone { zone = zones[name] }
        let name = ExactName(entity)
        let since = joined.last { $0.entity == name }?.since ?? since
        var plan = try fence.plan(from: since, zone: zone)
        plan.revisedAt = revised
        return plan
    }

    // MARK: As bytes

    /// The format: docs/formats/fences.md. ``Kept`` puts other times into the first 16 bytes.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(fixed: since.milliseconds)
        bytes.append(fixed: revised.milliseconds)
        bytes.append(UInt8(joined.count))
        for entity in joined {
            let name = Array(entity.entity.text.utf8)
            bytes += [UInt8(name.count)] + name
            bytes.append(fixed: entity.since.milliseconds)
        }
        return bytes + fence.encoded
    }

    package var fenceStart: Int { joined.reduce(17) { $0 + 9 + $1.entity.text.utf8.count } }

    /// Names have at most 255 bytes.
    package static var mostTimeBytes: Int { 17 + mostJoined * (1 + 255 + 8) }

    package static func times(in head: [UInt8]) -> [Int] {
        guard head.count > 16 else { return [] }
        var (places, next) = ([0, 8], 17)
        for _ in 0..<head[16] where next < head.count {
            let place = next + 1 + Int(head[next])
            next = place + 8
            if next <= head.count { places.append(place) }
        }
        return places
    }

    package init(number: Int32, encoded bytes: [UInt8], isKnown: Bool = false) throws(MemoryCodingError) {
        var rest = FixedBytes(bytes, of: "fence \(number)")
        since = Timestamp(milliseconds: try rest.integer())
        revised = Timestamp(milliseconds: try rest.integer())
        for _ in 0..<(try rest.integer(UInt8.self)) {
            let length = Int(try rest.integer(UInt8.self))
            guard let name = String(validating: try rest.take(length), as: UTF8.self) else {
                throw MemoryCodingError(description: "fence \(number) names an entity that is not UTF-8")
            }
            joined.append(Joined(entity: ExactName(name), since: Timestamp(milliseconds: try rest.integer())))
        }
        fence = try Fence(id: number, encoded: rest.remaining, isKnown: isKnown)
    }
}

extension Kept where Value == LocalFence {
    /// The fence judges from `since` on. It is not made for that: an import may have ten thousand of them.
    mutating func begin(_ number: Int32, since: Timestamp) {
        var times: [UInt8] = []
        times.append(fixed: since.milliseconds)
        replace(number, from: 0, with: times + times)
    }

    /// Places are set anew from points before `time`. The fence is not made for that.
    mutating func revise(_ number: Int32, at time: Timestamp) {
        var revised: [UInt8] = []
        revised.append(fixed: time.milliseconds)
        replace(number, from: 8, with: revised)
    }
}
