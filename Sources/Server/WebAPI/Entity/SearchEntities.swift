import Geodesy
import Geofencing
import JSON
import TrackModel
import TrackStore

extension EntityEndpoints {
    /// What every search takes.
    private static let common = ["filter", "sortby", "coord_type_output", "page_index", "page_size"]

    static let searches = [search, boundSearch, aroundSearch, polygonSearch, districtSearch]

    /// `entity/search`
    static let search = Endpoint(
        "entity/search", .get, ["query"] + common, reading: { call, store in try await EntityQuery(call, store) },
        about: \.subject
    ) { (query, call, store: any EntitySearchStore & ColumnStore) in
        let keyword = call.parameters["query"] ?? ""
        try call.checkText(keyword, "query", maximumBytes: SearchLimits.mostKeywordBytes)
        return try await query.answer(call, store, keyword: keyword)
    }

    /// `entity/boundsearch`
    static let boundSearch = Endpoint(
        "entity/boundsearch", .get, ["bounds", "coord_type_input"] + common,
        reading: { call, store in try await EntityQuery(call, store) }, about: \.subject
    ) { (query, call, store: any EntitySearchStore & ColumnStore) in
        try await query.answer(call, store, area: .box(try call.searchBox()))
    }

    /// `entity/aroundsearch`
    static let aroundSearch = Endpoint(
        "entity/aroundsearch", .get, ["center", "radius", "coord_type_input"] + common,
        reading: { call, store in try await EntityQuery(call, store, mayHaveDistances: true) }, about: \.subject
    ) { (query, call, store: any EntitySearchStore & ColumnStore) in
        try await query.answer(call, store, area: try call.searchCircle())
    }

    /// `entity/polygonsearch`
    static let polygonSearch = Endpoint(
        "entity/polygonsearch", .get, ["vertexes", "coord_type_input"] + common,
        reading: { call, store in try await EntityQuery(call, store) }, about: \.subject
    ) { (query, call, store: any EntitySearchStore & ColumnStore) in
        try await query.answer(call, store, area: .shape(try call.searchPolygon()))
    }

    /// `entity/districtsearch`
    static let districtSearch = Endpoint(
        "entity/districtsearch", .get, ["keyword", "return_type"] + common,
        reading: { call, store in try await EntityQuery(call, store) }, about: \.subject
    ) { (query, call, store: any EntitySearchStore & ColumnStore & DistrictStore) in
        let isSimple = try call.wantsTotalAlone()
        let found = try await FenceShapes.district(try call.parameters.required("keyword"), call, store)
        guard case .found(let definition) = found else { return found.answer }
        let shape: Shape
        do throws(ShapeError) {
            shape = try definition.shape.shape()
        } catch {
            throw APIFailure(.parameter, "keyword: the outline of the district cannot be used: \(error)")
        }
        return try await query.answer(call, store, area: .shape(shape), totalAlone: isSimple)
    }
}

/// What every search of entities asks for.
struct EntityQuery: Sendable {
    private let filter: EntityFilter
    /// The service's entity columns.
    private let columns: Set<String>
    private let mayHaveDistances: Bool

    /// `mayHaveDistances`: `sortby` may name the distance from the centre.
    init(_ call: APICall, _ store: any ColumnStore, mayHaveDistances: Bool = false) async throws {
        let columns = try await store.columns(of: .entity, in: call.service)
        filter = try EntityFilter(
            parsing: call.parameters["filter"], searchable: Set(columns.filter(\.isSearchable).map(\.key)))
        (self.columns, self.mayHaveDistances) = (Set(columns.map(\.key)), mayHaveDistances)
    }

    var subject: CallSubject { filter.subject }

    func answer(
        _ call: APICall, _ store: any EntitySearchStore & ColumnStore, keyword: String = "", area: SearchArea? = nil,
        totalAlone: Bool = false
    ) async throws -> Answer {
        let order = try EntityOrder(
            parsing: call.parameters["sortby"], columns: columns, mayHaveDistances: mayHaveDistances)
        let list = try await EntityList(call, store)
        let found = try await store.search(
            EntitySearch(filter: filter, keyword: keyword, area: area, order: order), in: call.service,
            page: totalAlone ? Page(offset: 0, limit: 0) : list.page)
        return totalAlone ? list.answer(total: found.total) : list.answer(found)
    }
}

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

/// Places as `latitude,longitude` pairs joined by semicolons.
enum PlaceList {
    /// Throws when a pair is malformed or out of its ranges, or when there are more than `most`. `name`: the parameter.
    static func parse(_ text: String, _ name: String, most: Int) throws(APIFailure) -> [Degrees] {
        var places: [Degrees] = []
        for pair in TextParts.split(text, at: ";") where !TextParts.isBlank(pair) {
            guard places.count < most else {
                throw APIFailure(.parameter, "\(name) has at most \(most) pairs latitude,longitude")
            }
            let numbers = TextParts.split(pair, at: ",", keepsEmpty: true)
            guard numbers.count == 2, let latitude = Double(decimal: Parameters.trimmed(numbers[0])),
                let longitude = Double(decimal: Parameters.trimmed(numbers[1]))
            else {
                throw APIFailure(
                    .parameter, "\(name): pair \(places.count + 1) must be latitude,longitude, and a ; ends a pair")
            }
            guard (-90...90).contains(latitude) else {
                throw APIFailure(.parameter, "\(name): the latitude of pair \(places.count + 1) must be -90 to 90")
            }
            guard (-180...180).contains(longitude) else {
                throw APIFailure(.parameter, "\(name): the longitude of pair \(places.count + 1) must be -180 to 180")
            }
            places.append(Degrees(latitude: latitude, longitude: longitude))
        }
        return places
    }

    /// The same, rounded to 1e-7 degree.
    static func coordinates(_ text: String, _ name: String, most: Int) throws(APIFailure) -> [Coordinate] {
        try parse(text, name, most: most).compactMap { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }
    }
}
