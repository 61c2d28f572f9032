internal import Geodesy
internal import TrackModel

/// The fences that judge an entity, or all entities of a service: packed ones, and a few that changed since.
///
/// It is a value. Whoever changes it works on a copy, so a point is judged by one state of the fences from its beginning
/// to its end.
package struct FenceSet: Sendable {
    /// More changes than this make a set slow: build it anew.
    package static let mostChanges = 256

    private let packed: PackedFences
    /// Changed and new fences; they are searched one by one.
    private var changed: [FencePlan] = []
    private var changedLeaves: [FenceLeaf] = []
    private var changedVertices = RingVertices()
    private var changedBoxes: [(TreeBox, UInt32)] = []
    private var changedSlots: [Int32: UInt32] = [:]
    /// A bit for each packed fence that was changed or removed.
    private var removed: [UInt64] = []
    private(set) var count: Int
    private(set) var traits: FenceTraits

    package init(_ fences: [FencePlan] = []) {
        self.init(fences, of: FenceTraits())
    }

    /// Some fences of a larger set. `traits`: of all its fences, or none.
    init(_ fences: [FencePlan], of traits: FenceTraits) {
        packed = PackedFences(fences)
        count = packed.plans.count
        self.traits = traits
        for plan in packed.plans { self.traits.note(plan) }
    }

    var denoises: [Int32] { traits.denoises }
    var hasSpeedLimits: Bool { traits.hasSpeedLimits }
    var newestChange: Timestamp { traits.newestChange }

    /// True when so much has changed that the set should be ``rebuilt()``.
    package var isOverlayFull: Bool { changed.count > Self.mostChanges }

    /// All fences, in no particular order.
    package var plans: [FencePlan] {
        packed.plans.indices.filter { !isRemoved(UInt32($0)) }.map { packed.plans[$0] }
            + changed.filter { changedSlots[$0.id] != nil }
    }

    /// The same fences, packed.
    package func rebuilt() -> FenceSet { FenceSet(plans) }

    /// Adds a fence, or puts it in the place of the one with its number.
    package mutating func put(_ plan: FencePlan) {
        remove(plan.id)
        traits.note(plan)
        let slot = UInt32(packed.plans.count + changed.count)
        changedSlots[plan.id] = slot
        changed.append(plan)
        changedLeaves.append(FenceLeaf(plan, vertices: &changedVertices))
        count += 1
        guard let (first, second) = plan.shape.box().map(TreeBox.boxes) else { return }
        changedBoxes.append((first, slot))
        if let second { changedBoxes.append((second, slot)) }
    }

    package mutating func remove(_ fence: Int32) {
        if let slot = changedSlots.removeValue(forKey: fence) {
            changedBoxes.removeAll { $0.1 == slot }
            count -= 1
        } else if let slot = packed.slots[fence], !isRemoved(slot) {
            if removed.isEmpty { removed = Array(repeating: 0, count: packed.plans.count / 64 + 1) }
            removed[Int(slot) / 64] |= 1 << (UInt64(slot) % 64)
            count -= 1
        }
    }

    package func plan(of fence: Int32) -> FencePlan? {
        slot(of: fence).map(plan(at:))
    }

    // MARK: For the judge

    func slot(of fence: Int32) -> UInt32? {
        if let slot = changedSlots[fence] { return slot }
        guard let slot = packed.slots[fence], !isRemoved(slot) else { return nil }
        return slot
    }

    func plan(at slot: UInt32) -> FencePlan { withPlan(at: slot) { $0 } }

    /// Lends a plan without copying it.
    @inline(__always)
    func withPlan<Result>(at slot: UInt32, _ use: (FencePlan) -> Result) -> Result {
        let (index, count) = (Int(slot), packed.plans.count)
        let list = index < count ? packed.plans : changed
        let plans = list.span
        return use(plans[index < count ? index : index - count])
    }

    @inline(__always)
    func leaf(at slot: UInt32) -> FenceLeaf {
        let index = Int(slot)
        return index < packed.leaves.count ? packed.leaves[index] : changedLeaves[index - packed.leaves.count]
    }

    @inline(__always)
    private func isRemoved(_ slot: UInt32) -> Bool {
        !removed.isEmpty && removed[Int(slot) / 64] & 1 << (UInt64(slot) % 64) != 0
    }

    /// Appends the slots of the fences whose box meets a box; a fence across the antimeridian may come twice.
    func find(_ box: ShapeBox, into found: inout [UInt32]) {
        let (first, second) = TreeBox.boxes(of: box)
        find(first, into: &found)
        if let second { find(second, into: &found) }
    }

    private func find(_ box: TreeBox, into found: inout [UInt32]) {
        let start = found.count
        packed.tree.find(box, into: &found)
        if !removed.isEmpty {
            var kept = start
            for index in start..<found.count where !isRemoved(found[index]) {
                found[kept] = found[index]
                kept += 1
            }
            found.removeLast(found.count - kept)
        }
        let query = box.query
        for (changed, slot) in changedBoxes where changed.meets(query) { found.append(slot) }
    }

    /// Whether the box of some fence meets a box. A fence that was removed may still count.
    func meets(_ box: ShapeBox) -> Bool {
        guard count > 0 else { return false }
        let (first, second) = TreeBox.boxes(of: box)
        return meets(first.query) || second.map { meets($0.query) } ?? false
    }

    private func meets(_ query: TreeBox.Query) -> Bool {
        packed.tree.meets(query) || changedBoxes.contains { $0.0.meets(query) }
    }

    /// Appends every slot, for tests that look at each fence.
    func findAll(into found: inout [UInt32]) {
        for slot in packed.plans.indices where !isRemoved(UInt32(slot)) { found.append(UInt32(slot)) }
        found.append(contentsOf: changedSlots.values)
    }

    /// Whether a place is inside the fence of a slot.
    func contains(_ place: Coordinate, slot: UInt32, _ leaf: FenceLeaf) -> Bool {
        switch leaf.kind {
        case .circle:
            let centre = Degrees(latitude: Double(leaf.southE7) / 1e7, longitude: Double(leaf.westE7) / 1e7)
            return SurfaceDistance.between(centre, Degrees(place)) <= leaf.radius
        case .ring:
            var x = Int64(place.longitudeE7) - Int64(leaf.westE7)
            if x < 0 { x += 3_600_000_000 }
            let y = Int64(place.latitudeE7) - Int64(leaf.southE7)
            let isPacked = Int(slot) < packed.leaves.count
            return isPacked ? packed.vertices.contains(x: x, y: y, leaf) : changedVertices.contains(x: x, y: y, leaf)
        case .other: return withPlan(at: slot) { $0.shape.contains(place) }
        }
    }

    /// Whether a way may touch the fence of a slot; false only when it surely does not.
    func mayTouch(_ way: Way, slot: UInt32, _ leaf: FenceLeaf) -> Bool {
        switch leaf.kind {
        case .circle: return way.mayTouch(circleAround: leaf.southE7, leaf.westE7, radius: leaf.radius)
        case .ring:
            let isPacked = Int(slot) < packed.leaves.count
            return isPacked ? packed.vertices.mayCross(way, leaf) : changedVertices.mayCross(way, leaf)
        case .other: return true
        }
    }
}

