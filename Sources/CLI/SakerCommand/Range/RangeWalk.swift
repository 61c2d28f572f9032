/// Walks along a range in parts that overlap, so that sums and lists of the parts are those of the whole range.
///
/// Two neighbouring parts share the track from the begin of the second to the end of the first. A sum of the range is the
/// sum of both parts less that of what they share: the effects of the ends cancel out. A list of the range is that of the
/// first part up to the middle of what they share, and from there on that of the second.
struct RangeWalk: Hashable {
    struct Step: Hashable {
        /// What both parts have; nil when they share at most one point.
        var shared: ClosedRange<Int64>?
        /// The last second of which this part's points count.
        var shownThrough: Int64
        /// Where the next part begins.
        var next: Int64
        /// The only point of this part is its first one: a silence as long as a part follows it.
        var isSilent = false
    }

    private let rule: RangeRule
    private let end: Int64
    /// The part to ask for.
    private(set) var part: ClosedRange<Int64>
    /// The first second of which this part's points count.
    private(set) var shownFrom: Int64

    init(_ range: ClosedRange<Int64>, _ rule: RangeRule) {
        self.rule = rule
        end = range.upperBound
        part = range.lowerBound...min(range.lowerBound + rule.longest, end)
        shownFrom = range.lowerBound
    }

    /// What follows the part, nil after the last. `last` is the time of the last point of its answer, if it has points.
    func step(_ last: Int64?) -> Step? {
        guard part.upperBound < end else { return nil }
        let after = part.upperBound + 1
        guard let last, last > part.lowerBound, last < after else {
            return Step(shared: nil, shownThrough: part.upperBound, next: after, isSilent: last != nil)
        }
        // So far back that the silence after the last point is within the next part, if it is short enough.
        let begin = last - rule.lead
        guard begin > part.lowerBound else { return Step(shared: nil, shownThrough: last, next: last) }
        return Step(shared: begin...part.upperBound, shownThrough: begin + rule.lead / 2, next: begin)
    }

    mutating func advance(_ step: Step) {
        part = step.next...min(step.next + rule.longest, end)
        shownFrom = step.shownThrough + 1
    }
}
