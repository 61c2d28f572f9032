import RoadMatching
import TrackAnalysis
import TrackStore

/// A processed track in the order in which it is shown: its samples, and between them the points that roads add, thinned.
///
/// Takes the samples of the cleaned track one by one, and holds no more of them than the thinning does.
struct TrackLine {
    /// The value of `_supplement`.
    enum Kind: Int64, Sendable {
        case matched = 1
        case routed = 2
    }

    /// What roads add.
    struct Additions {
        var match: MatchedTrack?
        /// With the believed routes across them, whose points are shown.
        var interruptions: [Interruption] = []
        var routes: RoadRoutes?
    }

    /// Of the samples, by their indices.
    private let travel: (TrackSample) -> TravelKind?
    private let additions: Additions
    private let options: WebAPIOptions
    /// Points of the track; corners have the indices after them.
    private let count: Int
    private var corners: [(vertex: RoadVertex, kind: Kind)] = []
    /// By the indices of the samples; empty without a match.
    private var edges: [RoadEdge?]
    /// Samples so far, and interruptions that are behind them.
    private var position = 0
    private var passed = 0
    private var thinning: TimeRatioThinning?
    private var buffer: [TrackSample] = []

    private(set) var shown: ShownPoints
    /// Of the thinning alone, also of corners.
    private(set) var drops = DropLedger()

    /// `tolerance`: of the thinning, metres; 0 keeps all.
    init(
        of points: StoredPoints, _ additions: Additions = Additions(), tolerance: Double, options: WebAPIOptions,
        travel: @escaping (TrackSample) -> TravelKind?
    ) {
        self.travel = travel
        self.additions = additions
        self.options = options
        count = points.count
        edges = additions.match == nil ? [] : Array(repeating: nil, count: points.count)
        thinning = tolerance > 0 ? TimeRatioThinning(metres: tolerance) : nil
        shown = ShownPoints(of: points, isProcessed: true)
    }

    /// Takes the next sample of the cleaned track; of a matched track, the sample on its road.
    mutating func add(_ sample: TrackSample) {
        if passed < additions.interruptions.count, additions.interruptions[passed].end.index == sample.index {
            let gap = additions.interruptions[passed]
            if let route = additions.routes?.answers[passed] {
                for corner in route.corners(from: gap.start, to: gap.end) { add(corner, .routed) }
            }
            passed += 1
        }
        if let road = additions.match?.samples[position] {
            for corner in road.corners { add(corner, .matched) }
            edges[sample.index] = road.edge
        }
        position += 1
        thin(sample)
    }

    /// No sample comes any more.
    mutating func finish() {
        thinning?.finish(to: &buffer, &drops)
        show()
    }

    private mutating func add(_ corner: RoadVertex, _ kind: Kind) {
        corners.append((corner, kind))
        thin(corner.sample(index: count + corners.count - 1))
    }

    private mutating func thin(_ sample: TrackSample) {
        if thinning == nil { buffer.append(sample) } else { thinning?.add(sample, to: &buffer, &drops) }
        show()
    }

    private mutating func show() {
        for sample in buffer {
            guard sample.index < count else {
                let corner = corners[sample.index - count]
                shown.append(corner.vertex, corner.kind)
                continue
            }
            let edge = edges.isEmpty ? nil : edges[sample.index]
            shown.append(sample, travel: travel(sample), road: edge.map { RoadLabel($0, options) })
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
