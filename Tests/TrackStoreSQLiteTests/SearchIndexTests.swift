import SQLDatabase
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import StoreRecords
@testable import TrackStoreSQLite

/// What the store remembers of its index of places must never hide an entity.
@Suite struct SearchIndexTests {
    private let bench: Workbench

    init() throws { bench = try Workbench() }

    private func point(_ seconds: Int64, _ latitude: Double, _ longitude: Double = 4) throws -> TrackPoint {
        TrackPoint(
            Fix(time: .at(seconds), coordinate: try #require(Coordinate(latitude: latitude, longitude: longitude))))
    }

    private func found(_ store: SQLiteTrackStore, _ service: ServiceID, _ latitude: Double) async throws -> [String] {
        let place = try #require(Coordinate(latitude: latitude, longitude: 4))
        return try await store.search(
            EntitySearch(area: .around(place, radius: 100)), in: service, page: Page(offset: 0, limit: 9)
        ).entities.map(\.record.name)
    }

    @Test func anotherProcessMayMoveAnEntityMeanwhile() async throws {
        let (one, other) = (try await bench.open(), try await bench.open())
        let service = try await one.createService(named: "fleet", at: .at(0)).id
        _ = await one.ingest([upload([try point(1, 52)], to: service)])
        _ = await other.ingest([upload([try point(2, 53)], to: service)])
        #expect(try await found(one, service, 53) == ["truck"])
        _ = await one.ingest([upload([try point(3, 52)], to: service)])
        #expect(try await found(one, service, 52) == ["truck"])
        #expect(try await found(other, service, 53) == [])
        #expect(try await one.checkIntegrity() == [])
    }

    @Test func afterARestartEntitiesStayAndMoveOn() async throws {
        let first = try await bench.open()
        let service = try await first.createService(named: "fleet", at: .at(0)).id
        for name in ["parked", "moving", "late"] {
            _ = await first.ingest([upload([try point(10, 52)], to: service, entity: name)])
        }
        try first.close()
        let store = try await bench.open()
        _ = await store.ingest([
            upload([try point(11, 52)], to: service, entity: "parked"),
            upload([try point(11, 53)], to: service, entity: "moving"),
            upload([try point(12, 54)], to: service, entity: "moving"),
            // Older than what is stored: it stays where it is.
            upload([try point(5, 53)], to: service, entity: "late"),
        ])
        #expect(try await found(store, service, 52) == ["late", "parked"])
        #expect(try await found(store, service, 53) == [])
        #expect(try await found(store, service, 54) == ["moving"])
        _ = await store.ingest([
            upload([try point(13, 53)], to: service, entity: "late"),
            upload([try point(6, 52)], to: service, entity: "moving"),
        ])
        #expect(try await found(store, service, 53) == ["late"])
        #expect(try await found(store, service, 54) == ["moving"])
        #expect(try await store.checkIntegrity() == [])
    }

    /// A transaction that is undone moves nothing, and what is remembered of cells neither.
    @Test func anUndoneTransactionIsForgotten() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        _ = await store.ingest([upload([try point(1, 52)], to: service)])
        // The second batch of the next call ends its transaction.
        try await store.database.write { database in
            try database.execute(
                """
                CREATE TRIGGER refuse AFTER INSERT ON chunk WHEN new.first_time = \(Timestamp.at(3).milliseconds)
                BEGIN SELECT RAISE(ABORT, 'no'); END
                """)
        }
        let outcomes = await store.ingest([
            upload([try point(2, 53)], to: service), upload([try point(3, 53)], to: service, entity: "other"),
        ])
        #expect(outcomes.allSatisfy { !$0.isKept })
        #expect(try await found(store, service, 52) == ["truck"])
        _ = await store.ingest([upload([try point(4, 53)], to: service)])
        #expect(try await found(store, service, 53) == ["truck"])
        #expect(try await found(store, service, 52) == [])
        #expect(try await store.checkIntegrity() == [])
    }

    /// A search by place asks the index of cells, one by text the index of texts: neither looks at every entity.
    @Test func searchesUseTheirIndexes() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let plan = try await store.database.read { database in
            try database.rows(
                "EXPLAIN QUERY PLAN SELECT entity FROM state INDEXED BY state_by_cell WHERE service = 1 AND cell BETWEEN 1 AND 2"
            ) { try $0[3] as String }
        }
        #expect(plan.contains { $0.contains("state_by_cell (service=? AND cell>? AND cell<?)") }, "\(plan)")
        #expect(
            EntityTexts.query(SearchText.folded("Van_1"), in: service) == "1z76z61z6e AND 1z61z6ez5f AND 1z6ez5fz31")
        #expect(EntityTexts.query(SearchText.folded("货车"), in: service) == "1z8d27z8f66")
        #expect(EntityTexts.query(SearchText.folded("7"), in: service) == "1z37")
    }

    /// Cells have the same numbers on every machine: the file keeps them.
    @Test(arguments: [
        (-90.0, -180.0, Int64(0)), (90, 180, Int64(13_732) << 15 | 27_465), (0, 0, Int64(6866) << 15 | 13_732),
    ])
    func cellsAreNumberedFromTheSouthWest(latitude: Double, longitude: Double, number: Int64) throws {
        #expect(PlaceCell.number(of: try #require(Coordinate(latitude: latitude, longitude: longitude))) == number)
    }

    /// What was read of the entities is not kept beyond a bound. Then they are read again, with the same answer.
    @Test func manyLongPointsAreFound() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        // Letters by chance: a text that repeats itself is stored in few bytes, and the bound is never met.
        var random = SplitMix(state: 1)
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        func text() -> String {
            String(
                decoding: (0..<AttributeValue.maximumStringBytes).map { _ in
                    letters[Int.random(in: 0..<64, using: &random)]
                }, as: UTF8.self)
        }
        let names = (10..<80).map { "truck \($0)" }
        for (number, name) in names.enumerated() {
            var long = try point(Int64(number), 52)
            for key in 0..<32 { long.attributes["key \(key)"] = .string(text()) }
            _ = await store.ingest([upload([long], to: service, entity: name)])
        }
        let place = try #require(Coordinate(latitude: 52, longitude: 4))
        for (offset, limit) in [(0, 9), (65, 9), (0, 1000)] {
            let found = try await store.search(
                EntitySearch(area: .around(place, radius: 100), order: EntityOrder(.name, isDescending: true)),
                in: service, page: Page(offset: offset, limit: limit))
            #expect(found.total == names.count)
            #expect(found.entities.map(\.record.name) == Array(names.reversed().dropFirst(offset).prefix(limit)))
            #expect(found.entities.allSatisfy { $0.record.latest?.point.attributes.count == 32 && $0.distance != nil })
        }
    }

    /// A place outside the area spares the row of its entity. But only if its numbers are those of the area's datum.
    @Test func placesInAnotherDatumAreConvertedFirst() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let here = try #require(Coordinate(latitude: 39.9, longitude: 116.4))
        for (seconds, type) in zip(Int64(1)..., CoordinateType.allCases) {
            let shown = KnownPlace(here, .wgs84).shown(as: type)
            let point = TrackPoint(Fix(time: .at(seconds), coordinate: shown), coordinateType: type)
            _ = await store.ingest([upload([point], to: service, entity: type.rawValue)])
            // The same numbers, which are elsewhere in WGS 84.
            let elsewhere = TrackPoint(Fix(time: .at(seconds), coordinate: shown))
            _ = await store.ingest([upload([elsewhere], to: service, entity: "numbers of " + type.rawValue)])
        }
        let found = try await store.search(
            EntitySearch(area: .around(here, radius: 5)), in: service, page: Page(offset: 0, limit: 9))
        #expect(found.entities.map(\.record.name) == ["bd09ll", "gcj02", "numbers of wgs84", "wgs84"])
    }
}
