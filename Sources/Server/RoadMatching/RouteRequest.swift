internal import Geodesy
internal import JSON
import TrackAnalysis

/// The engine's answer to a ``RouteRequest``.
package struct RouteAnswer: Hashable, Sendable {
    /// Metres.
    package let metres: Double
    let shape: [Degrees]
    /// Metres along the shape.
    private let shapeMetres: Double
    /// Metres of it in tunnels, and on toll roads.
    package let tunnel: Double
    package let toll: Double

    package init(_ reply: RoadReply) throws(RoadFailure) {
        let json = try reply.object()
        guard let route = json["routes"]?.arrayValue?.first, let metres = route["distance"]?.doubleValue, metres >= 0,
            let text = route["geometry"]?.stringValue, let shape = Polyline.places(text)
        else { throw .invalid }
        self.metres = metres
        self.shape = shape
        let lengths = PathLengths(shape.map { EarthVector($0) })
        shapeMetres = lengths.cumulative.last ?? 0
        let intersections = Self.intersections(of: route, vertices: shape.count)
        var (tunnel, toll) = (0.0, 0.0)
        for (position, intersection) in intersections.enumerated() {
            let end = position + 1 < intersections.count ? intersections[position + 1].vertex : shape.count - 1
            guard end > intersection.vertex else { continue }
            let length = lengths.cumulative[end] - lengths.cumulative[intersection.vertex]
            if intersection.classes.contains("tunnel") { tunnel += length }
            if intersection.classes.contains("toll") { toll += length }
        }
        (self.tunnel, self.toll) = (tunnel, toll)
    }

    /// Metres from an end that was asked for within which a route may begin or end: ``RouteRequest/searchCutoff``, and what the
    /// engine's sphere and its roundings make of it.
    private static let endReach = 105.0
    /// The length as told and that of the shape differ by the engine's rounding alone: a share, and metres besides.
    private static let rounding = (share: 0.02, metres: 20.0)

    /// Whether this is a way between the two places at all: its ends are there, and it is as long as its shape. So it is never
    /// shorter than the straight line.
    func leads(from start: TrackSample, to end: TrackSample) -> Bool {
        guard let first = shape.first, let last = shape.last,
            EarthVector(first).distance(to: start.position) <= Self.endReach,
            EarthVector(last).distance(to: end.position) <= Self.endReach
        else { return false }
        return (metres - shapeMetres).magnitude <= Self.rounding.share * shapeMetres + Self.rounding.metres
    }

    /// Bytes that the value takes, about.
    package var bytes: Int { 16 * shape.count + 64 }

    /// The crossings of the route with the classes of the road behind each.
    private static func intersections(
        of route: JSONValue, vertices: Int
    ) -> [(vertex: Int, classes: Set<String>)] {
        let legs = route["legs"]?.arrayValue ?? []
        let steps = legs.flatMap { $0["steps"]?.arrayValue ?? [] }
        return steps.flatMap { $0["intersections"]?.arrayValue ?? [] }.compactMap { json in
            guard let vertex = json["geometry_index"]?.integerValue, (0..<Int64(vertices)).contains(vertex) else {
                return nil
            }
            return (Int(vertex), Set(json["classes"]?.arrayValue?.compactMap(\.stringValue) ?? []))
        }
    }
}
