import Geodesy
import Geofencing
import JSON
import ProgramTestKit
import Testing
import TrackModel

@testable import FenceFiles

/// Writes well-known binary, to be read.
private struct WKB {
    var bytes: [UInt8] = []
    let isLittle: Bool

    init(little: Bool) { isLittle = little }

    mutating func number(_ value: UInt32) { append(UInt64(value), 4) }
    mutating func double(_ value: Double) { append(value.bitPattern, 8) }

    mutating func header(_ kind: UInt32) {
        bytes.append(isLittle ? 1 : 0)
        number(kind)
    }

    mutating func line(_ places: [Degrees], _ rest: [Double] = []) {
        number(UInt32(places.count))
        for place in places { position(place, rest) }
    }

    mutating func position(_ place: Degrees, _ rest: [Double] = []) {
        double(place.longitude)
        double(place.latitude)
        for value in rest { double(value) }
    }

    private mutating func append(_ bits: UInt64, _ count: Int) {
        let big = (0..<count).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * (count - 1 - $0))) }
        bytes += isLittle ? big.reversed() : big
    }
}

private func geometry(little: Bool, _ body: (inout WKB) -> Void) -> [UInt8] {
    var writer = WKB(little: little)
    body(&writer)
    return writer.bytes
}

/// A geometry as a GeoPackage stores it.
private func package(_ geometry: [UInt8], envelope: UInt8 = 0, system: [UInt8] = [0xE6, 0x10, 0, 0], flags: UInt8 = 1)
    -> [UInt8]
{
    let length = [0, 32, 48, 48, 64, 0, 0, 0][Int(envelope)]
    return Array("GP".utf8) + [0, flags | envelope << 1] + system + Array(repeating: 0x7F, count: length) + geometry
}

@Suite struct GeoPackageGeometryTests {
    private let place = Degrees(latitude: 40.5, longitude: -116.25)

    private func parts(_ bytes: [UInt8]) throws -> [FeatureGeometry.Part] { try WKBReader.geometry(bytes).parts }

