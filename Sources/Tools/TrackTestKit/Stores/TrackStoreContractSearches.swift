import Geodesy
import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``EntitySearchStore``
    package static var searches: [TrackStoreCheck] {
        areaChecks + textChecks + orderChecks + searchHistories
    }

    private static var areaChecks: [TrackStoreCheck] {
        [
            TrackStoreCheck("a box has its edges, and only what is in it") { subject in
                let search = try await SearchBench(
                    subject,
                    [
                        "inside": (39.95, 116.45), "south west": (39.9, 116.4), "north east": (40, 116.5),
                        "south": (39.8999999, 116.45), "north": (40.0000001, 116.45), "west": (39.95, 116.3999999),
                        "east": (39.95, 116.5000001),
                    ])
                let box = SearchArea.box(try .from(39.9, 116.4, to: 40, 116.5))
                try await search.mustFind(box, ["inside", "north east", "south west"])
                let degenerate = SearchArea.box(try .from(39.9, 116.4, to: 39.9, 116.4))
                try await search.mustFind(degenerate, ["south west"])
                try await search.mustFind(
                    .box(try .from(40, 116.5, to: 39.9, 116.4)), ["inside", "north east", "south west"])
                try await search.mustFind(.box(try .from(-90, -180, to: 90, 180)), search.places.keys.sorted())
                try await search.mustFind(.box(try .from(10, 10, to: 11, 11)), [])
            },
            TrackStoreCheck("a box may lie across the antimeridian, whose two numbers are one") { subject in
                let search = try await SearchBench(
                    subject,
                    [
                        "east": (10, 179.9), "west": (10, -179.9), "plus": (10, 180), "minus": (10, -180),
                        "far": (10, 0),
                        "pole": (90, 12), "other pole": (-90, -12),
                    ])
                try await search.mustFind(
                    .box(try .from(9, 179, to: 11, -179)), ["east", "minus", "plus", "west"])
                try await search.mustFind(.box(try .from(9, 179.95, to: 11, 180)), ["minus", "plus"])
                try await search.mustFind(.box(try .from(9, -180, to: 11, -179.95)), ["minus", "plus"])
                try await search.mustFind(
                    .box(try .from(9, -180, to: 11, 180)), ["east", "far", "minus", "plus", "west"])
                try await search.mustFind(.box(try .from(90, -180, to: 90, 180)), ["pole"])
                try await search.mustFind(.box(try .from(-90, -180, to: -90, 180)), ["other pole"])
            },
            TrackStoreCheck("a box is judged in its own datum, and outside China in WGS 84") { subject in
                let (store, service) = try await subject.withService()
                for type in CoordinateType.allCases {
                    for (name, place) in [("beijing", (39.9, 116.4)), ("delft", (52, 4.3))] {
                        try await store.put("\(name) \(type)", place, type: type, in: service)
                    }
                }
                let search = SearchBench(store, service)
                for type in CoordinateType.allCases {
                    for (name, place) in [("beijing", (39.9, 116.4)), ("delft", (52, 4.3))] {
                        let record = try await store.entity(named: "\(name) \(type)", in: service)
                        let point = try unwrapped(record?.latest?.point, "a latest point")
                        for asked in CoordinateType.allCases {
                            let shown = KnownPlace(point).shown(as: asked)
                            // 4 mm around the place as a client sees it: nobody else is so near in any datum.
                            let corner = try unwrapped(
                                Coordinate(latitudeE7: shown.latitudeE7 + 1, longitudeE7: shown.longitudeE7), "a corner"
                            )
                            let box = SearchBox(from: shown, to: corner, type: asked)
                            let wanted =
                                name == "delft"
                                ? CoordinateType.allCases.map { "delft \($0)" }.sorted() : ["\(name) \(type)"]
                            try await search.mustFind(.box(box), wanted)
                        }
                        _ = place
                    }
                }
            },
            TrackStoreCheck("a search around a place goes to its radius, and knows the distances") { subject in
                let search = try await SearchBench(
                    subject,
                    [
                        "here": (52, 4), "near": (52.001, 4), "far": (52.01, 4), "farther": (52.02, 4.01),
                        "away": (53, 4),
                    ])
                let centre = try Coordinate.at(52, 4)
                let edge = SurfaceDistance.between(centre, try .at(52.01, 4))
                try await search.mustFind(.around(centre, radius: edge), ["far", "here", "near"])
                try await search.mustFind(.around(centre, radius: edge - 0.001), ["here", "near"])
                let found = try await search.find(
                    EntitySearch(area: .around(centre, radius: 5000), order: EntityOrder(.distance)))
                try expect(found.entities.map(\.record.name), is: ["here", "near", "far", "farther"], "by distance")
                try expect(found.entities.first?.distance, is: 0, "the distance of the centre")
                try expect(found.entities[2].distance, is: edge, "a distance")
                let back = try await search.find(
                    EntitySearch(
                        area: .around(centre, radius: 5000), order: EntityOrder(.distance, isDescending: true)))
                try expect(back.entities.map(\.record.name), is: ["farther", "far", "near", "here"], "backwards")
            },
            TrackStoreCheck("a search around a place reaches across the antimeridian and the pole") { subject in
                let search = try await SearchBench(
                    subject, ["east": (0, 179.999), "west": (0, -179.999), "pole": (90, 0), "by": (89.999, 170)])
                try await search.mustFind(.around(try .at(0, 180), radius: 500), ["east", "west"])
                try await search.mustFind(.around(try .at(0, -179.9999), radius: 500), ["east", "west"])
                try await search.mustFind(.around(try .at(89.999, -10), radius: 500), ["by", "pole"])
            },
            TrackStoreCheck("a polygon finds what is in it, also across the antimeridian; nothing is nowhere") {
                subject in
                let search = try await SearchBench(
                    subject,
                    ["in": (0.5, 0.5), "corner": (0, 0), "out": (0.9, 0.2), "east": (5, 179.9), "west": (5, -179.9)])
                func polygon(_ vertices: [(Double, Double)]) throws -> SearchArea {
                    let ring = vertices.map { Degrees(latitude: $0.0, longitude: $0.1) }
                    return .shape(try ShapeDraft(.polygon([[ring]])).shape())
                }
                try await search.mustFind(try polygon([(0, 0), (0, 1), (1, 1)]), ["corner", "in"])
                try await search.mustFind(
                    try polygon([(4, 179.5), (6, 179.5), (6, -179.5), (4, -179.5)]), ["east", "west"])
                try await search.mustFind(.shape(.nowhere), [])
            },
            TrackStoreCheck(
                "the latest position counts: the newest point, a hint before its track, nothing of the deleted"
            ) {
                subject in
                let (store, service) = try await subject.withService()
                let search = SearchBench(store, service)
                let (here, there) = (
                    SearchArea.box(try .from(1, 1, to: 2, 2)), SearchArea.box(try .from(5, 5, to: 6, 6))
                )
                try await store.put("van", (1.5, 1.5), at: 100, in: service)
                try await search.mustFind(here, ["van"])
                try await store.put("van", (5.5, 5.5), at: 50, in: service)
                try await search.mustFind(here, ["van"])
                try await search.mustFind(there, [])
                try await store.put("van", (5.5, 5.5), at: 100, in: service)
                try await search.mustFind(here, [])
                try await search.mustFind(there, ["van"])
                try await store.put("van", (1.5, 1.5), at: 200, isHint: true, in: service)
                try await search.mustFind(here, ["van"])
                try await search.mustFind(there, [])
                try await search.mustFind(.box(try .from(0, 0, to: 9, 9)), ["van"])
                try await store.put("van", (5.1, 5.1), at: 150, in: service)
                try await search.mustFind(here, ["van"])
                try await store.put("van", (5.2, 5.2), at: 250, in: service)
                try await search.mustFind(there, ["van"])
                try await search.mustFind(here, [])
                try await store.haveEntity(named: "never", in: service, at: .at(1))
                try await store.put("never", (1.5, 1.5), at: 10, isHint: true, in: service)
                try await search.mustFind(here, ["never"])
                for name in ["never", "van"] { try await store.deleteEntity(named: name, in: service, at: .at(300)) }
                try await search.mustFind(.box(try .from(-90, -180, to: 90, 180)), [])
            },
        ]
    }

    private static var textChecks: [TrackStoreCheck] {
        [
            TrackStoreCheck("a keyword is any part of a name or of a description, in capital or small letters") {
                subject in
                let (store, service) = try await subject.withService()
                let texts = [
                    ("Van_07", ""), ("caf\u{E9}", ""), ("tete\u{301}", ""), ("truck", "Vanessa%"),
                    ("van-071", "the BLUE one"), ("x", "über-groß _*\""), ("京A12345", "蓝色货车"),
                ]
                for (name, description) in texts {
                    try await store.addEntity(
                        NewEntity(name: name, description: description), in: service, at: .at(1))
                }
                let search = SearchBench(store, service)
                let cases: [(String, [String])] = [
                    ("van", ["Van_07", "truck", "van-071"]), ("VAN_0", ["Van_07"]), ("07", ["Van_07", "van-071"]),
                    ("7", ["Van_07", "van-071"]), ("blue ONE", ["van-071"]), ("货车", ["京A12345"]), ("货", ["京A12345"]),
                    ("京a1234", ["京A12345"]), ("色货车", ["京A12345"]), ("%", ["truck"]), ("_", ["Van_07", "x"]),
                    ("*\"", ["x"]),
                    ("ÜBER", ["x"]), ("\u{E9}", ["caf\u{E9}"]), ("E\u{301}", ["tete\u{301}"]), ("van_08", []),
                    ("07the", []), (String(repeating: "van", count: 200), []), (" ", ["van-071", "x"]),
                    ("", texts.map(\.0)),
                ]
                for (keyword, names) in cases { try await search.mustFind(keyword, names) }
            },
            TrackStoreCheck("a keyword finds what the texts are now, and only in its service") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(0)).id
                let search = SearchBench(store, service)
                try await store.put("van", (1, 1), in: service)
                try await store.put("van", (1, 1), in: other)
                _ = try await store.openStream(.one, of: "another van", in: service, at: .at(1))
                try await search.mustFind("van", ["another van", "van"])
                try await store.updateEntity(EntityChange(name: "van", description: "blue"), in: service, at: .at(2))
                try await search.mustFind("blue", ["van"])
                try await search.mustFind("van", ["another van", "van"])
                try await store.updateEntity(EntityChange(name: "van", description: "red"), in: service, at: .at(3))
                try await store.updateEntity(EntityChange(name: "van"), in: service, at: .at(4))
                try await search.mustFind("blue", [])
                try await search.mustFind("red", ["van"])
                try await store.deleteEntity(named: "van", in: service, at: .at(5))
                try await search.mustFind("red", [])
                try await search.mustFind("van", ["another van"])
                try await SearchBench(store, other).mustFind("van", ["van"])
                try await store.put("van", (1, 1), in: service)
                try await search.mustFind("red", [])
                try await search.mustFind("van", ["another van", "van"])
                let everywhere = SearchArea.box(try .from(-90, -180, to: 90, 180))
                try await search.mustFind(everywhere, ["van"])
                try await SearchBench(store, other).mustFind(everywhere, ["van"])
            },
        ]
    }

    private static var orderChecks: [TrackStoreCheck] {
        [
            TrackStoreCheck("filter, area and keyword hold together; the page is cut from the order") { subject in
                let (store, service) = try await subject.withService()
                for key in ["team", "depot"] {
                    let column = ColumnRecord(key: key, type: .string, isSearchable: true, created: .at(0))
                    try await store.addColumn(column, of: .entity, in: service)
                }
                let entities: [(String, String, [String: String], Int64?)] = [
                    ("a1", "z", ["team": "north"], 30), ("a2", "y", ["team": "south"], 10), ("a3", "", [:], 20),
                    ("b1", "y", ["team": "north", "depot": ""], 40), ("b2", "x", ["team": "east", "depot": "1"], nil),
                ]
                for (name, description, values, time) in entities {
                    try await store.addEntity(
                        NewEntity(name: name, description: description, values: values), in: service, at: .at(0))
                    if let time { try await store.put(name, (1, 1), at: time, in: service) }
                }
                let search = SearchBench(store, service)
                let everywhere = SearchArea.box(try .from(-90, -180, to: 90, 180))
                let orders: [(EntityOrder, [String])] = [
                    (EntityOrder(), ["a1", "a2", "a3", "b1", "b2"]),
                    (EntityOrder(.name, isDescending: true), ["b2", "b1", "a3", "a2", "a1"]),
                    (EntityOrder(.description), ["b2", "a2", "b1", "a1", "a3"]),
                    (EntityOrder(.description, isDescending: true), ["a1", "a2", "b1", "b2", "a3"]),
                    (EntityOrder(.time), ["a2", "a3", "a1", "b1", "b2"]),
                    (EntityOrder(.time, isDescending: true), ["b1", "a1", "a3", "a2", "b2"]),
                    (EntityOrder(.value("team")), ["b2", "a1", "b1", "a2", "a3"]),
                    (EntityOrder(.value("team"), isDescending: true), ["a2", "a1", "b1", "b2", "a3"]),
                    (EntityOrder(.value("depot")), ["b2", "a1", "a2", "a3", "b1"]),
                    (EntityOrder(.value("colour")), ["a1", "a2", "a3", "b1", "b2"]),
                    (EntityOrder(.distance), ["a1", "a2", "a3", "b1", "b2"]),
                ]
                for (order, names) in orders {
                    try await search.mustFind(EntitySearch(order: order), names)
                    try await search.mustFind(EntitySearch(area: everywhere, order: order), names.filter { $0 != "b2" })
                    try await search.mustFind(
                        EntitySearch(keyword: "A", order: order), names.filter { $0.hasPrefix("a") })
                    for offset in [-1, 0, 1, 4, 5, 9] {
                        for limit in [-1, 0, 1, 2, 99] {
                            for area in [nil, everywhere] {
                                let wanted = area == nil ? names : names.filter { $0 != "b2" }
                                let page = try await store.search(
                                    EntitySearch(area: area, order: order), in: service,
                                    page: Page(offset: offset, limit: limit))
                                try expect(page.total, is: wanted.count, "total")
                                let slice = Array(wanted.dropFirst(max(0, offset)).prefix(max(0, limit)))
                                try expect(
                                    page.entities.map(\.record.name), is: slice, "page \(offset), \(limit), \(order)")
                            }
                        }
                    }
                }
                let filters: [(EntityFilter, [String])] = [
                    (EntityFilter(names: ["a2", "b1", "b2", "none"]), ["a2", "b1", "b2"]),
                    (EntityFilter(activeSince: .at(20)), ["a1", "a3", "b1"]),
                    (EntityFilter(inactiveSince: .at(30)), ["a2", "a3", "b2"]),
                    (EntityFilter(values: ["team": "north"]), ["a1", "b1"]),
                    (EntityFilter(names: ["a1", "a2"], activeSince: .at(20), values: ["team": "north"]), ["a1"]),
                    (EntityFilter(values: ["colour": "red"]), []),
                ]
                for (filter, names) in filters {
                    try await search.mustFind(EntitySearch(filter: filter), names)
                    try await search.mustFind(
                        EntitySearch(filter: filter, area: everywhere), names.filter { $0 != "b2" })
                    try await search.mustFind(
                        EntitySearch(filter: filter, keyword: "a"), names.filter { $0.hasPrefix("a") })
                    try await search.mustFind(
                        EntitySearch(filter: filter, keyword: "1", area: everywhere), names.filter { $0.hasSuffix("1") }
                    )
                }
            },
            TrackStoreCheck("a search says what a list says of an entity") { subject in
                let (store, service) = try await subject.withService()
                try await store.addColumn(
                    ColumnRecord(key: "team", type: .string, created: .at(0)), of: .entity, in: service)
                try await store.addEntity(
                    NewEntity(name: "van", description: "blue", values: ["team": "north"]), in: service, at: .at(3))
                try await store.put("van", (1, 1), at: 9, in: service)
                let record = try await store.entity(named: "van", in: service)
                for search in [
                    EntitySearch(), EntitySearch(keyword: "blu"), EntitySearch(area: .around(try .at(1, 1), radius: 1)),
                ] {
                    let found = try await SearchBench(store, service).find(search)
                    try expect(found.entities.map(\.record), is: [record].compactMap(\.self), "the record")
                }
                try await expect(.tooManyNames) {
                    let names = (0...EntityFilter.maximumNames).map { "e\($0)" }
                    return try await store.search(
                        EntitySearch(filter: EntityFilter(names: names), keyword: "e"), in: service,
                        page: Page(offset: 0, limit: 1))
                }
            },
        ]
    }
}
