internal import Geodesy
internal import TrackModel

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
