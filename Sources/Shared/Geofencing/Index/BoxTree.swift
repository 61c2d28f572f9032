/// A static tree of boxes, packed in the order of a Hilbert curve, with 16 children a node. The children of a node are
/// found by its number, so a node is nothing but its box.
struct BoxTree {
    static let fan = 16

    /// The levels one after the other: all boxes, then those of their nodes, up to the single root.
    private var boxes: [TreeBox] = []
    /// Where each level begins in `boxes`.
    private var starts: [Int] = []
    /// The number that the maker gave each box.
    private var numbers: [UInt32] = []

    /// Boxes with their numbers; a number may come more than once.
    init(_ entries: [(box: TreeBox, number: UInt32)]) {
        guard !entries.isEmpty else { return }
        numbers = entries.map(\.number)
        boxes = entries.map(\.box)
        starts = [0]
        var count = entries.count
        while count > 1 {
            let start = boxes.count - count
            starts.append(boxes.count)
            for first in stride(from: start, to: start + count, by: Self.fan) {
                var box = boxes[first]
                for index in first + 1..<max(first + 1, min(first + Self.fan, start + count)) { box.add(boxes[index]) }
                boxes.append(box)
            }
            count = boxes.count - start - count
        }
    }

    /// Appends the numbers of all boxes that meet a box. The order is that of the tree.
    func find(_ box: TreeBox, into found: inout [UInt32]) {
        guard !boxes.isEmpty else { return }
        boxes.withUnsafeBufferPointer { boxes in
            let box = box.query
            guard boxes[boxes.count - 1].meets(box) else { return }
            guard starts.count > 1 else { return found.append(numbers[0]) }
            find(box, level: starts.count - 1, node: 0, boxes, &found)
        }
    }

    /// Whether some box meets a box.
    func meets(_ box: TreeBox.Query) -> Bool {
        guard !boxes.isEmpty else { return false }
        return boxes.withUnsafeBufferPointer { boxes in
            boxes[boxes.count - 1].meets(box)
                && (starts.count == 1 || meets(box, level: starts.count - 1, node: 0, boxes))
        }
    }

    private func meets(
        _ box: TreeBox.Query, level: Int, node: Int, _ boxes: UnsafeBufferPointer<TreeBox>
    ) -> Bool {
        let below = starts[level - 1]
        let first = below + node * Self.fan
        let end = min(first + Self.fan, starts[level])
        for child in first..<end where boxes[child].meets(box) {
            if level == 1 || meets(box, level: level - 1, node: child - below, boxes) { return true }
        }
        return false
    }

    private func find(
        _ box: TreeBox.Query, level: Int, node: Int, _ boxes: UnsafeBufferPointer<TreeBox>, _ found: inout [UInt32]
    ) {
        let below = starts[level - 1]
        let first = below + node * Self.fan
        let end = min(first + Self.fan, starts[level])
        for child in first..<end where boxes[child].meets(box) {
            if level == 1 {
                found.append(numbers[child])
            } else {
                find(box, level: level - 1, node: child - below, boxes, &found)
            }
        }
    }
}