/// What judging must know of all fences of a set together, near or not.
struct FenceTraits: Sendable {
    /// Distinct values above 0, in metres, in their order.
    private(set) var denoises: [Int32] = []
    private(set) var hasSpeedLimits = false
    /// The newest time at which a fence came to be or was revised.
    private(set) var newestChange = Timestamp(milliseconds: .min)

    /// A fence came to be, or was revised, at this time.
    mutating func changed(at time: Timestamp) { newestChange = max(newestChange, time) }

    /// No fence came to be, or was revised, after this time.
    mutating func begin(by time: Timestamp) { newestChange = min(newestChange, time) }

    mutating func note(_ plan: FencePlan) {
        changed(at: max(plan.from, plan.revisedAt))
        hasSpeedLimits = hasSpeedLimits || plan.speedLimit != nil
        if plan.denoise > 0, !denoises.contains(plan.denoise) {
            denoises.append(plan.denoise)
            denoises.sort()
        }
    }
}

/// Many fences, packed so that those that are neighbours on the map are neighbours in memory. It never changes.
final class PackedFences: Sendable {
    /// In the order of the tree; a slot is a place in this list. The vertices of rings lie in `vertices`.
    let plans: [FencePlan]
    let leaves: [FenceLeaf]
    let vertices: RingVertices
    let tree: BoxTree
    let slots: [Int32: UInt32]

    /// Of two fences with one number the last counts.
    init(_ fences: [FencePlan]) {
        var last: [Int32: Int] = [:]
        for (index, plan) in fences.enumerated() { last[plan.id] = index }
        let kept = fences.indices.filter { last[fences[$0].id] == $0 }
        let boxes = kept.map { fences[$0].shape.box().map(TreeBox.boxes) }
        let keyed = kept.indices.map { (boxes[$0]?.0.curve ?? 0, $0) }.sorted { $0 < $1 }
        var (leaves, vertices, entries) = ([FenceLeaf](), RingVertices(), [(box: TreeBox, number: UInt32)]())
        leaves.reserveCapacity(kept.count)
        entries.reserveCapacity(kept.count)
        vertices.all.reserveCapacity(kept.reduce(0) { $0 + FenceLeaf.vertexCount(fences[$1]) })
        for (_, index) in keyed {
            let slot = UInt32(leaves.count)
            leaves.append(FenceLeaf(fences[kept[index]], vertices: &vertices))
            guard let (first, second) = boxes[index] else { continue }
            entries.append((first, slot))
            if let second { entries.append((second, slot)) }
        }
        let all = vertices.all
        plans = zip(keyed, leaves).map { key, leaf in leaf.sharing(all, fences[kept[key.1]]) }
        (self.leaves, self.vertices) = (leaves, vertices)
        slots = Dictionary(uniqueKeysWithValues: leaves.enumerated().map { ($0.element.id, UInt32($0.offset)) })
        tree = BoxTree(entries)
    }
}
