package import Geodesy
internal import JSON
package import TrackAnalysis

/// Asks for the fastest way between two places.
package enum RouteRequest {
    /// Metres around an end within which roads are candidates.
    static let radius: Int64 = 15
    /// Metres from an end beyond which there is no road: without it the engine moves an end over many kilometres.
    static let searchCutoff: Int64 = 100

    /// `heading` is the course at the start in degrees, when it is known.
    package static func request(
        from start: Degrees, to end: Degrees, _ costing: RoadCosting, heading: Double? = nil
    ) -> RoadRequest {
        var json = JSONWriter(wholeDoubles: .withoutPoint)
        json.object {
            $0.array("locations") {
                write(start, heading, to: &$0)
                write(end, nil, to: &$0)
            }
            $0.member("costing", costing.rawValue)
            $0.member("units", "kilometers")
            // This form tells metres with three decimals, and where tunnels and tolls are.
            $0.member("format", "osrm")
            $0.member("shape_format", "polyline6")
        }
        return RoadRequest(method: .post, path: "/route", body: json.bytes)
    }

    private static func write(_ place: Degrees, _ heading: Double?, to json: inout JSONWriter) {
        json.object {
            $0.name("lat")
            $0.rounded(place.latitude, digits: 7)
            $0.name("lon")
            $0.rounded(place.longitude, digits: 7)
            $0.member("radius", radius)
            $0.member("search_cutoff", searchCutoff)
            if let heading {
                $0.member("heading", Int64(heading.rounded()) % 360)
            }
        }
    }
}

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

extension RouteAnswer {
    /// The corners of the route between two samples, with times as their lengths are.
    package func corners(from start: TrackSample, to end: TrackSample) -> [RoadVertex] {
        let lengths = PathLengths(shape.map { EarthVector($0) })
        guard let total = lengths.cumulative.last, total > 0 else { return [] }
        return lengths.between(0, total).map { metres, place in
            RoadVertex(place.degrees, share: metres / total, from: start, to: end)
        }
    }
}
