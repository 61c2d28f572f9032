import TrackModel
import TrackStore

/// A store with entities at places, and what searches must find there.
struct SearchBench {
    let store: any TrackStore
    let service: ServiceID
    private(set) var places: [String: (Double, Double)] = [:]

    init(_ store: any TrackStore, _ service: ServiceID) {
        self.store = store
        self.service = service
    }

    /// Entities by names, at latitudes and longitudes in WGS 84.
    init(_ subject: TrackStoreSubject, _ places: [String: (Double, Double)]) async throws {
        (store, service) = try await subject.withService()
        self.places = places
        for (name, place) in places { try await store.put(name, place, in: service) }
    }

    func find(_ search: EntitySearch) async throws -> EntityFindings {
        try await store.search(search, in: service, page: Page(offset: 0, limit: 1000))
    }

    func mustFind(_ search: EntitySearch, _ names: [String], line: UInt = #line) async throws {
        let found = try await find(search)
        let what = "what was found at line \(line) by \(search)"
        try expect(found.entities.map(\.record.name), is: names, what)
        try expect(found.total, is: names.count, "the total of " + what)
    }

    func mustFind(_ area: SearchArea, _ names: [String], line: UInt = #line) async throws {
        try await mustFind(EntitySearch(area: area), names, line: line)
    }

    func mustFind(_ keyword: String, _ names: [String], line: UInt = #line) async throws {
        try await mustFind(EntitySearch(keyword: keyword), names, line: line)
    }
}

extension TrackStore {
    /// Stores a point of an entity, or tells it as a hint.
    func put(
        _ name: String, _ place: (Double, Double), type: CoordinateType = .wgs84, at seconds: Int64 = 0,
        isHint: Bool = false, in service: ServiceID
    ) async throws {
        let point = TrackPoint(
            Fix(time: .at(seconds), coordinate: try .at(place.0, place.1)), coordinateType: type)
        let outcomes = await ingest([
            IngestBatch(
                service: service, entity: name, position: nil, points: isHint ? [] : [point], sequences: [],
                payload: nil, received: .at(seconds), hint: isHint ? point : nil)
        ])
        try expect(outcomes.map(\.withoutVersion), is: [.stored(through: 0)], "storing a point")
    }
}

extension Coordinate {
    static func at(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
        try unwrapped(Coordinate(latitude: latitude, longitude: longitude), "a place")
    }
}

extension SearchBox {
    static func from(
        _ south: Double, _ west: Double, to north: Double, _ east: Double, _ type: CoordinateType = .wgs84
    ) throws -> SearchBox {
        SearchBox(from: try .at(south, west), to: try .at(north, east), type: type)
    }
}

func unwrapped<Value>(_ value: Value?, _ what: String) throws -> Value {
    guard let value else { throw ContractViolation(description: "there is not \(what)") }
    return value
}