    @Test(arguments: [true, false]) func everyKindInBothByteOrders(little: Bool) throws {
        let ring = square(40, 116)
        let closed = ring + [ring[0]]
        let hole = square(40.002, 116.002, 0.001)
        let point = { (writer: inout WKB) in
            writer.header(1)
            writer.position(place)
        }
        let line = { (places: ArraySlice<Degrees>) in
            { (writer: inout WKB) in
                writer.header(2)
                writer.line(Array(places))
            }
        }
        let polygon = { (writer: inout WKB) in
            writer.header(3)
            writer.number(2)
            writer.line(closed)
            writer.line(hole)
        }
        func collection(_ kind: UInt32, _ members: (inout WKB) -> Void...) -> [UInt8] {
            geometry(little: little) { writer in
                writer.header(kind)
                writer.number(UInt32(members.count))
                for member in members { member(&writer) }
            }
        }
        // Each member of a collection has a byte order of its own.
        let other = geometry(little: !little, point)
        #expect(try parts(geometry(little: little, point)) == [.point(place)])
        #expect(try parts(geometry(little: little, line(ring[...]))) == [.line(ring)])
        #expect(try parts(geometry(little: little, polygon)) == [.polygon([[ring, hole]])])
        #expect(try parts(collection(4, point)) == [.point(place)])
        #expect(try parts(collection(5, line(ring[0...1]), line(ring[1...2]))) == [.line(Array(ring[0...2]))])
        #expect(try parts(collection(6, polygon, polygon)) == [.polygon([[ring, hole], [ring, hole]])])
        #expect(
            try parts(collection(7, point, { $0.bytes += other }, polygon))
                == [.point(place), .point(place), .polygon([[ring, hole]])])
    }

    @Test func heightsAndMeasuresArePassedOver() throws {
        for (code, rest) in [(1001, 1), (2001, 1), (3001, 2), (0x8000_0001, 1), (0x4000_0001, 1), (0xC000_0001, 2)]
            as [(UInt32, Int)]
        {
            let bytes = geometry(little: true) {
                $0.header(code)
                $0.position(place, Array(repeating: 7, count: rest))
            }
            #expect(try parts(bytes) == [.point(place)], "\(code)")
        }
        let ring = square(40, 116)
        let bytes = geometry(little: false) {
            $0.header(3002); $0.line(ring, [1, 2])
        }
        #expect(try parts(bytes) == [.line(ring)])
    }

    @Test func envelopesAndSystemsAreRead() throws {
        let point = geometry(little: true) {
            $0.header(1); $0.position(place)
        }
        for envelope in 0...4 as ClosedRange<UInt8> {
            let read = try GeoPackageGeometry(package(point, envelope: envelope))
            #expect(read.geometry.parts == [.point(place)] && read.system == 4326)
        }
        #expect(try GeoPackageGeometry(package(point, system: [0, 0, 0x10, 0xE6], flags: 0)).system == 4326)
        #expect(try GeoPackageGeometry(package(point, system: [0xFF, 0xFF, 0xFF, 0xFF])).system == -1)
        // Empty: a flag, and a point of numbers that are none, or nothing in a list.
        let none = geometry(little: true) {
            $0.header(1); $0.double(.nan); $0.double(.nan)
        }
        #expect(try GeoPackageGeometry(package(none, flags: 0x11)).geometry.parts.isEmpty)
        for kind in [2, 3, 4, 5, 6, 7] as [UInt32] {
            let bytes = geometry(little: true) {
                $0.header(kind); $0.number(0)
            }
            #expect(try GeoPackageGeometry(package(bytes, flags: 0x11)).geometry.parts.isEmpty)
        }
    }

    @Test func whatIsWrongIsExplained() {
        let point = geometry(little: true) {
            $0.header(1); $0.position(place)
        }
        let curve = geometry(little: true) {
            $0.header(8); $0.number(0)
        }
        let mixed = geometry(little: true) { writer in
            writer.header(4)
            writer.number(1)
            writer.header(2)
            writer.number(0)
        }
        let system = geometry(little: true) {
            $0.header(0x2000_0001); $0.number(4326); $0.position(place)
        }
        let bomb = Array(
            repeating: geometry(little: true) {
                $0.header(7); $0.number(1)
            }, count: 10_000
        ).flatMap { $0 }
        let huge = geometry(little: true) {
            $0.header(2); $0.number(.max); $0.position(place)
        }
        let two = geometry(little: true) {
            $0.header(2); $0.number(2); $0.position(place)
        }
        var version = package(point)
        version[2] = 1
        for (bytes, reason) in [
            ([], "does not begin with GP"), (Array("GQ".utf8) + package(point).dropFirst(2), "does not begin with GP"),
            (version, "version 1"),
            (package(point, flags: 0x21), "extended kind"), (package(point, envelope: 5), "unknown kind 5"),
            (Array(package(point, envelope: 4).prefix(60)), "ends in its envelope"),
            (package(point + [0]), "1 bytes follow"),
            (package(curve), "of kind 8, such as a curve"),
            (package(mixed), "is a LineString, and a Point is expected"),
            (package(system), "names a system of its own"),
            (package([2]), "byte 8 of the geometry, 2, is no byte order"),
            (package(bomb), "nested more than 4"), (package(huge), "4294967295 entries at byte 13"),
            (package(two), "2 entries at byte 13"),
        ] as [([UInt8], String)] {
            let found = problem { try GeoPackageGeometry(bytes) }
            #expect(found.contains(reason), "\(reason): \(found)")
        }
    }

    @Test func everyTruncationIsAnError() throws {
        let whole = geometry(little: true) { writer in
            writer.header(7)
            writer.number(2)
            writer.header(1)
            writer.position(place)
            writer.header(3)
            writer.number(1)
            writer.line(square(40, 116))
        }
        let bytes = package(whole, envelope: 1)
        _ = try GeoPackageGeometry(bytes)
        for count in bytes.indices {
            #expect(throws: FenceFileError.self, "\(count)") { try GeoPackageGeometry(Array(bytes[..<count])) }
        }
        // Flipped bits may change numbers, and nothing else happens.
        for seed in Dice.seeds(2000) {
            var random = Dice(seed: seed)
            var bytes = bytes
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            _ = try? GeoPackageGeometry(bytes)
        }
    }
}

/// A GeoPackage of a few rows, without SQLite.
private struct Sheets: GeoPackageDatabase {
    struct Rows: GeoPackageRows {
        let columns: [String]
        var values: [[GeoPackageValue]]

        mutating func next() throws(FenceFileError) -> [GeoPackageValue]? {
            values.isEmpty ? nil : values.removeFirst()
        }
    }

    var application: Int64 = 0x4750_4B47
    var layers: [[GeoPackageValue]] = [
        [.text("ya\"rds"), .text("geom"), .integer(4326), .text("EPSG"), .integer(4326)]
    ]
    var columns = ["fid", "geom", "name", "area", "photo"]
    var key: String? = "fid"
    var features: [[GeoPackageValue]] = []

