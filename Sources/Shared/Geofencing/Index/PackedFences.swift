internal import Geodesy
internal import TrackModel

/// Many fences, packed so that those that are neighbours on the map are neighbours in memory. It never changes.
final class PackedFences: Sendable {
    /// In the order of the tree; a slot is a place in this list.
    let plans: [FencePlan]
    let leaves: [FenceLeaf]
    let vertices: RingVertices
    let tree: BoxTree
    let slots: [Int32: UInt32]

    /// Of two fences with one number the last counts.
    init(_ fences: [FencePlan]) {
        var last: [Int32: Int] = [:]
        for (index, plan) in fences.enumerated() { last[plan.id] = index }
        let kept = fences.enumerated().filter { last[$0.element.id] == $0.offset }.map(\.element)
        let placed = kept.map { plan in (plan, plan.shape.box().map(TreeBox.boxes)) }
        let keyed = placed.enumerated().map { ($0.element.1?.0.curve ?? 0, $0.offset) }.sorted { $0 < $1 }
        var (plans, leaves, vertices, entries, slots) =
            ([FencePlan](), [FenceLeaf](), RingVertices(), [(TreeBox, UInt32)](), [Int32: UInt32]())
        for (_, index) in keyed {
            let (plan, boxes) = placed[index]
            let slot = UInt32(plans.count)
            slots[plan.id] = slot
            plans.append(plan)
            leaves.append(FenceLeaf(plan, vertices: &vertices))
            guard let boxes else { continue }
            entries.append((boxes.0, slot))
            if let second = boxes.1 { entries.append((second, slot)) }
        }
        (self.plans, self.leaves, self.vertices, self.slots) = (plans, leaves, vertices, slots)
        tree = BoxTree(entries.map { (box: $0.0, number: $0.1) })
    }
}
