package import TrackAnalysis

/// Which interruptions of a track are asked for a route, and which routes are believed.
package struct SupplementPlan: Hashable, Sendable {
    /// Metres within which a vehicle was parked, whatever the time; twice its radius also counts.
    static let parked = 50.0
    static let parkedRadii = 2.0
    /// Routes of one request: the longest interruptions are asked for.
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
        let longest = moved.sorted { interruptions[$0].straight > interruptions[$1].straight }.prefix(Self.most)
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
