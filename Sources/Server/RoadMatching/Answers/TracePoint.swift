package import Geodesy
internal import JSON

/// Where the engine puts one point.
package struct TracePoint: Hashable, Sendable {
    /// WGS 84.
    package let place: Degrees
    /// Of the answer's edges; checked.
    let edge: Int
    /// The share of the whole edge that lies before the place, 0 ... 1.
    let along: Double
    /// Metres from the point that was sent.
    package let distance: Double

    /// Nil for a point that is unmatched, or whose numbers cannot be true.
    ///
    /// The index of the edge may be missing, 2^64 - 1, or past the end (valhalla #3371, #3522).
    init?(_ json: JSONValue, edges: Int) {
        guard let type = json["type"]?.stringValue, type == "matched" || type == "interpolated",
            let edge = json["edge_index"]?.integerValue, edge >= 0, edge < edges,
            let latitude = json["lat"]?.doubleValue, (-90...90).contains(latitude),
            let longitude = json["lon"]?.doubleValue, (-180...180).contains(longitude),
            let along = json["distance_along_edge"]?.doubleValue, (-0.001...1.001).contains(along),
            let distance = json["distance_from_trace_point"]?.doubleValue, distance >= 0
        else { return nil }
        place = Degrees(latitude: latitude, longitude: longitude)
        self.edge = Int(edge)
        self.along = max(0, min(1, along))
        self.distance = distance
    }
}
