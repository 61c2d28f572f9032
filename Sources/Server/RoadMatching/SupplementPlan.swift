internal import Geodesy
package import TrackAnalysis

/// Which interruptions of a track are asked for a route, and which routes are believed.
package struct SupplementPlan: Hashable, Sendable {
    /// Metres within which a vehicle was parked, whatever the time; twice its radius also counts.
    static let parked = 50.0
    static let parkedRadii = 2.0
    /// Routes for each day of a request: the longest interruptions are asked for.
    package static let most = 100
    /// Times the entity's greatest speed that a route may need.
    static let haste = 1.2
    /// A route may be this many times as long as the straight line, and metres besides.
    static let longestDetour = (times: 10.0, metres: 2000.0)

    private let interruptions: [Interruption]
    /// m/s.
    private let speedCap: Double
    /// Positions of the interruptions that are asked for, ascending.
    package let asked: [Int]

    /// `speedCap`: m/s of the entity, whatever the mode of the routes. A lorry's gap may be as long as the way on foot.
    package init(_ interruptions: [Interruption], speedCap: Double) {
        self.interruptions = interruptions
        self.speedCap = speedCap
        let moved = interruptions.indices.filter { !Self.isParked(interruptions[$0]) }
        let span = interruptions.last?.end.milliseconds(since: interruptions[0].start) ?? 0
        let most = Self.most * Int(1 + max(span - 1, 0) / 86_400_000)
        let longest = moved.sorted { interruptions[$0].straight > interruptions[$1].straight }.prefix(most)
        asked = longest.sorted()
    }

    package func request(at position: Int, _ costing: RoadCosting) -> RoadRequest {
        let interruption = interruptions[position]
        return RouteRequest.request(from: interruption.start.place, to: interruption.end.place, costing)
    }

    /// Whether the route may be what was driven.
    package func accepts(_ route: RouteAnswer, at position: Int) -> Bool {
        let interruption = interruptions[position]
        guard route.leads(from: interruption.start, to: interruption.end) else { return false }
        return route.metres <= Self.haste * speedCap * interruption.seconds
            && route.metres <= Self.longestDetour.times * interruption.straight + Self.longestDetour.metres
    }

    private static func isParked(_ interruption: Interruption) -> Bool {
        let radius = max(interruption.start.radius ?? 0, interruption.end.radius ?? 0)
        return interruption.straight <= max(parked, parkedRadii * radius)
    }
}

/// A hole of a path between two neighbours that are on roads: a tunnel, most often.
package struct Bridge: Hashable, Sendable {
    /// Metres of holes that are bridged: shorter ones are as long as their straight line.
    static let reach = 100.0...20_000.0
    /// A route is taken when it is hardly longer than the straight line (times, and metres besides) or runs in a
    /// tunnel.
    static let longestDetour = (times: 1.3, metres: 200.0)

    /// Position of the sample behind the hole.
    package let position: Int
    package let start: TrackSample
    package let end: TrackSample

    /// Metres.
    private var straight: Double { start.distance(to: end) }

    package func request(_ costing: RoadCosting) -> RoadRequest {
        RouteRequest.request(
            from: start.place, to: end.place, costing, heading: start.course.map { Double($0) / 10 })
    }

    /// Whether the route is the way that was driven. `speedCap` is in m/s.
    package func accepts(_ route: RouteAnswer, speedCap: Double) -> Bool {
        let isDirect = route.metres <= Self.longestDetour.times * straight + Self.longestDetour.metres
        let seconds = end.seconds(since: start)
        return route.leads(from: start, to: end) && (isDirect || route.tunnel >= route.metres / 2)
            && route.metres <= speedCap * seconds
    }
}

extension MatchedTrack {
    /// The holes that a route may bridge.
    package var bridges: [Bridge] {
        samples.indices.dropFirst().compactMap { position in
            // Nearly every sample has a path. It is looked at in place: copies of all samples cost as much as the match.
            guard samples[position].path == nil, samples[position].edge != nil, samples[position - 1].edge != nil else {
                return nil
            }
            let (start, end) = (samples[position - 1].sample, samples[position].sample)
            guard !end.followsBreak, end.milliseconds(since: start) < Interruption.span,
                Bridge.reach.contains(start.distance(to: end))
            else { return nil }
            return Bridge(position: position, start: start, end: end)
        }
    }

    /// Lays an accepted route over its hole.
    package mutating func lay(_ route: RouteAnswer, over bridge: Bridge) {
        guard samples.indices.contains(bridge.position) else { return }
        samples[bridge.position].path = route.metres
        samples[bridge.position].toll = route.toll
        samples[bridge.position].corners = route.corners(from: bridge.start, to: bridge.end)
    }
}
