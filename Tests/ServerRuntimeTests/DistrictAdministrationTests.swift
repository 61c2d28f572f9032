import Foundation
import Geodesy
import ProgramTestKit
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import FenceFiles
@testable import ServerRuntime

@Suite struct DistrictAdministrationTests {
    private let directory: TemporaryDirectory
    private let store: any TrackStore = TestStore()
    private var administration: DistrictAdministration { DistrictAdministration(store: store) }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Squares in a file; properties as JSON members.
    private func file(_ name: String, _ properties: String...) throws -> String {
        let features = properties.enumerated().map { place, members in
            let west = Double(place)
            let ring = "[[\(west),0],[\(west + 0.5),0],[\(west + 0.5),0.5],[\(west),0.5],[\(west),0]]"
            let geometry = #"{"type":"Polygon","coordinates":[\#(ring)]}"#
            return #"{"type":"Feature","properties":{\#(members)},"geometry":\#(geometry)}"#
        }
        return try file(
            name, text: #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#)
    }

    private func file(_ name: String, text: String) throws -> String {
        let path = "\(directory.path)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func countries() throws -> [String] {
        [
            try file("world.geojson", #""shapeName":"中国","group":"CHN""#, #""shapeName":"Chile","group":"CHL""#),
            try file("provinces.geojson", #""shapeName":"湖南省","group":"CHN""#, #""shapeName":"吉林省","group":"CHN""#),
        ]
    }

    private let usual = DistrictProperties(name: ["shapeName"], parent: ["group"], id: ["group"])

    @Test func filesBecomeOneSourceAndTakeThePlaceOfTheOld() async throws {
        let files = try countries()
        let first = try await administration.importFiles(files, usual, source: nil, isTrial: false)
        #expect((first.source, first.imported, first.replaced) == ("world", 4, 0))
        #expect(first.refusals.isEmpty)
        let all = try await administration.list(source: nil, keyword: nil)
        #expect(all.map(\.fullName) == ["中国", "Chile", "中国湖南省", "中国吉林省"])
        let found = try await administration.list(source: nil, keyword: "湖南")
        #expect(found == [all[2]])
        let shape = try #require(try await store.districtShape(found[0].id)).shape()
        #expect(shape.contains(try #require(Coordinate(latitude: 0.25, longitude: 0.25))))
        let other = try file("other.geojson", #""name":"湖南省""#)
        let second = try await administration.importFiles(
            [other], DistrictProperties(name: ["name"]), source: "mine", isTrial: false)
        #expect(second.replaced == 0)
        #expect(try await administration.list(source: nil, keyword: "湖南省").count == 2)
        #expect(try await administration.list(source: "mine", keyword: "湖南省").map(\.source) == ["mine"])
        let again = try await administration.importFiles([files[0]], usual, source: "world", isTrial: false)
        #expect((again.imported, again.replaced) == (2, 4))
        let left = try await administration.list(source: nil, keyword: nil).map(\.fullName).sorted()
        #expect(left == ["Chile", "中国", "湖南省"])
        #expect(try await administration.remove("world") == 2)
        #expect(try await administration.list(source: nil, keyword: nil).map(\.source) == ["mine"])
    }

    @Test func aTrialStoresNothing() async throws {
        _ = try await administration.importFiles([try countries()[0]], usual, source: "x", isTrial: false)
        let trial = try await administration.importFiles(try countries(), usual, source: "x", isTrial: true)
        #expect((trial.imported, trial.replaced) == (4, 2))
        #expect(try await administration.list(source: nil, keyword: nil).count == 2)
    }

    @Test func featuresThatAreNoDistrictsAreNamedAndTheOthersImported() async throws {
        let path = try file(
            "a.geojson", #""name":"A""#, #""name":null"#, #""name":"B","in":"nobody""#, #""name":"C","in":"A""#)
        let outcome = try await administration.importFiles(
            [path], DistrictProperties(name: ["name"], parent: ["in"]), source: nil, isTrial: false)
        #expect(outcome.imported == 2)
        #expect(
            outcome.refusals == [
                "\(path), feature 2: it has no name in the column 'name'",
                "\(path), feature 3: no district is its parent 'nobody'",
            ])
        #expect(try await administration.list(source: nil, keyword: nil).map(\.fullName) == ["A", "A, C"])
    }

    @Test func whatCannotBeReadChangesNothing() async throws {
        let good = try file("good.geojson", #""name":"A""#)
        _ = try await administration.importFiles(
            [good], DistrictProperties(name: ["name"]), source: "s", isTrial: false)
        let wrong: [([String], DistrictProperties, String?, ServerError.Code, String)] = [
            (["/nowhere.geojson"], .init(name: ["name"]), nil, .file, "/nowhere.geojson: cannot be read"),
            ([directory.path], .init(name: ["name"]), nil, .file, "cannot be read"),
            ([good, try file("e.json", text: "")], .init(name: ["name"]), nil, .file, "e.json: it is empty"),
            ([try file("x.shp", text: "\u{0}\u{0}'")], .init(name: ["name"]), nil, .file, "neither GeoJSON"),
            ([try file("cut.json", text: #"{"features":["#)], .init(name: ["name"]), nil, .file, "cut.json"),
            (
                [good], .init(name: ["nmae"]), nil, .file,
                "good.geojson: no feature has the property 'nmae' of --name-property; they have name; nothing is changed"
            ),
            ([good], .init(name: ["name"], parent: ["in"]), nil, .file, "'in' of --parent-property"),
            (
                [try file("n.geojson", #""name":null"#)], .init(name: ["name"]), nil, .file,
                "feature 1: it has no name in the column 'name'; nothing is changed"
            ),
            (
                [try file("f.geojson", text: #"{"type":"FeatureCollection","features":[]}"#)],
                .init(name: ["name"]), nil, .file, "no feature of"
            ),
            (
                [good, good, good], .init(name: ["a", "b"]), nil, .usage, "--name-property is given 2 times for 3 files"
            ),
            ([], .init(name: ["name"]), "x", .usage, "name one GeoJSON or GeoPackage file"),
            ([good], .init(name: ["name"]), "", .usage, "1 to 128"),
            ([good], .init(name: ["name"]), "a\nb", .usage, "control"),
        ]
        for (files, properties, source, code, words) in wrong {
            do {
                let outcome = try await administration.importFiles(
                    files, properties, source: source ?? "s", isTrial: false)
                Issue.record("\(files) is taken: \(outcome)")
            } catch {
                #expect(error.code == code && error.detail.contains(words), "\(error.code) \(error.detail)")
            }
        }
        let kept = try await administration.list(source: nil, keyword: nil)
        #expect(kept.map(\.fullName) == ["A"] && kept.map(\.source) == ["s"])
    }

    @Test func eachFileMayHaveItsOwnProperties() async throws {
        let files = [
            try file("0.geojson", #""NAME_0":"Chile","GID_0":"CHL""#),
            try file("1.geojson", #""NAME_1":"Maule","GID_1":"CHL.9","GID_0":"CHL""#),
            try file("2.geojson", #""NAME_2":"Talca","GID_2":"CHL.9.3","GID_1":"CHL.9""#),
        ]
        let properties = DistrictProperties(
            name: ["NAME_0", "NAME_1", "NAME_2"], parent: ["GID_0", "GID_0", "GID_1"], id: ["GID_0", "GID_1", "GID_2"])
        _ = try await administration.importFiles(files, properties, source: nil, isTrial: false)
        #expect(
            try await administration.list(source: nil, keyword: nil).map(\.fullName)
                == ["Chile", "Chile, Maule", "Chile, Maule, Talca"])
    }

    @Test func tooManyVerticesAreRefusedOverAllFiles() throws {
        let path = try file("a.geojson", #""name":"A""#)
        var limits = FenceFileLimits()
        limits.vertices = 7
        let properties = DistrictProperties(name: ["name"])
        #expect(try DistrictFiles.read([path], properties, limits: limits).districts.count == 1)
        #expect(throws: ServerError(.file, "")) { try DistrictFiles.read([path, path], properties, limits: limits) }
    }

    @Test func whatIsNotThereIsSaid() async throws {
        await #expect(throws: ServerError(.notFound, "")) { try await administration.remove("x") }
        await #expect(throws: ServerError(.notFound, "")) { try await administration.list(source: nil, keyword: "x") }
        #expect(try await administration.list(source: nil, keyword: nil).isEmpty)
    }

    // MARK: GeoPackages

    private func square(_ west: Double) -> String {
        let east = west + 0.5
        return SampleGeoPackage.polygon([(0, west), (0, east), (0.5, east), (0.5, west), (0, west)])
    }

    @Test func layersOfAGeoPackageAreImported() async throws {
        let path = directory.file("land.gpkg")
        try SampleGeoPackage.write(
            path, SampleGeoPackage.tables, SampleGeoPackage.layer("countries"), SampleGeoPackage.layer("provinces"),
            """
            ALTER TABLE provinces ADD COLUMN land TEXT;
            INSERT INTO countries VALUES (1, \(square(0)), 'Chile', 0);
            INSERT INTO provinces VALUES (1, \(square(0)), 'Maule', 1, 'Chile'), (2, \(square(1)), 'Lake', 2, 'Chile');
            """)
        var properties = DistrictProperties(
            name: ["name"], parent: ["name", "land"], layer: ["countries", "provinces"], condition: ["", "size < 2"])
        let outcome = try await administration.importFiles([path, path], properties, source: nil, isTrial: false)
        #expect((outcome.source, outcome.imported, outcome.refusals) == ("land", 2, []))
        #expect(
            try await administration.list(source: nil, keyword: nil).map(\.fullName) == ["Chile", "Chile, Maule"])
        // A text file has no layer; an empty text says so.
        properties.layer = ["countries", ""]
        properties.condition = []
        let text = try file("more.geojson", #""name":"Talca","land":"Chile""#)
        #expect(
            try await administration.importFiles([path, text], properties, source: "b", isTrial: true).imported == 2)
    }

    @Test func whatIsWrongWithAGeoPackageIsSaid() async throws {
        let path = directory.file("land.gpkg")
        try SampleGeoPackage.write(
            path, SampleGeoPackage.tables, SampleGeoPackage.layer("a"), SampleGeoPackage.layer("b"),
            "INSERT INTO a VALUES (1, \(square(0)), 'A', 1)")
        let text = try file("a.geojson", #""name":"A""#)
        let wrong: [(String, DistrictProperties, ServerError.Code, String)] = [
            (path, .init(name: ["name"]), .file, "choose one with --layer: a, b"),
            (path, .init(name: ["name"], layer: ["c"]), .file, "no layer 'c'"),
            (text, .init(name: ["name"], layer: ["a"]), .file, "leave out --layer"),
            (path, .init(name: ["name"], layer: ["a", "b"]), .usage, "--layer is given 2 times for 1 files"),
            (path, .init(name: ["name"], layer: ["a"], condition: ["size <"]), .usage, "--where"),
            (path, .init(name: ["name"], layer: ["a"], condition: ["height < 3"]), .file, "'height' of --where"),
            (path, .init(name: ["name"], layer: ["a"], condition: ["size > 3"]), .file, "can be a district"),
        ]
        for (path, properties, code, words) in wrong {
            do {
                let outcome = try await administration.importFiles([path], properties, source: "s", isTrial: false)
                Issue.record("\(properties) is taken: \(outcome)")
            } catch {
                #expect(error.code == code && error.detail.contains(words), "\(error.code) \(error.detail)")
            }
        }
        #expect(try await administration.list(source: nil, keyword: nil).isEmpty)
    }
}
