import RoadMatching
import TrackAnalysis

/// A track in the order in which it is shown: its samples, and between them the points that roads add.
struct TrackLine: Sendable {
    enum Item: Sendable {
        /// A sample of the cleaned track, and the road under it.
        case sample(TrackSample, RoadEdge?)
        /// A corner of a road.
        case corner(RoadVertex, Kind)
    }

    /// The value of `_supplement`.
    enum Kind: Int64, Sendable {
        case matched = 1
        case routed = 2
    }

    private(set) var items: [Item] = []

    /// `interruptions`: of `samples`, with the believed routes, whose points are shown when there are any.
    init(_ samples: [TrackSample], _ match: MatchedTrack?, _ interruptions: [Interruption], _ routes: RoadRoutes?) {
        var next = 0
        for (position, sample) in samples.enumerated() {
            if next < interruptions.count, interruptions[next].end.index == sample.index {
                let gap = interruptions[next]
                if let routes, let route = routes.answers[next] {
                    items += route.corners(from: gap.start, to: gap.end).map { .corner($0, .routed) }
                }
                next += 1
            }
            let road = match?.samples[position]
            items += (road?.corners ?? []).map { .corner($0, .matched) }
            items.append(.sample(sample, road?.edge))
        }
    }

    /// Thins the line; `drops` also gets the positions of corners, from `count` on.
    mutating func thin(_ tolerance: Double, count: Int, _ drops: inout DropLedger) {
        guard tolerance > 0 else { return }
        var samples: [TrackSample] = []
        samples.reserveCapacity(items.count)
        // Of the items, by the indices of their samples.
        var positions = [Int](repeating: 0, count: count + items.count)
        for (position, item) in items.enumerated() {
            switch item {
            case .sample(let sample, _): samples.append(sample)
            case .corner(let corner, _): samples.append(corner.sample(index: count + position))
            }
            positions[samples[position].index] = position
        }
        let kept = TimeRatioThinning.apply(TimeRatioThinning(metres: tolerance), to: samples, &drops)
        items = kept.map { items[positions[$0.index]] }
    }
}
