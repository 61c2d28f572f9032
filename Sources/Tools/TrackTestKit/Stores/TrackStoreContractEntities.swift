import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``EntityStore``
    package static var entities: [TrackStoreCheck] {
        entityChecks + deletions
    }

    private static var entityChecks: [TrackStoreCheck] {
        [
            TrackStoreCheck("an entity is made once and found by its name") { subject in
                let (store, service) = try await subject.withService()
                let entity = NewEntity(name: "truck", description: "the blue one")
                try await store.addEntity(entity, in: service, at: .at(5))
                let wanted = EntityRecord(
                    name: "truck", description: "the blue one", created: .at(5), modified: .at(5), latest: nil)
                try expect(try await store.entity(named: "truck", in: service), is: wanted, "the entity")
                try await expect(.entityExists) { try await store.addEntity(entity, in: service, at: .at(6)) }
                _ = try await store.openStream(.one, of: "truck", in: service, at: .at(7))
                try expect(try await store.entity(named: "truck", in: service), is: wanted, "the entity after")
                _ = try await store.openStream(.two, of: "van", in: service, at: .at(8))
                try expect(try await store.entity(named: "van", in: service)?.created, is: .at(8), "made at")
                try expect(try await store.entity(named: "Truck", in: service), is: nil, "another spelling")
            },
            TrackStoreCheck("services do not see each other's entities, streams and points") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                _ = try await store.upload([subject.batch(service, first: 1, TrackPoint.samples(0..<3))])
                try expect(try await store.entity(named: "truck", in: other), is: nil, "entity")
                try await expect(.unknownEntity) { try await store.history(in: other) }
                try expect(try await store.storedThrough(.one, in: other), is: 0, "stream")
                let outcome = try await store.upload([subject.batch(other, first: 1, TrackPoint.samples(5..<6))])
                try expect(outcome, is: [.stored(through: 1)], "the same stream in the other service")
                try expect(try await store.history(in: other).count, is: 1, "points of the other service")
                try expect(try await store.history(in: service).count, is: 3, "points of the service")
            },
            TrackStoreCheck("names that look alike but differ in their bytes are two entities") { subject in
                let (store, service) = try await subject.withService()
                let names = ["caf\u{E9}", "cafe\u{301}"]
                let batches = names.indices.map {
                    subject.custom(service, entity: names[$0], TrackPoint.samples(0..<Int64($0 + 1)))
                }
                _ = try await store.upload(batches)
                _ = try await store.upload(batches)
                try expect(try await store.counts().entities, is: 2, "entities")
                for index in names.indices {
                    let points = try await store.history(of: names[index], in: service)
                    try expect(points.count, is: index + 1, "points of name \(index)")
                }
            },
            TrackStoreCheck("a page is a stretch of the names in the order of their bytes") { subject in
                let (store, service) = try await subject.withService()
                let names = ["b", "Z", "a", "\u{FF5E}", "aa", "\u{1F69A}", "\u{E9}"]
                for name in names { try await store.haveEntity(named: name, in: service, at: .at(0)) }
                let sorted = ["Z", "a", "aa", "b", "\u{E9}", "\u{FF5E}", "\u{1F69A}"]
                for offset in -1...8 {
                    for limit in [-1, 0, 1, 3, 99] {
                        let page = try await store.entities(
                            in: service, matching: EntityFilter(), page: Page(offset: offset, limit: limit))
                        try expect(page.total, is: 7, "total")
                        let wanted = Array(sorted.dropFirst(max(0, offset)).prefix(max(0, limit)))
                        try expect(page.entities.map(\.name), is: wanted, "page \(offset), \(limit)")
                    }
                }
            },
            TrackStoreCheck("filters by name and by activity hold together") { subject in
                let (store, service) = try await subject.withService()
                for (name, time) in [("a", 10), ("b", 20), ("c", 30)] as [(String, Int64)] {
                    _ = try await store.upload([subject.custom(service, entity: name, [.sample(time)])])
                }
                try await store.haveEntity(named: "never", in: service, at: .at(0))
                let cases: [(EntityFilter, [String])] = [
                    (EntityFilter(names: ["c", "missing", "a", "a"]), ["a", "c"]),
                    (EntityFilter(names: []), []),
                    (EntityFilter(activeSince: .at(20)), ["b", "c"]),
                    (EntityFilter(inactiveSince: .at(20)), ["a", "never"]),
                    (EntityFilter(activeSince: .at(11), inactiveSince: .at(30)), ["b"]),
                    (EntityFilter(names: ["b", "never"], inactiveSince: .at(99)), ["b", "never"]),
                ]
                for (filter, names) in cases {
                    let page = try await store.entities(
                        in: service, matching: filter, page: Page(offset: 0, limit: 99))
                    try expect(page.entities.map(\.name), is: names, "names for \(filter)")
                    try expect(page.total, is: names.count, "total for \(filter)")
                }
            },
            TrackStoreCheck("a filter takes so many names and no more, each counted once") { subject in
                let (store, service) = try await subject.withService()
                try await store.haveEntity(named: "e7", in: service, at: .at(1))
                let names = (0..<EntityFilter.maximumNames).map { "e\($0)" }
                let page = Page(offset: 0, limit: 9)
                let most = try await store.entities(
                    in: service, matching: EntityFilter(names: names + names.prefix(100)), page: page)
                try expect(most.entities.map(\.name), is: ["e7"], "entities")
                try await expect(.tooManyNames) {
                    try await store.entities(
                        in: service, matching: EntityFilter(names: names + ["one more"]), page: page)
                }
            },
        ]
    }
}