    func rows(of query: GeoPackageQuery) throws(FenceFileError) -> Rows {
        switch query.sql {
        case "PRAGMA application_id": Rows(columns: ["application_id"], values: [[.integer(application)]])
        case "SELECT name FROM pragma_table_info(?) WHERE pk = 1" where query.arguments == [.text("ya\"rds")]:
            Rows(columns: ["name"], values: key.map { [[.text($0)]] } ?? [])
        case "SELECT * FROM \"ya\"\"rds\"": Rows(columns: columns, values: features)
        case let sql where sql.contains("FROM gpkg_geometry_columns"):
            Rows(
                columns: ["table_name", "column_name", "srs_id", "organization", "organization_coordsys_id"],
                values: layers)
        default: throw FenceFileError("no such query: \(query)")
        }
    }
}

@Suite struct GeoPackageTests {
    private func blob(_ latitude: Double, system: UInt8 = 0xE6) -> GeoPackageValue {
        .blob(
            package(
                geometry(little: true) {
                    $0.header(1)
                    $0.position(Degrees(latitude: latitude, longitude: 116))
                }, system: [system, 0x10, 0, 0]))
    }

    private func read(_ sheets: Sheets, layer: String? = nil, _ limits: FenceFileLimits = .init()) throws
        -> [FileFeature]
    {
        try all(GeoPackageFeatures(GeoPackageLayer.layer(named: layer, of: sheets), of: sheets, limits: limits))
    }

    @Test func rowsBecomeFences() throws {
        var sheets = Sheets()
        sheets.features = [
            [.integer(7), blob(40), .text("Gate"), .real(12.5), .blob([1])],
            [.integer(8), blob(99), .null, .integer(3), .null],
            [.integer(9), .null, .null, .null, .null], [.integer(10), .text("POINT"), .null, .null, .null],
            [.integer(11), blob(40, system: 0xE7), .null, .null, .null],
            [.integer(12), .blob([1, 2]), .null, .real(.nan), .null],
        ]
        let outcomes = try read(sheets)
        let first = try #require(outcomes.first?.feature)
        #expect(first.id == "7" && first.number == 1)
        #expect(first.properties == ["fid": 7, "name": "Gate", "area": 12.5])
        #expect(first.geometry.parts == [.point(Degrees(latitude: 40, longitude: 116))])
        let reasons = outcomes.map(\.reason)
        #expect(reasons[2] == "feature 3 ('9'): it has no geometry: a fence needs a place")
        #expect(
            reasons[3].contains("no blob") && reasons[4].contains("in the system 4327") && reasons[5].contains("GP"))
        var options = ImportOptions(file: "yards.gpkg")
        options.layer = "ya\"rds"
        options.buffer = 50
        var importer = FenceImport(options, existing: [], at: time(0))
        for outcome in outcomes { try importer.add(outcome) }
        let plan = try importer.finished()
        #expect(plan.additions.map(\.name) == ["Gate"])
        // A latitude of 99 is refused as a shape.
        #expect(plan.refused == 5)
    }

    @Test func withoutAKeyTheNumberIsTheID() throws {
        var sheets = Sheets()
        sheets.key = nil
        sheets.features = [[.integer(7), blob(40), .text("Gate"), .null, .null]]
        #expect(try read(sheets).first?.feature?.id == nil)
    }

    @Test func layersAreChosenAndChecked() throws {
        func found(_ layer: String?, _ change: (inout Sheets) -> Void) -> String {
            var sheets = Sheets()
            change(&sheets)
            return problem { try read(sheets, layer: layer) }
        }
        #expect(found(nil) { _ in }.contains("no problem"))
        #expect(
            found("ya\"rds") { $0.layers.append([.text("b"), .text("g"), .integer(1), .null, .null]) }.contains(
                "no problem"))
        #expect(
            found(nil) { $0.layers.append([.text("b"), .text("g"), .integer(1), .null, .null]) }.contains(
                "--layer: ya\"rds, b"))
        #expect(found("c") { _ in }.contains("it has no layer 'c'; there are ya\"rds"))
        #expect(found(nil) { $0.layers = [] }.contains("no layer of features"))
        #expect(found(nil) { $0.application = 0 }.contains("no GeoPackage"))
        #expect(found(nil) { $0.layers[0][4] = .integer(3857) }.contains("is in EPSG:3857: only WGS 84"))
        #expect(found(nil) { $0.layers[0][3] = .null }.contains("an unknown system"))
        #expect(found(nil) { $0.layers[0][0] = .null }.contains("holds what it must not"))
        #expect(found(nil) { $0.columns[1] = "shape" }.contains("has no column geom"))
        #expect(found(nil) { $0.features = [[.null]] }.contains("row 1 has 1 values"))
        var limits = FenceFileLimits()
        limits.features = 1
        var sheets = Sheets()
        sheets.features = Array(repeating: [.integer(7), blob(40), .null, .null, .null], count: 2)
        #expect(problem { try read(sheets, layer: nil, limits) }.contains("more than 1 features"))
    }
}
