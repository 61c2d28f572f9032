import ProgramTestKit
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite

/// Searches for one to three characters, of which the index of texts alone counts the matches.
@Suite struct ShortTextTests {
    private static let now = Timestamp(seconds: 1_772_677_900)

    /// 1,300 entities: some share a text, most do not, and one text is in the descriptions alone.
    private func filled(_ store: SQLiteTrackStore) async throws -> (service: ServiceID, texts: [(String, String)]) {
        let service = try await store.createService(named: "fleet", at: Self.now).id
        let other = try await store.createService(named: "another", at: Self.now).id
        try await store.addEntity(NewEntity(name: "van_0001", description: "京A"), in: other, at: Self.now)
        var texts: [(String, String)] = []
        for number in 0..<1300 {
            // Not in the order of their names.
            let digits = String(10_000 + number * 7919 % 10_000).dropFirst()
            let text = ("\(number % 3 == 0 ? "BUS" : "van")_\(digits)", number % 50 == 0 ? "京A\(number)" : "")
            texts.append(text)
            try await store.addEntity(NewEntity(name: text.0, description: text.1), in: service, at: Self.now)
        }
        return (service, texts)
    }

    @Test func everyPageIsThatOfAllNames() async throws {
        let directory = try TemporaryDirectory()
        let store = try await SQLiteTrackStore(
            path: directory.file("tracks.sqlite"), options: SQLiteTrackStoreOptions(synchronous: .normal))
        let (service, texts) = try await filled(store)
        let pages = [(0, 10), (0, 1000), (3, 4), (90, 20), (1290, 100), (5000, 10), (0, 0)]
        // Of most names, of many, of few at the beginning or the end of the names, of one, of none.
        for keyword in ["v", "AN", "s_", "_", "1", "12", "999", "us", "京", "京a", "a10", "000", "é", "va ", "zzz"] {
            let wanted = texts.filter { name, description in
                "\(name)\n\(description)".lowercased().contains(keyword.lowercased())
            }.map(\.0).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            for isDescending in [false, true] {
                let order = isDescending ? wanted.reversed() : wanted
                for (offset, limit) in pages {
                    let found = try await store.search(
                        EntitySearch(keyword: keyword, order: EntityOrder(.name, isDescending: isDescending)),
                        in: service, page: Page(offset: offset, limit: limit))
                    #expect(found.total == wanted.count, "\(keyword)")
                    #expect(
                        found.entities.map(\.record.name) == Array(order.dropFirst(offset).prefix(limit)),
                        "\(keyword) \(offset) \(limit) \(isDescending)")
                }
            }
        }
        try store.close()
    }

    /// What is deleted, and a description that is replaced, is not counted any more.
    @Test func whatIsGoneIsNotCounted() async throws {
        let directory = try TemporaryDirectory()
        let store = try await SQLiteTrackStore(
            path: directory.file("tracks.sqlite"), options: SQLiteTrackStoreOptions(synchronous: .normal))
        let service = try await store.createService(named: "fleet", at: Self.now).id
        for name in ["a1", "a2", "a3"] {
            try await store.addEntity(NewEntity(name: name, description: "old"), in: service, at: Self.now)
        }
        func names(_ keyword: String) async throws -> [String] {
            let found = try await store.search(
                EntitySearch(keyword: keyword), in: service, page: Page(offset: 0, limit: 9))
            #expect(found.total == found.entities.count)
            return found.entities.map(\.record.name)
        }
        try await store.deleteEntity(named: "a2", in: service, at: Self.now)
        try await store.updateEntity(EntityChange(name: "a3", description: "new"), in: service, at: Self.now)
        #expect(try await names("a") == ["a1", "a3"])
        #expect(try await names("old") == ["a1"])
        #expect(try await names("new") == ["a3"])
        try store.close()
    }
}
