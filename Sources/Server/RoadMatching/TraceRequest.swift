internal import Geodesy
internal import JSON
package import TrackAnalysis

/// Asks which roads the samples of a chunk lie on.
package enum TraceRequest {
    /// What is read of the answer: the engine sends nothing else.
    private static let attributes = [
        "shape", "edge.way_id", "edge.names", "edge.length", "edge.speed_limit", "edge.road_class", "edge.use",
        "edge.tunnel", "edge.toll", "edge.begin_shape_index", "edge.end_shape_index", "edge.source_percent_along",
        "edge.target_percent_along", "matched.point", "matched.type", "matched.edge_index",
        "matched.distance_along_edge", "matched.distance_from_trace_point",
    ]

    /// The engine refuses a larger accuracy.
    static let largestAccuracy = 100.0

    package static func request(for samples: [TrackSample], _ costing: RoadCosting) -> RoadRequest {
        var json = JSONWriter(wholeDoubles: .withoutPoint)
        json.reserve(80 * samples.count + 800)
        json.object {
            $0.array("shape") { for sample in samples { write(sample, to: &$0) } }
            $0.member("costing", costing.rawValue)
            // The default first tries to walk the points edge by edge, which fixes of a receiver never allow.
            $0.member("shape_match", "map_snap")
            $0.member("units", "kilometers")
            $0.object("filters") {
                $0.member("action", "include")
                $0.array("attributes") { for attribute in attributes { $0.string(attribute) } }
            }
        }
        return RoadRequest(method: .post, path: "/trace_attributes", body: json.bytes)
    }

    private static func write(_ sample: TrackSample, to json: inout JSONWriter) {
        json.object {
            $0.name("lat")
            $0.decimal(Int64(sample.latitudeE7), digits: 7)
            $0.name("lon")
            $0.decimal(Int64(sample.longitudeE7), digits: 7)
            // The time narrows the search, so every point has one.
            $0.name("time")
            $0.decimal(sample.time, digits: 3)
            if let radius = sample.radius, radius > 0 {
                $0.name("accuracy")
                $0.rounded(min(radius, largestAccuracy), digits: 1)
            }
        }
    }
}
