/// Takes out of a ring what adds nothing to its area.
enum RingCleaning {
    /// The ring without repeated vertices, without vertices on a straight line between their neighbours, and without spikes
    /// of zero width. Fewer than three vertices remain of a ring without area.
    static func cleaned(_ ring: [LineVertex]) -> [LineVertex] {
        var kept: [LineVertex] = []
        kept.reserveCapacity(ring.count)
        for vertex in ring { append(vertex, to: &kept) }
        // The end of the list meets its beginning: the same rules there.
        var start = 0
        var isClean = false
        while !isClean, kept.count - start >= 3 {
            isClean = true
            let (first, second) = (kept[start], kept[start + 1])
            let (last, beforeLast) = (kept[kept.count - 1], kept[kept.count - 2])
            if last.place == first.place || isNeedless(last, between: beforeLast, and: first) {
                kept.removeLast()
                isClean = false
            } else if isNeedless(first, between: last, and: second) {
                start += 1
                isClean = false
            }
        }
        return Array(kept[start...])
    }

    private static func append(_ vertex: LineVertex, to kept: inout [LineVertex]) {
        while let last = kept.last {
            if last.place == vertex.place { return }
            guard kept.count > 1, isNeedless(last, between: kept[kept.count - 2], and: vertex) else { break }
            kept.removeLast()
        }
        kept.append(vertex)
    }

    /// On one line with its neighbours, whether between them or at the tip of a spike.
    private static func isNeedless(_ vertex: LineVertex, between start: LineVertex, and end: LineVertex) -> Bool {
        RingTest.side(of: vertex.place, from: start.place, to: end.place) == 0
    }
}
