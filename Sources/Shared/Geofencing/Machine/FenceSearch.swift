internal import Geodesy
internal import TrackModel

/// Finds the fences near the way to a point. It keeps only room to work in.
struct FenceSearch {
    /// A fence near a point. `isOwn`: of the entity's own set.
    struct Candidate {
        let fence: Int32
        let slot: UInt32
        let isOwn: Bool
    }

    /// Milliseconds: the way between two points is never asked for beyond.
    private static let longestWay = Int64(FencePlan.crossingGaps.upperBound) * 1000
    /// Metres: farther from a fence than any error that counts.
    private static let reachOfUnknown = 60.0

    /// Every fence is found, near or not: for tests of the index.
    var findsAll = false
    /// What was found, by fence, each once.
    private(set) var candidates: [Candidate] = []
    private var slots: [UInt32] = []

    mutating func find(_ point: FencePoint, _ memory: EntityMemory, _ fences: FenceSet, own: FenceSet?) {
        candidates.removeAll(keepingCapacity: true)
        gather(point, memory, fences, isOwn: false)
        if let own { gather(point, memory, own, isOwn: true) }
        sort()
    }

    private mutating func gather(_ point: FencePoint, _ memory: EntityMemory, _ set: FenceSet, isOwn: Bool) {
        guard set.count > 0 else { return }
        slots.removeAll(keepingCapacity: true)
        if findsAll {
            set.findAll(into: &slots)
        } else {
            Self.visit(point, memory, set.traits, grownBy: 0) { set.find($0, into: &slots) }
        }
        for slot in slots {
            candidates.append(Candidate(fence: set.leaf(at: slot).id, slot: slot, isOwn: isOwn))
        }
    }

    /// The boxes in which a fence matters to a point, grown by so many metres more.
    @inline(__always)
    static func visit(
        _ point: FencePoint, _ memory: EntityMemory, _ traits: FenceTraits, grownBy more: Double,
        _ visit: (ShapeBox) -> Void
    ) {
        let margin = margin(of: traits, memory) + more
        var hasWay = false
        for previous in memory.points
        where previous.time < traits.newestChange || Self.hasWay(from: previous, to: point) {
            hasWay = true
            visit(ShapeBox(from: previous.place, to: point.place, grownBy: margin))
        }
        if !hasWay { visit(ShapeBox(from: point.place, to: point.place, grownBy: margin)) }
    }

    /// Metres around a way in which a fence matters.
    static func margin(of traits: FenceTraits, _ memory: EntityMemory) -> Double {
        // The last point of the strictest denoise: before there is one, places are unknown.
        let last = memory.lastPoint(denoise: traits.denoises.first ?? 0)
        let isSettled = last.map { $0.time >= traits.newestChange } ?? false
        return isSettled ? 0 : reachOfUnknown
    }

    /// Only a way that can be travelled is looked at: who jumps around the world must not ask for every fence.
    private static func hasWay(from previous: FencePoint, to point: FencePoint) -> Bool {
        let span = point.time.milliseconds(since: previous.time)
        guard span <= longestWay else { return false }
        return FenceStep.isTravelled(Way(from: previous.place, to: point.place), in: span)
    }

    private mutating func sort() {
        guard candidates.count > 1 else { return }
        if candidates.count > 64 {
            candidates.sort { $0.fence < $1.fence }
        } else {
            for index in 1..<candidates.count {
                let candidate = candidates[index]
                var place = index
                while place > 0, candidates[place - 1].fence > candidate.fence {
                    candidates[place] = candidates[place - 1]
                    place -= 1
                }
                candidates[place] = candidate
            }
        }
        var kept = 1
        for index in 1..<candidates.count where candidates[index].fence != candidates[kept - 1].fence {
            candidates[kept] = candidates[index]
            kept += 1
        }
        candidates.removeLast(candidates.count - kept)
    }
}
