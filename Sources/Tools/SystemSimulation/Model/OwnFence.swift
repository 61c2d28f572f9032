internal import Geofencing
internal import LocalFences
internal import TrackModel

/// A fence of the vehicle's own as the checker knows it: since when it judges, by the time of the fixes.
struct OwnFence: Hashable {
    var fence: Fence
    /// Fixes before are not judged by it.
    var since: Timestamp
    /// Places are set anew from fixes before.
    var revised: Timestamp
    /// Entities that the fence began to watch later.
    var joined: [String: Timestamp] = [:]

    init(_ fence: Fence, since: Timestamp) {
        (self.fence, self.since, revised) = (fence, since, since)
    }

    /// As the file has it: after docs/formats/fences.md, whose first fields these are.
    init(_ found: LocalFence) {
        let bytes = found.encoded
        func time(_ offset: Int) -> Timestamp {
            var value: UInt64 = 0
            for index in 0..<8 { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
            return Timestamp(milliseconds: Int64(bitPattern: value))
        }
        fence = found.fence
        (since, revised) = (time(0), time(8))
        var offset = 17
        for _ in 0..<bytes[16] {
            let end = offset + 1 + Int(bytes[offset])
            joined[String(decoding: bytes[(offset + 1)..<end], as: UTF8.self)] = time(end)
            offset = end + 8
        }
    }

    func plan(for entity: String) -> FencePlan? {
        guard fence.definition.watch.contains(entity), var plan = try? fence.plan(from: joined[entity] ?? since) else {
            return nil
        }
        plan.revisedAt = revised
        return plan
    }

    /// No time lies behind this one: a later date was wrong.
    mutating func begin(by time: Timestamp) {
        (since, revised) = (min(since, time), min(revised, time))
        joined = joined.mapValues { min($0, time) }
    }
}

/// What must come back after a restart.
struct KeptFence: Hashable {
    let definition: FenceDefinition
    let revision: Int32
}
