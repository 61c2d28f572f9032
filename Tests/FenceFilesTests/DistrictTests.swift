import Geodesy
import JSON
import Testing
import TrackFiles
import TrackModel

@testable import FenceFiles

@Suite struct DistrictTests {
    private static let table: [(String, Int?)] = [
        ("中国", nil), ("湖南省", 0), ("长沙市", 1), ("雨花区", 2), ("江苏省", 0), ("南京市", 4), ("镇江市", 4), ("雨花台区", 5), ("北京市", 0),
        ("北京市", 8),
        ("朝阳区", 9), ("辽宁省", 0), ("朝阳市", 11), ("朝阳县", 12), ("吉林省", 0), ("吉林市", 14), ("长春市", 14), ("朝阳区", 16),
        ("大连市", 11), ("西岗区", 18),
        ("新疆维吾尔自治区", 0), ("香港特别行政区", 0), ("广东省", 0), ("北区", 22), ("United States", nil), ("New York", 24),
        ("New York", 25),
    ]
    private let names = DistrictNames(table.map { DistrictNames.Entry(name: $0.0, parent: $0.1) })

    @Test(arguments: [
        ("湖南省长沙市雨花区", 3), ("雨花区", 3), ("长沙雨花", 3), ("湖南雨花区", 3), ("中国湖南省长沙市雨花区", 3), ("中国", 0), ("北京市", 8), ("北京", 8),
        ("江苏镇江", 6), ("江苏南京", 5), ("南京", 5), ("北京朝阳", 10), ("北京市朝阳区", 10), ("辽宁省朝阳市", 12), ("吉林市", 15), ("吉林省", 14),
        ("吉林省吉林市", 15),
        ("吉林吉林", 15), ("西岗区", 19), ("新疆", 20), ("新疆维吾尔自治区", 20), ("香港", 21), ("北区", 23), (" 湖南省 / 长沙市 ", 2),
        ("united states", 24), ("New York", 25),
        ("United States, New York", 25), ("New York, New York", 26), ("朝阳县", 13),
    ]) func aNameIsFound(keyword: String, number: Int) {
        #expect(names.resolve(keyword) == .found(number), "\(keyword)")
    }

    @Test func severalAreNamed() {
        #expect(names.resolve("朝阳区") == .ambiguous(["中国北京市北京市朝阳区", "中国吉林省长春市朝阳区"]))
        #expect(names.resolve("朝阳") == .ambiguous(["中国北京市北京市朝阳区", "中国辽宁省朝阳市", "中国辽宁省朝阳市朝阳县", "中国吉林省长春市朝阳区"]))
        #expect(names.resolve("吉林") == .ambiguous(["中国吉林省", "中国吉林省吉林市"]))
        #expect(names.resolve("吉林朝阳") == .found(17))
        #expect(names.fullName(of: 26) == "United States, New York, New York")
    }

    @Test(arguments: ["", " ", "北", "雨", "长沙市镇江", "雨花区长沙市", "江苏长沙", "区", String(repeating: "中", count: 200)])
    func whatIsNotThereIsUnknown(keyword: String) {
        #expect(names.resolve(keyword) == .unknown, "\(keyword)")
    }

    @Test func namesThatRepeatTakeBoundedTime() {
        // Every level has the same name, so that each of its repetitions may be any level.
        let deep = DistrictNames((0..<8).map { DistrictNames.Entry(name: "aa市", parent: $0 == 0 ? nil : $0 - 1) })
        #expect(deep.resolve(String(repeating: "aa", count: 8)) == .found(7))
        #expect(deep.resolve(String(repeating: "a", count: 511)) == .unknown)
        let circle = DistrictNames([.init(name: "a省", parent: 1), .init(name: "b市", parent: 0)])
        #expect(circle.resolve("a省b市") == .found(1))
    }

    // MARK: Import

    private func imported(_ rows: [(String, JSONValue, JSONValue)], id: String? = nil) throws -> DistrictImport.Result {
        var importer = DistrictImport(nameColumn: "NAME", parentColumn: "parent", idColumn: id)
        for (number, row) in rows.enumerated() {
            let geometry = FeatureGeometry([.polygon([[square(Double(number), 0)]])])
            importer.add(
                .feature(
                    FenceFeature(
                        number: number + 1, id: id == nil ? row.1.description : nil, geometry: geometry,
                        properties: ["name": .string(row.0), "parent": row.2, "code": row.1])))
        }
        return importer.finished()
    }

    @Test func parentsAreFoundByNameOrID() throws {
        let rows: [(String, JSONValue, JSONValue)] = [
            ("长沙市", 4301, "湖南省"), ("湖南省", 43, .null), ("雨花区", 430111, 4301), ("北京市", 11, 11), ("上海市", 31, "上海市"),
        ]
        for id in [nil, "code"] {
            let result = try imported(rows, id: id)
            #expect(result.refusals.isEmpty, "\(result.refusals)")
            #expect(result.districts.map(\.parent) == [1, nil, 0, nil, nil])
            #expect(result.names.fullName(of: 2) == "湖南省长沙市雨花区")
            #expect(result.districts[2].shape == ShapeDraft(.polygon([[square(2, 0)]])))
        }
    }

