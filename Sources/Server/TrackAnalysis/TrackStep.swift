/// The reason of every dropped point, by the point's index: one byte a point.
package struct DropLedger: Hashable, Sendable {
    private var reasons: [UInt8] = []

    package init() {}

    /// Nil for a point that is kept.
    package subscript(index: Int) -> DropReason? {
        reasons.indices.contains(index) ? DropReason(rawValue: reasons[index]) : nil
    }

    /// How many points each reason dropped; without the reasons that dropped none.
    package var counts: [DropReason: Int] {
        var counts: [DropReason: Int] = [:]
        for reason in reasons.lazy.compactMap(DropReason.init(rawValue:)) { counts[reason, default: 0] += 1 }
        return counts
    }

    /// The dropped points with their reasons, in the order of the track.
    package var dropped: [(index: Int, reason: DropReason)] {
        reasons.enumerated().compactMap { index, code in DropReason(rawValue: code).map { (index, $0) } }
    }

    /// Adds what later steps dropped of the first `count` points.
    package mutating func add(_ other: DropLedger, count: Int) {
        for (index, code) in other.reasons.prefix(count).enumerated() {
            if let reason = DropReason(rawValue: code) { drop(index, reason) }
        }
    }

    /// A point is dropped once; later reasons do not count.
    mutating func drop(_ index: Int, _ reason: DropReason) {
        if index >= reasons.count {
            reasons.append(contentsOf: repeatElement(0, count: index + 1 - reasons.count))
        }
        if reasons[index] == 0 { reasons[index] = reason.rawValue }
    }
}
