import FenceJSON
import Geodesy
import Geofencing
import JSON
import Testing
import TrackFiles
import TrackModel

@testable import FenceFiles

@Suite struct GeoJSONTests {
    private func read(_ text: String, _ limits: FenceFileLimits = .init()) throws -> [FileFeature] {
        try all(GeoJSONFeatures(source(text), limits: limits))
    }

    private func collection(_ features: String...) -> String {
        #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
    }

    private func feature(_ geometry: String, _ rest: String = "") -> String {
        #"{"type":"Feature","geometry":\#(geometry)\#(rest)}"#
    }

    @Test func everyGeometryIsRead() throws {
        let shapes: [(String, [FeatureGeometry.Part])] = [
            (#"{"type":"Point","coordinates":[116.3,40,12.5]}"#, [.point(Degrees(latitude: 40, longitude: 116.3))]),
            (#"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#, degrees([(2, 1), (4, 3)]).map { .point($0) }),
            (#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#, [.line(degrees([(2, 1), (4, 3)]))]),
            (
                #"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[3,4],[5,6]],[[7,8],[9,10]]]}"#,
                [.line(degrees([(2, 1), (4, 3), (6, 5)])), .line(degrees([(8, 7), (10, 9)]))]
            ),
            (
                #"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]],[[5,1],[6,1],[6,2],[5,1]]]}"#,
                [.polygon([[degrees([(0, 0), (0, 9), (9, 9)]), degrees([(1, 5), (1, 6), (2, 6)])]])]
            ),
            (
                #"{"type":"MultiPolygon","coordinates":[[[[0,0],[9,0],[9,9],[0,0]]],[[[20,0],[29,0],[29,9]]]]}"#,
                [.polygon([[degrees([(0, 0), (0, 9), (9, 9)])], [degrees([(0, 20), (0, 29), (9, 29)])]])]
            ),
            (
                #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"Point","coordinates":[3,4]}]}"#,
                degrees([(2, 1), (4, 3)]).map { .point($0) }
            ),
        ]
        let text = collection(
            shapes.enumerated().map { feature($0.element.0, #","id":\#($0.offset)"#) }.joined(separator: ",\n"))
        let features = try read("\u{FEFF} " + text + "\n")
        #expect(features.compactMap(\.feature?.geometry.parts) == shapes.map(\.1))
        #expect(features.compactMap(\.feature?.id) == shapes.indices.map { "\($0)" })
        #expect(features.compactMap(\.feature?.number) == Array(1...shapes.count))
        // Alone, as a feature and as a geometry.
        for (shape, parts) in shapes {
            #expect(try read(feature(shape)).first?.feature?.geometry.parts == parts)
            #expect(try read(shape).first?.feature?.geometry.parts == parts)
        }
    }

    @Test func membersComeInAnyOrder() throws {
        let text = #"""
            {"features":[{"properties":{"a":[1,"}"]},"geometry":{"coordinates":[1,2],"type":"Point"},"id":"x","type":"Feature"}],
             "bbox":[1,2,3,4],"other":{"deep":[[["]"]]]},"name":"\"","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}},
             "type":"FeatureCollection"}
            """#
        let feature = try #require(try read(text).first?.feature)
        #expect(feature.id == "x")
        #expect(feature.properties == ["a": [1, "}"]])
        #expect(try read(#"{"type":"FeatureCollection","features":[],"crs":null}"#).isEmpty)
    }

    @Test(arguments: [
        (#"{"type":"Point","coordinates":[]}"#, "feature 2: its point is '[]', and [longitude, latitude] is needed"),
        (#"{"type":"LineString","coordinates":[[1,2],["a",2]]}"#, "feature 2: position 2 of its line is '[\"a\",2]'"),
        (#"{"type":"Polygon","coordinates":[[[1,2]],[3]]}"#, "feature 2: position 1 of hole 1 is '3'"),
        (
            #"{"type":"MultiPolygon","coordinates":[[[[1,2]]],[[[1,2],null]]]}"#,
            "position 2 of the outer ring of polygon 2"
        ),
        (#"{"type":"Polygon","coordinates":{}}"#, "feature 2: the list of rings is an object, and an array is needed"),
        (#"{"type":"Circle","coordinates":[1,2]}"#, "feature 2: its geometry is a 'Circle'"),
        (#"{"coordinates":[1,2]}"#, "feature 2: its geometry has no type"), ("null", "feature 2: it has no geometry"),
        (#"{"type":"Polygon"}"#, "feature 2: its Polygon has no coordinates"),
        (#"{"type":"MultiPoint","coordinates":[]}"#, "feature 2: its geometry is empty"),
        (#"{"type":"GeometryCollection"}"#, "feature 2: its GeometryCollection has no array"),
        (
            String(repeating: #"{"type":"GeometryCollection","geometries":["#, count: 6)
                + String(repeating: "]}", count: 6),
            "feature 2: its GeometryCollection is nested"
        ),
    ]) func aWrongGeometryRefusesItsFeatureOnly(geometry: String, reason: String) throws {
        let good = feature(#"{"type":"Point","coordinates":[1,2]}"#)
        let outcomes = try read(collection(good, feature(geometry), good))
        #expect(outcomes.count == 3)
        #expect(outcomes[1].reason.contains(reason), "\(outcomes[1].reason)")
        #expect(outcomes[0].feature != nil && outcomes[2].feature?.number == 3)
    }

    @Test(arguments: [
        ("[1]", "its type is"), (#"{"type":"Point","coordinates":[1,2]}"#, "its type is 'Point', not Feature"),
        ("3", "not a Feature"),
        (
            #"{"type":"Feature","properties":[],"geometry":{"type":"Point","coordinates":[1,2]}}"#,
            "its properties are an array"
        ),
    ]) func whatIsNoFeatureIsRefused(value: String, reason: String) throws {
        let reasons = try read(collection(value)).map(\.reason)
        #expect(reasons.count == 1)
        #expect(reasons[0].contains(value == "[1]" ? "it is an array" : reason), "\(reasons)")
    }

    @Test(arguments: [
        ("", "line 1: no JSON"), ("[]", "begins with '{'"), ("{", "a member's name in quotes"),
        ("{}", "it has no type"),
        (#"{"type":"FeatureCollection"}"#, "its features are missing"), (#"{"features":[]}"#, "its type is missing"),
        (#"{"type":"Feature","features":[]}"#, "its type is Feature, not FeatureCollection"),
        (#"{"type":"FeatureCollection","features":{}}"#, "features is no array"),
        (#"{"type":"FeatureCollection","features":[],"features":[]}"#, "stands twice"),
        (#"{"type":"FeatureCollection","features":[]} x"#, "something follows"),
        (#"{"type":"FeatureCollection","features":[1 2]}"#, "',' is expected"),
        (#"{"type":"FeatureCollection","features":[1,]}"#, "closes what was not opened"),
        (#"{"type":"FeatureCollection","features":[{]}"#, "']' closes what was not opened"),
        (#"{"type":"FeatureCollection","features":[{"a":"b"#, "it ends inside a text"),
        (#"{"type":"FeatureCollection","features":[{"a":"b""#, "it ends inside a value"),
        (
            #"{"type":"FeatureCollection","features":[],"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::3857"}}}"#,
            "its crs is 'urn:ogc:def:crs:EPSG::3857': only WGS 84 is read"
        ),
        (#"{"type":"FeatureCollection","crs":7,"features":[]}"#, "its crs is '7'"),
    ]) func aBrokenFileIsExplained(text: String, reason: String) {
        let found = problem { try read(text) }
        #expect(found.contains(reason), "\(found)")
    }

    /// Its brackets say where the feature ends, so the others are read.
    @Test func abrokenFeatureIsOneFeature() throws {
        let place = #""geometry":{"type":"Point","coordinates":[116,40,NaN]}"#
        let outcomes = try read(
            """
            {"type":"FeatureCollection","features":[
            {"type":"Feature","id":1,\(place)},
            {"type":"Feature","id":2,\(place),"properties":{"a":1e999}},
            {"type":"Feature","id":3,\(place),"properties":{"a" 1}},
            {"type":"Feature","id":4,"geometry":{"type":"Point","coordinates":[NaN,40]},"properties":{"kind":"x"}},
            {"type":"Feature","id":5,"geometry":null,"properties":{"kind":"y"}},
            {"type":"Feature","id":6,\(place)}]}
            """)
        #expect(outcomes.map { $0.feature?.id } == ["1", nil, nil, nil, nil, "6"])
        #expect(outcomes[1].reason.contains("from line 3: not valid JSON"), "\(outcomes[1].reason)")
        #expect(outcomes[2].reason.contains("from line 4: not valid JSON"), "\(outcomes[2].reason)")
        #expect(outcomes[3].reason.contains("[null,40]") && outcomes[4].reason.contains("it has no geometry"))
        // What the file says of them is known all the same.
        guard case .refused(let refused) = outcomes[4] else { return }
        #expect(refused.id == "5" && refused.properties == ["kind": "y"])
    }

    @Test func bombsAreRefusedCheaply() throws {
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        let found = problem { try read(collection(feature(#"{"type":"Polygon","coordinates":\#(deep)}"#))) }
        #expect(found.contains("feature 1") && found.contains("64 levels deep"), "\(found)")
        // A million vertices: too many values; and too many bytes, which are not kept.
        let million = "[" + String(repeating: "[1,2],", count: 999_999) + "[1,2]]"
        let line = feature(#"{"type":"LineString","coordinates":\#(million)}"#)
        let good = feature(#"{"type":"Point","coordinates":[1,2]}"#)
        let outcomes = try read(collection(line, good))
        #expect(
            outcomes.map(\.reason) == ["feature 1: it has more than 600000 values: give it fewer vertices", "taken"])
        var limits = FenceFileLimits()
        limits.featureBytes = 1 << 20
        let long = feature(
            #"{"type":"Point","coordinates":[1,2]}"#, #","id":"\#(String(repeating: "x", count: 1 << 20))""#)
        #expect(try read(collection(long, good), limits).map(\.reason).first?.contains("more than 1 MiB") == true)
        limits.features = 1
        let many = problem { try read(collection(good, good), limits) }
        #expect(many.contains("more than 1 features"), "\(many)")
    }

    @Test func everyTruncationEndsWithAnError() throws {
        let text = Array(
            collection(feature(#"{"type":"Point","coordinates":[1,2]}"#, #","properties":{"a":"\u00e9\n"}"#)).utf8)
        for count in text.indices {
            #expect(throws: FenceFileError.self, "\(count)") {
                try all(GeoJSONFeatures(ByteSource(bytes: Array(text[..<count]))))
            }
        }
    }

    // MARK: Out and in again

    private static let drafts: [ShapeDraft] = [
        ShapeDraft(.circle(centre: Degrees(latitude: 40.123456789012, longitude: -0.1), radius: 55.5), buffer: 0.25),
        ShapeDraft(.point(Degrees(latitude: -90, longitude: 180)), buffer: 10),
        ShapeDraft(.polygon([[square(40, 116), square(40.002, 116.002, 0.001)], [square(41, 116)]]), buffer: 30),
        ShapeDraft(.polygon([[square(40, 116) + [Degrees(latitude: 40, longitude: 116)]]])),
        ShapeDraft(.corridor(square(0.1, 179.98), offset: 20), buffer: 1),
        ShapeDraft(.circle(centre: Degrees(latitude: 40.0478, longitude: 116.3134), radius: 50), datum: .bd09),
        ShapeDraft(.polygon([[square(31.23, 121.47)]]), datum: .gcj02),
        ShapeDraft(.circle(centre: Degrees(latitude: 48.8584, longitude: 2.2945), radius: 100), datum: .bd09),
    ]

    static func definitions() throws -> [FenceDefinition] {
        var definitions = drafts.map(FenceDefinition.init)
        definitions[0].name = "depot \"1\" é"
        definitions[0].rule = [.enter, .stay]
        definitions[0].stay = StayAlarmRule(after: 60, every: 30)
        definitions[0].settle = 5
        definitions[0].isInitialTold = true
        definitions[0].through = false
        definitions[0].crossingGap = 0
        definitions[0].denoise = 50
        definitions[0].floor = "B2"
        definitions[0].altitude = AltitudeRange(lower: -105, upper: 1234)
        definitions[0].group = "corner"
        definitions[0].speedLimit = SpeedLimit(speed: 1389, duration: 10)
        definitions[0].watch = try FenceSubjects(["van_1", "van_2"])
        definitions[0].reactions = [
            try FenceReaction(on: .enter, parameters: #"{"message":{"content":"Gate 3"}}"#, isRemote: true),
            try FenceReaction(on: .overspeed, parameters: "{}"),
        ]
        definitions[0].isReported = true
        let window = try #require(WeeklyWindow(days: 0b100_0001, from: 3600, to: 86_400))
        definitions[0].validity = FenceValidity(
            from: Timestamp(milliseconds: -5), through: time(100), windows: [window], zone: .named("Asia/Shanghai"))
        definitions[1].validity = FenceValidity(zone: .offset(-3600))
        definitions[1].watch = .everyone
        definitions[1].rule = []
        definitions[1].altitude = AltitudeRange(lower: nil, upper: 5)
        definitions[1].stay = nil
        definitions[2].district = "湖南省长沙市雨花区"
        definitions[2].through = true
        return definitions
    }

    @Test func definitionsComeBackFromJSON() throws {
        for var definition in try Self.definitions() {
            definition.origin = try FenceOrigin(file: "f", layer: "l", feature: "1", attributes: #"{"a":1}"#)
            let text = definition.json.serialized()
            let again = try FenceDefinition(json: JSONReader.value(of: text))
            #expect(again == definition)
            #expect(again.json == definition.json)
        }
    }

    @Test func fencesComeBackFromGeoJSON() throws {
        let definitions = try Self.definitions()
        let fences = try definitions.enumerated().map { try fence(Int32($0.offset + 1), $0.element) }
        let text = FenceGeoJSON.collection(of: fences)
        var importer = FenceImport(ImportOptions(file: "f"), existing: [], at: time(1))
        var reader = GeoJSONFeatures(ByteSource(bytes: text))
        try importer.add(&reader)
        let plan = try importer.finished()
        #expect(plan.refusals.isEmpty, "\(plan.refusals)")
        #expect(plan.additions.map(\.origin?.feature) == (1...definitions.count).map { "\($0)" })
        for (added, definition) in zip(plan.additions, definitions) {
            var added = added
            added.origin = nil
            #expect(added == definition)
        }
        // What others see: closed rings, longitude first.
        let value = try JSONReader.value(of: text)
        let ring = value["features"]?.arrayValue?[6]["geometry"]?["coordinates"]?.arrayValue?.first?.arrayValue
        #expect(ring?.count == 5 && ring?.first == ring?.last)
        let longitude = ring?.first?.arrayValue?.first?.doubleValue ?? 0
        #expect((longitude - 121.4654509).magnitude < 1e-6)
        #expect(
            FenceGeoJSON.feature(fences[1])
                == Array(
                    ##"{"type":"Feature","id":2,"geometry":{"type":"Point","coordinates":[180,-90]},"properties":{"buffer":10,"created":0,"fence":{"altitude":{"upper":0.5},"rule":[],"validity":{"utc_offset":-3600},"watch":"#allentity"}}}"##
                        .utf8))
    }
}
