import Geodesy
import Geofencing
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