    @Test func whatCannotBeADistrictIsRefused() throws {
        let result = try imported([
            ("a", 1, "nobody"), ("b", 2, "c"), ("c", 3, "b"), ("d", 4, .null), ("d", 5, .null), ("e", 6, 1),
            ("f", 7, "d"), (" ", 8, .null), ("g", 9, 4),
        ])
        #expect(result.districts.map(\.name) == ["d", "g"])
        #expect(
            result.refusals.map(\.description) == [
                "feature 1 ('1'): no district is its parent 'nobody'",
                "feature 2 ('2'): its parents are in a circle, or more than 8 levels deep",
                "feature 3 ('3'): its parents are in a circle, or more than 8 levels deep",
                "feature 5 ('5'): feature 4 is a district of the same name and parent",
                "feature 6 ('6'): its parent, feature 1, is refused",
                "feature 7 ('7'): 2 districts may be its parent 'd': name it by its id",
                "feature 8 ('8'): it has no name in the column 'NAME'",
            ])
        var importer = DistrictImport(nameColumn: "name")
        let line = FeatureGeometry([.line(square(0, 0))])
        importer.add(.feature(FenceFeature(number: 1, geometry: line, properties: ["name": "x"])))
        let pole = FeatureGeometry([.polygon([[degrees([(-80, 0), (-80, 90), (-80, 180), (-80, -90)])]])])
        importer.add(.feature(FenceFeature(number: 2, geometry: pole, properties: ["name": "Antarctica"])))
        importer.add(.refused(RefusedFeature(number: 3, reason: "x")))
        let refused = importer.finished().refusals.map(\.reason)
        #expect(refused.count == 3)
        #expect(refused[0].contains("a district is made of polygons") && refused[1].contains("runs around a pole"))
    }

    @Test func severalFilesAreOneListWhoseOutermostDistrictsComeFirst() throws {
        var importer = DistrictImport(nameColumn: "name")
        func add(_ file: String, _ rows: [[String: JSONValue]]) {
            importer.begin(file: file, nameColumn: "name", parentColumn: "group", idColumn: "group")
            for (number, properties) in rows.enumerated() {
                let geometry = FeatureGeometry([.polygon([[square(Double(number), 0)]])])
                importer.add(.feature(FenceFeature(number: number + 1, geometry: geometry, properties: properties)))
            }
        }
        // All features of a country have the country's code, which is an id in the first file alone.
        add("0.geojson", [["name": "China", "group": "CHN"], ["name": "Chile", "group": "CHL"]])
        add("1.geojson", [["name": "Hunan", "group": "CHN"], ["name": "Jilin", "group": "CHN"]])
        // The nearest file before decides between the same names.
        add(
            "2.geojson",
            [
                ["name": "Jilin", "group": "Jilin"], ["name": "Hunan", "group": "nobody"],
                ["name": "Jilin", "group": "Jilin"],
            ])
        let result = importer.finished()
        #expect(result.districts.map(\.name) == ["China", "Chile", "Hunan", "Jilin", "Jilin"])
        #expect(result.districts.map(\.parent) == [nil, nil, 0, 0, 3])
        #expect(
            result.refusals.map(\.description) == [
                "2.geojson, feature 2 ('nobody'): no district is its parent 'nobody'",
                "2.geojson, feature 3 ('Jilin'): feature 1 is a district of the same name and parent",
            ])
    }

    @Test func aDistrictOfAnotherFileIsNamedWithItsFile() throws {
        var importer = DistrictImport(nameColumn: "name")
        for (file, parent) in [("a", JSONValue.string("nobody")), ("b", "x")] {
            importer.begin(file: file, nameColumn: "name", parentColumn: "in")
            let geometry = FeatureGeometry([.polygon([[square(0, 0)]])])
            let properties: [String: JSONValue] = ["name": file == "a" ? "x" : "y", "in": parent]
            importer.add(.feature(FenceFeature(number: 1, geometry: geometry, properties: properties)))
        }
        #expect(
            importer.finished().refusals.map(\.description) == [
                "a, feature 1: no district is its parent 'nobody'",
                "b, feature 1: its parent, feature 1 of a, is refused",
            ])
    }

    @Test func partsBecomeOneDistrict() throws {
        var importer = DistrictImport(nameColumn: "name")
        let text =
            #"{"type":"Feature","properties":{"name":"Fiji"},"geometry":{"type":"GeometryCollection","geometries":[{"type":"Polygon","coordinates":[[[179.95,-16.9],[-179.95,-16.9],[-179.95,-16.7],[179.95,-16.7],[179.95,-16.9]]]},{"type":"Polygon","coordinates":[[[178,-18],[178.1,-18],[178.1,-17.9],[178,-18]]]}]}}"#
        for outcome in try all(GeoJSONFeatures(source(text))) { importer.add(outcome) }
        let district = try #require(importer.finished().districts.first)
        let place = try #require(Coordinate(latitude: -16.8, longitude: 180))
        #expect(try district.shape.shape().contains(place))
    }
}
