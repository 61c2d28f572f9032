internal import Geodesy
package import Geofencing
package import TrackModel

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

    package init(_ fence: Fence, since: Timestamp, group: GroupCode?) {
        (self.fence, self.since, self.group) = (fence, since, group)
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
    static func number(in bytes: [UInt8]) throws(MemoryCodingError) -> Int32 {
        var rest = FixedBytes(bytes, of: "a server fence")
        return try rest.integer()
    }

    package init(number: Int32, encoded bytes: [UInt8], isKnown: Bool) throws(MemoryCodingError) {
        var rest = FixedBytes(bytes, of: "a server fence")
        guard try rest.integer(Int32.self) == number else {
            throw MemoryCodingError(description: "a server fence has another number than \(number)")
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
