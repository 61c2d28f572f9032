internal import Geodesy
package import TrackModel

/// All fences of one entity, of which only those near it are held ready to be judged.
///
/// A vehicle may have thousands of fences and is near a few of them. Of the others only the box is held here, 20 bytes; whoever
/// has the fences makes the plan of one that comes near. Verdicts are those of a ``FenceSet`` of all fences.
package struct FenceField: Sendable {
    /// Metres that the entity can go on before other fences can be near. They are looked for once in so many metres.
    private let slack: Double

    /// Beside each other: a box and the fence in it. A fence across the antimeridian has two, one without an area none.
    private var boxes: [TreeBox] = []
    private var fences: [Int32] = []
    private var traits = FenceTraits()

    private var near = FenceSet()
    /// Every fence that meets one of these boxes is in `near`.
    private var covered: [TreeBox] = []

    /// `count`: so many fences are about to be added.
    package init(count: Int = 0) {
        self.init(count: count, slack: 500)
    }

    init(count: Int, slack: Double) {
        self.slack = slack
        boxes.reserveCapacity(count)
        fences.reserveCapacity(count)
    }

    /// Adds a fence, or puts it in the place of the one with its number.
    package mutating func put(_ plan: FencePlan) {
        remove(plan.id)
        add(plan)
    }

    package mutating func remove(_ fence: Int32) {
        covered = []
        guard fences.contains(fence) else { return }
        boxes = zip(boxes, fences).filter { $0.1 != fence }.map(\.0)
        fences.removeAll { $0 == fence }
    }

    /// Fences that were added came to be, or were revised, only at this time.
    package mutating func changed(at time: Timestamp) {
        covered = []
        traits.changed(at: time)
    }

    /// Fences that came to be, or were revised, after this time did so at this time: a later date was wrong.
    package mutating func begin(by time: Timestamp) {
        covered = []
        traits.begin(by: time)
    }

    /// Adds a fence whose number no other one has.
    package mutating func add(_ plan: FencePlan) {
        covered = []
        traits.note(plan)
        guard let (first, second) = plan.shape.box().map(TreeBox.boxes) else { return }
        boxes.append(first)
        fences.append(plan.id)
        if let second {
            boxes.append(second)
            fences.append(plan.id)
        }
    }

    /// The fences that may matter to an entity at a point. `fenceState`: of the entity before the point. `plan`: makes a fence, the
    /// same one that was put in; nil when there is none of this number.
    package mutating func near(
        _ point: FencePoint, _ fenceState: EntityFenceState, plan: (Int32) -> FencePlan?
    ) -> FenceSet {
        if isCovered(point, fenceState) { return near }
        var wanted = Set(fenceState.pairs.map(\.fence))
        covered = Self.boxes(point, fenceState, traits, grownBy: slack)
        for box in covered {
            let query = box.query
            for (box, fence) in zip(boxes, fences) where box.meets(query) { wanted.insert(fence) }
        }
        // The fences of before first: two sets at once would leave the heap larger.
        near = FenceSet()
        near = FenceSet(wanted.sorted().compactMap(plan), of: traits)
        return near
    }

    private func isCovered(_ point: FencePoint, _ fenceState: EntityFenceState) -> Bool {
        guard !covered.isEmpty else { return false }
        for box in Self.boxes(point, fenceState, traits, grownBy: 0)
        where !covered.contains(where: { $0.contains(box) }) { return false }
        return fenceState.pairs.allSatisfy { near.slot(of: $0.fence) != nil }
    }

    private static func boxes(
        _ point: FencePoint, _ fenceState: EntityFenceState, _ traits: FenceTraits, grownBy metres: Double
    ) -> [TreeBox] {
        var found: [TreeBox] = []
        FenceSearch.visit(point, fenceState, traits, grownBy: metres) { box in
            let (first, second) = TreeBox.boxes(of: box)
            found.append(first)
            if let second { found.append(second) }
        }
        return found
    }
}

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

    mutating func find(_ point: FencePoint, _ fenceState: EntityFenceState, _ fences: FenceSet, own: FenceSet?) {
        candidates.removeAll(keepingCapacity: true)
        gather(point, fenceState, fences, isOwn: false)
        if let own { gather(point, fenceState, own, isOwn: true) }
        sort()
    }

    private mutating func gather(_ point: FencePoint, _ fenceState: EntityFenceState, _ set: FenceSet, isOwn: Bool) {
        guard set.count > 0 else { return }
        slots.removeAll(keepingCapacity: true)
        if findsAll {
            set.findAll(into: &slots)
        } else {
            Self.visit(point, fenceState, set.traits, grownBy: 0) { set.find($0, into: &slots) }
        }
        for slot in slots {
            candidates.append(Candidate(fence: set.leaf(at: slot).id, slot: slot, isOwn: isOwn))
        }
    }

    /// The boxes in which a fence matters to a point, grown by so many metres more.
    @inline(__always)
    static func visit(
        _ point: FencePoint, _ fenceState: EntityFenceState, _ traits: FenceTraits, grownBy more: Double,
        _ visit: (ShapeBox) -> Void
    ) {
        let margin = margin(of: traits, fenceState) + more
        var hasWay = false
        for previous in fenceState.points
        where previous.time < traits.newestChange || Self.hasWay(from: previous, to: point) {
            hasWay = true
            visit(ShapeBox(from: previous.place, to: point.place, grownBy: margin))
        }
        if !hasWay { visit(ShapeBox(from: point.place, to: point.place, grownBy: margin)) }
    }

    /// Metres around a way in which a fence matters.
    static func margin(of traits: FenceTraits, _ fenceState: EntityFenceState) -> Double {
        // The last point of the strictest denoise: before there is one, places are unknown.
        let last = fenceState.lastPoint(denoise: traits.denoises.first ?? 0)
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
