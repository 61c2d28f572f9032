package import Geodesy
internal import JSON

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