extension TrackStoreContract {
    /// ``ColumnStore``
    package static var columns: [TrackStoreCheck] {
        [
            TrackStoreCheck("columns are a service's own, of two kinds, in the order of their keys") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                try expect(try await store.columns(of: .track, in: service), is: [], "columns of a new service")
                let fuel = ColumnRecord(key: "fuel", type: .double, description: "litres", created: .at(2))
                let door = ColumnRecord(key: "Door", type: .integer, created: .at(3))
                let team = ColumnRecord(key: "fuel", type: .string, isSearchable: true, created: .at(4))
                try await store.addColumn(fuel, of: .track, in: service)
                try await store.addColumn(door, of: .track, in: service)
                try await store.addColumn(team, of: .entity, in: service)
                try expect(try await store.columns(of: .track, in: service), is: [door, fuel], "track columns")
                try expect(try await store.columns(of: .entity, in: service), is: [team], "entity columns")
                try expect(try await store.columns(of: .track, in: other), is: [], "columns of the other service")
            },
            TrackStoreCheck("a column is made once and deleted once") { subject in
                let (store, service) = try await subject.withService()
                let fuel = ColumnRecord(key: "fuel", type: .double, created: .at(2))
                try await store.addColumn(fuel, of: .track, in: service)
                let again = ColumnRecord(key: "fuel", type: .string, created: .at(3))
                try await expect(.columnExists) { try await store.addColumn(again, of: .track, in: service) }
                try await expect(.unknownColumn) {
                    try await store.deleteColumn(named: "fuel", of: .entity, in: service)
                }
                try await store.deleteColumn(named: "fuel", of: .track, in: service)
                try expect(try await store.columns(of: .track, in: service), is: [], "columns")
                try await expect(.unknownColumn) {
                    try await store.deleteColumn(named: "fuel", of: .track, in: service)
                }
                try await store.addColumn(again, of: .track, in: service)
                try expect(try await store.columns(of: .track, in: service), is: [again], "columns")
            },
            TrackStoreCheck("a service has no more columns than it may have, and one that is missing has none") {
                subject in
                let (store, service) = try await subject.withService()
                for number in 0..<ColumnRecord.maximumCount {
                    try await store.addColumn(
                        ColumnRecord(key: "c\(number)", type: .integer, created: .at(1)), of: .track, in: service)
                }
                let more = ColumnRecord(key: "more", type: .integer, created: .at(1))
                try await expect(.tooManyColumns) { try await store.addColumn(more, of: .track, in: service) }
                try await store.addColumn(more, of: .entity, in: service)
                guard let missing = ServiceID(rawValue: service.rawValue + 1) else { return }
                try await expect(.unknownService) { try await store.addColumn(more, of: .track, in: missing) }
                try await expect(.unknownColumn) {
                    try await store.deleteColumn(named: "more", of: .track, in: missing)
                }
                try expect(try await store.columns(of: .track, in: missing), is: [], "columns of a missing service")
            },
            TrackStoreCheck("entities keep values of the service's columns, and no others") { subject in
                let (store, service) = try await subject.withService()
                for key in ["team", "plate"] {
                    try await store.addColumn(
                        ColumnRecord(key: key, type: .string, created: .at(1)), of: .entity, in: service)
                }
                try await store.addEntity(
                    NewEntity(name: "truck", values: ["team": "north", "colour": "red"]), in: service, at: .at(2))
                try await store.haveEntity(named: "van", in: service, at: .at(2))
                func values(_ name: String) async throws -> [String: String]? {
                    try await store.entity(named: name, in: service)?.values
                }
                try expect(try await values("truck"), is: ["team": "north"], "values")
                try expect(try await values("van"), is: [:], "values of an entity that a point made")
                let change = EntityChange(name: "truck", values: ["plate": "A 1", "team": "south", "x": "y"])
                try await store.updateEntity(change, in: service, at: .at(9))
                try expect(try await values("truck"), is: ["team": "south", "plate": "A 1"], "values after")
                let page = try await store.entities(
                    in: service, matching: EntityFilter(), page: Page(offset: 0, limit: 9))
                try expect(page.entities.map(\.values), is: [["team": "south", "plate": "A 1"], [:]], "in a page")
                try await store.deleteColumn(named: "team", of: .entity, in: service)
                try expect(try await values("truck"), is: ["plate": "A 1"], "values without the column")
                try await store.addColumn(
                    ColumnRecord(key: "team", type: .string, created: .at(10)), of: .entity, in: service)
                try expect(try await values("truck"), is: ["plate": "A 1"], "values of the new column")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("an entity changes where it is told to") { subject in
                let (store, service) = try await subject.withService()
                try await store.addEntity(NewEntity(name: "truck", description: "blue"), in: service, at: .at(5))
                try await store.updateEntity(EntityChange(name: "truck"), in: service, at: .at(6))
                var wanted = EntityRecord(
                    name: "truck", description: "blue", created: .at(5), modified: .at(6), latest: nil)
                try expect(try await store.entity(named: "truck", in: service), is: wanted, "the entity")
                try await store.updateEntity(
                    EntityChange(name: "truck", description: "red"), in: service, at: .at(7))
                (wanted.description, wanted.modified) = ("red", .at(7))
                try expect(try await store.entity(named: "truck", in: service), is: wanted, "the entity")
                try await expect(.unknownEntity) {
                    try await store.updateEntity(EntityChange(name: "van"), in: service, at: .at(8))
                }
                try expect(try await store.entity(named: "van", in: service), is: nil, "the entity that was not there")
            },
            TrackStoreCheck("a filter selects by the values of entity columns") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                for key in ["team", "plate"] {
                    for place in [service, other] {
                        try await store.addColumn(
                            ColumnRecord(key: key, type: .string, created: .at(1)), of: .entity, in: place)
                    }
                }
                let entities: [(String, [String: String])] = [
                    ("a", ["team": "north", "plate": "1"]), ("b", ["team": "north", "plate": "2"]), ("c", [:]),
                ]
                for (name, values) in entities {
                    try await store.addEntity(NewEntity(name: name, values: values), in: service, at: .at(2))
                }
                let cases: [(EntityFilter, [String])] = [
                    (EntityFilter(values: ["team": "north"]), ["a", "b"]),
                    (EntityFilter(values: ["team": "North"]), []),
                    (EntityFilter(values: ["team": "north", "plate": "2"]), ["b"]),
                    (EntityFilter(names: ["a", "c"], values: ["team": "north"]), ["a"]),
                    (EntityFilter(values: ["missing": "north"]), []),
                ]
                for (filter, names) in cases {
                    let page = try await store.entities(in: service, matching: filter, page: Page(offset: 0, limit: 9))
                    try expect(page.entities.map(\.name), is: names, "names for \(filter)")
                    try expect(page.total, is: names.count, "total for \(filter)")
                }
                let none = try await store.entities(
                    in: other, matching: EntityFilter(values: ["team": "north"]), page: Page(offset: 0, limit: 9))
                try expect(none.total, is: 0, "entities of the other service")
            },
        ]
    }
}
