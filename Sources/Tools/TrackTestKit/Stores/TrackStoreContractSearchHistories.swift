import TrackModel
import TrackStore

extension TrackStoreContract {
    static var searchHistories: [TrackStoreCheck] {
        [
            TrackStoreCheck("searches of a random history find what a look at every entity finds") { subject in
                let seed = UInt64.random(in: 0 ... .max)
                do {
                    try await searchHistory(subject, seed)
                } catch let violation as ContractViolation {
                    throw ContractViolation(description: "\(violation.description) (seed \(seed))")
                }
            }
        ]
    }

    private static func searchHistory(_ subject: TrackStoreSubject, _ seed: UInt64) async throws {
        var numbers = SplitMix(state: seed)
        let (store, service) = try await subject.withService()
        let search = SearchBench(store, service)
        // Corners of the earth and of China, and the edges of the grid's cells.
        let middles: [(Double, Double)] = [
            (39.9, 116.4), (52, 4.3), (0, 180), (89.99, 10), (-89.99, -170), (22.53, 114.05), (0.0131072, 0.0131072),
        ]
        func place(_ spread: Double) -> (Double, Double) {
            let middle = middles[Int.random(in: 0..<middles.count, using: &numbers)]
            let latitude = middle.0 + Double.random(in: -spread...spread, using: &numbers)
            let longitude = middle.1 + Double.random(in: -spread...spread, using: &numbers)
            return (min(max(latitude, -90), 90), longitude > 180 ? longitude - 360 : longitude)
        }
        for step in 0..<300 {
            let name = "e\(Int.random(in: 0..<40, using: &numbers))"
            let isKnown = try await store.entity(named: name, in: service) != nil
            switch Int.random(in: 0..<12, using: &numbers) {
            case 0 where isKnown:
                try await store.deleteEntity(named: name, in: service, at: .at(Int64(step)))
            case 1 where isKnown:
                let change = EntityChange(name: name, description: "d\(Int.random(in: 0..<30, using: &numbers))")
                try await store.updateEntity(change, in: service, at: .at(Int64(step)))
            default:
                let type = CoordinateType.allCases.randomElement(using: &numbers) ?? .wgs84
                try await store.put(
                    name, place(0.03), type: type, at: Int64(step) + Int64.random(in: -20...20, using: &numbers),
                    isHint: isKnown && Bool.random(using: &numbers), in: service)
            }
            guard step % 5 == 0 else { continue }
            let all = try await store.entities(
                in: service, matching: EntityFilter(), page: Page(offset: 0, limit: 1000)
            ).entities
            let spreads: [Double] = [0.0005, 0.02, 1]
            let spread = spreads.randomElement(using: &numbers) ?? 1
            let one = place(spread)
            let other = place(spread)
            let type = CoordinateType.allCases.randomElement(using: &numbers) ?? .wgs84
            let areas: [SearchArea] = [
                .box(SearchBox(from: try .at(one.0, one.1), to: try .at(other.0, other.1), type: type)),
                .around(try .at(one.0, one.1), radius: Double.random(in: 1...5000, using: &numbers)),
            ]
            for area in areas {
                let wanted = all.filter { $0.latest.map { area.contains(KnownPlace($0.point)) } ?? false }
                try await search.mustFind(area, wanted.map(\.name))
            }
            let keyword = ["e1", "d2", "2", "E"].randomElement(using: &numbers) ?? ""
            let wanted = all.filter { ($0.name + "\n" + $0.description).contains(keyword.lowercased()) }
            try await search.mustFind(keyword, wanted.map(\.name))
        }
    }
}

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
