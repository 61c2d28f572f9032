import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit

/// Stores of earlier releases answer searches.
@Suite struct SearchMigrationTests {
    private func open(_ sql: String) async throws -> (store: SQLiteTrackStore, service: ServiceID, bench: Workbench) {
        let bench = try Workbench()
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script(sql)
        file.close()
        return (try await bench.open(), try #require(ServiceID(rawValue: 1)), bench)
    }

    private func names(_ store: SQLiteTrackStore, _ service: ServiceID, _ search: EntitySearch) async throws -> [String]
    {
        try await store.search(search, in: service, page: Page(offset: 0, limit: 99)).entities.map(\.record.name)
    }

    private func near(_ latitude: Double, _ longitude: Double) throws -> EntitySearch {
        let place = try #require(Coordinate(latitude: latitude, longitude: longitude))
        return EntitySearch(area: .around(place, radius: 5))
    }

    @Test func aStoreOfSchemaNineFindsWhatItHad() async throws {
        let (store, service, bench) = try await open(SchemaNineStore.sql)
        defer { withExtendedLifetime(bench) {} }
        #expect(try await store.checkIntegrity() == [])
        // A hint counts before the stored point.
        #expect(try await names(store, service, try near(39.95, 116.5)) == ["van_07"])
        #expect(try await names(store, service, try near(39.9, 116.4)) == [])
        #expect(try await names(store, service, try near(-17, -180)) == ["edge"])
        let same = try #require(Coordinate(latitude: 39.9, longitude: 116.4))
        for (type, name) in [(CoordinateType.bd09ll, "bd"), (.gcj02, "gcj")] {
            let place = KnownPlace(same, type).wgs84
            #expect(try await names(store, service, try near(place.latitude, place.longitude)) == [name])
            let box = SearchBox(from: same, to: same, type: type)
            #expect(try await names(store, service, EntitySearch(area: .box(box))) == [name])
        }
        for (keyword, found) in [
            ("AN_0", ["van_07"]), ("货车", ["van_07"]), ("e", ["edge", "never", "van_07"]), ("x", []),
        ] {
            #expect(try await names(store, service, EntitySearch(keyword: keyword)) == found, "\(keyword)")
        }
        // And goes on: the track reaches the hint, an entity goes, a text changes.
        _ = await store.ingest([
            upload([point(200_000_000)], to: service, entity: "van_07", received: .at(200_000_001))
        ])
        #expect(try await names(store, service, try near(39.95, 116.5)) == [])
        try await store.updateEntity(EntityChange(name: "van_07", description: "red"), in: service, at: .at(1))
        try await store.deleteEntity(named: "edge", in: service, at: .at(1))
        #expect(try await names(store, service, EntitySearch(keyword: "e")) == ["never", "van_07"])
        #expect(try await names(store, service, EntitySearch(keyword: "货")) == [])
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func aStoreOfSchemaFourFindsWhatItHad() async throws {
        let (store, service, bench) = try await open(SchemaFourStore.sql)
        defer { withExtendedLifetime(bench) {} }
        let delft = try near(52.001, 4.3)
        let wide = EntitySearch(area: .around(try #require(Coordinate(latitude: 52, longitude: 4.3)), radius: 5000))
        #expect(try await names(store, service, wide) == ["truck", "van"])
        #expect(try await names(store, service, delft) == [])
        #expect(try await names(store, service, EntitySearch(keyword: "BLUE")) == ["truck"])
        #expect(try await names(store, service, EntitySearch(keyword: "a")) == ["van"])
        #expect(try await store.checkIntegrity() == [])
    }

    /// The file says what is wrong with the columns and the index that searches use.
    @Test(arguments: [
        ("UPDATE state SET cell = cell + 1", "cell"), ("UPDATE state SET cell = NULL", "cell"),
        ("UPDATE hint SET service = 7", "service"), ("UPDATE state SET datum = 1 WHERE datum = 0", "datum"),
        ("UPDATE state SET datum = NULL", "datum"), ("UPDATE state SET datum = 9", "datum"),
        ("DELETE FROM entity_text_docsize WHERE id = 1", "index of names"),
        ("INSERT INTO entity_text (rowid, grams) VALUES (99, '1z61')", "index of names"),
        ("UPDATE state SET latitude = 5000000000000", "columns say"),
    ])
    func theIntegrityCheckSeesWhatASearchWouldMiss(change: String, word: String) async throws {
        let (store, _, bench) = try await open(SchemaNineStore.sql)
        try store.close()
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script(change)
        file.close()
        let damaged = try await bench.open()
        let problems = try await damaged.checkIntegrity()
        #expect(problems.contains { $0.contains(word) }, "\(problems)")
        // A damaged file is answered from, as far as it can be read.
        let south = try #require(Coordinate(latitudeE7: -900_000_000, longitudeE7: -1_800_000_000))
        let north = try #require(Coordinate(latitudeE7: 900_000_000, longitudeE7: 1_800_000_000))
        let everywhere = EntitySearch(area: .box(SearchBox(from: south, to: north, type: .bd09ll)))
        let service = try #require(ServiceID(rawValue: 1))
        _ = try await damaged.search(everywhere, in: service, page: Page(offset: 0, limit: 9))
        _ = try await damaged.search(EntitySearch(keyword: "a"), in: service, page: Page(offset: 0, limit: 9))
    }
}
