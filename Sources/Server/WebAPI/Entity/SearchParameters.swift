import Geodesy
import TrackModel
import TrackStore

/// Bounds of the published API, and of this server where the published API names none.
enum SearchLimits {
    /// A longer text is in no name and in no description.
    static let mostKeywordBytes = 128
    /// Metres.
    static let radii = 1.0...5000
    static let polygonVertices = 3...1000
    /// Square metres of the box around a polygon: 3000 km².
    static let mostPolygonBox = 3e9
}

// The areas of searches as the API's parameters give them.
extension APICall {
    /// The datum of the given geometry.
    private func searchType() throws(APIFailure) -> CoordinateType {
        guard let name = parameters["coord_type_input"] else { return .bd09ll }
        guard let type = CoordinateType(parsing: name) else {
            throw APIFailure(.parameter, "coord_type_input must be wgs84, gcj02 or bd09ll")
        }
        return type
    }

    /// Corners that came in another order are put right.
    func searchBox() throws(APIFailure) -> SearchBox {
        let corners = try places("bounds", exactly: 2, "two pairs latitude,longitude: lower left;upper right")
        return SearchBox(from: corners[0], to: corners[1], type: try searchType())
    }

    func searchCircle() throws(APIFailure) -> SearchArea {
        let centre = try places("center", exactly: 1, "one pair latitude,longitude")[0]
        guard let radius = try parameters.double("radius") else { throw APIFailure(.parameter, "radius is required") }
        guard SearchLimits.radii.contains(radius) else {
            throw APIFailure(.parameter, "radius must be 1 to 5000 metres")
        }
        return .around(KnownPlace(centre, try searchType()).wgs84, radius: radius)
    }

    /// A polygon without holes. One whose vertices are all the same place holds nothing.
    func searchPolygon() throws(APIFailure) -> Shape {
        let limits = SearchLimits.polygonVertices
        let vertices = try PlaceList.parse(
            try parameters.required("vertexes"), "vertexes", most: limits.upperBound)
        guard limits.contains(vertices.count) else {
            throw APIFailure(
                .parameter,
                "vertexes of a polygon are \(limits.lowerBound) to \(limits.upperBound) pairs, not \(vertices.count)")
        }
        let draft = ShapeDraft(.polygon([[vertices]]), datum: try searchType().datum)
        guard vertices.contains(where: { $0 != vertices[0] }) else { return .nowhere }
        let shape: Shape
        do throws(ShapeError) {
            shape = try draft.shape()
        } catch {
            throw APIFailure(.parameter, "vertexes: \(error)")
        }
        guard let box = shape.box(), Self.squareMetres(of: box) <= SearchLimits.mostPolygonBox else {
            throw APIFailure(.parameter, "vertexes: the box around the polygon must not be larger than 3000 km²")
        }
        return shape
    }

    /// `return_type` of a search in a district.
    func wantsTotalAlone() throws(APIFailure) -> Bool {
        switch parameters["return_type"].map({ Parameters.trimmed($0).lowercased() }) {
        case nil, "all", "entity": return false
        case "simple": return true
        default: throw APIFailure(.parameter, "return_type must be all, simple or entity")
        }
    }

    private func places(_ name: String, exactly count: Int, _ form: String) throws(APIFailure) -> [Coordinate] {
        let places = try PlaceList.coordinates(try parameters.required(name), name, most: count)
        guard places.count == count else { throw APIFailure(.parameter, "\(name) must be \(form)") }
        return places
    }

    /// Height by the width half way up.
    private static func squareMetres(of box: ShapeBox) -> Double {
        let (south, north) = (Double(box.southE7) / 1e7, Double(box.northE7) / 1e7)
        let width = Double(box.widthE7) / 1e7
        // A box that is wider than this is larger than any bound, except at a pole.
        guard width <= 90 else { return .infinity }
        func place(_ latitude: Double, _ longitude: Double) -> Degrees {
            Degrees(latitude: latitude, longitude: longitude)
        }
        let middle = (south + north) / 2
        return SurfaceDistance.between(place(south, 0), place(north, 0))
            * SurfaceDistance.between(place(middle, 0), place(middle, width))
    }
}
