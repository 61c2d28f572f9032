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

    /// The fences that may matter to an entity at a point. `memory`: of the entity before the point. `plan`: makes a fence, the
    /// same one that was put in; nil when there is none of this number.
    package mutating func near(
        _ point: FencePoint, _ memory: EntityMemory, plan: (Int32) -> FencePlan?
    ) -> FenceSet {
        if isCovered(point, memory) { return near }
        var wanted = Set(memory.pairs.map(\.fence))
        covered = Self.boxes(point, memory, traits, grownBy: slack)
        for box in covered {
            let query = box.query
            for (box, fence) in zip(boxes, fences) where box.meets(query) { wanted.insert(fence) }
        }
        // The fences of before first: two sets at once would leave the heap larger.
        near = FenceSet()
        near = FenceSet(wanted.sorted().compactMap(plan), of: traits)
        return near
    }

    private func isCovered(_ point: FencePoint, _ memory: EntityMemory) -> Bool {
        guard !covered.isEmpty else { return false }
        for box in Self.boxes(point, memory, traits, grownBy: 0)
        where !covered.contains(where: { $0.contains(box) }) { return false }
        return memory.pairs.allSatisfy { near.slot(of: $0.fence) != nil }
    }

    private static func boxes(
        _ point: FencePoint, _ memory: EntityMemory, _ traits: FenceTraits, grownBy metres: Double
    ) -> [TreeBox] {
        var found: [TreeBox] = []
        FenceSearch.visit(point, memory, traits, grownBy: metres) { box in
            let (first, second) = TreeBox.boxes(of: box)
            found.append(first)
            if let second { found.append(second) }
        }
        return found
    }
}
