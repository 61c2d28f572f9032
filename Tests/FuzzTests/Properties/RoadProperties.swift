import Geodesy
import RoadMatching

/// The reader of a road engine's answers: whatever listens at the address of the engine.
enum RoadProperties {
    private static let statuses = [200, 400, 404, 503]

    /// First byte: the status and the number of points that were sent; the rest is the body.
    @Sendable static func check(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let first = Int(reader.byte())
        let reply = RoadReply(status: statuses[first & 3], body: Array(reader.rest))
        if let trace = try? TraceAnswer(reply, count: first >> 2) {
            try require(trace.points.count == first >> 2, "a point without an answer, or an answer without a point")
            for point in trace.points.compactMap(\.self) {
                try require(
                    abs(point.place.latitude) <= 90 && abs(point.place.longitude) <= 180, "a place off the earth")
                try require(point.distance >= 0, "a distance of \(point.distance)")
            }
            for edge in trace.edges {
                try require(edge.limit.map { $0 > 0 && $0 < 1000 } ?? true, "a limit of \(edge.limit ?? 0)")
            }
        }
        guard let route = try? RouteAnswer(reply) else { return }
        try require(route.metres >= 0, "a route of \(route.metres) m")
        try require(
            route.tunnel.isFinite && route.toll.isFinite && route.tunnel >= 0 && route.toll >= 0,
            "a tunnel of \(route.tunnel) m, toll roads of \(route.toll) m")
    }
}
