import FenceFiles
import Foundation
import Geodesy
import JSON
import ProgramTestKit
import Testing

@testable import GeoPackageFile

/// GeoPackages through real SQLite.
@Suite struct GeoPackageFileTests {
    private func file(_ statements: String...) throws -> (path: String, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.gpkg")
        try SampleGeoPackage.write(path, SampleGeoPackage.tables + statements.joined(separator: ";"))
        return (path, directory)
    }

    private func read(_ path: String, layer: String? = nil) throws -> [FileFeature] {
        let file = try GeoPackageFile(path: path)
        var reader = try GeoPackageFeatures(GeoPackageLayer.layer(named: layer, of: file), of: file)
        var outcomes: [FileFeature] = []
        while let outcome = try reader.next() { outcomes.append(outcome) }
        return outcomes
    }

    private func problem(_ path: String, layer: String? = nil) -> String {
        do {
            return "no problem: \(try read(path, layer: layer))"
        } catch {
            return "\(error)"
        }
    }

    @Test func aLayerIsRead() throws {
        let (path, directory) = try file(
            SampleGeoPackage.layer("ya\"\"rds").replacing("'ya\"\"rds'", with: "'ya\"rds'"),
            """
            INSERT INTO "ya""rds" VALUES (7, \(SampleGeoPackage.point(-40.5, -116.25)), 'Gäte', 2.5),
                (8, NULL, NULL, 3), (9, 'no blob', 'x', NULL)
            """)
        defer { _ = directory }
        #expect(GeoPackageFile.isSQLite(path: path))
        let outcomes = try read(path)
        guard case .feature(let first) = try #require(outcomes.first) else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(first.id == "7" && first.properties == ["fid": 7, "name": "Gäte", "size": 2.5])
        #expect(first.geometry.parts == [.point(.init(latitude: -40.5, longitude: -116.25))])
        #expect(outcomes.dropFirst().allSatisfy { if case .refused = $0 { true } else { false } })
        #expect(outcomes.count == 3)
        #expect(try read(path, layer: "ya\"rds").count == 3)
    }

    @Test func nothingIsWritten() throws {
        let (path, directory) = try file(SampleGeoPackage.layer("a"))
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        _ = try read(path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a.gpkg"])
    }

    /// Runs as a user who may write nowhere, on this thread alone.
    private func withoutRights<Value>(_ body: () throws -> Value) throws -> Value {
        // The module Glibc has no name for it.
        let symbol = try #require(dlsym(nil, "setfsuid"))
        let setUser = unsafeBitCast(symbol, to: (@convention(c) (UInt32) -> Int32).self)
        _ = setUser(65_534)
        defer { _ = setUser(geteuid()) }
        return try body()
    }

    /// As QGIS leaves it, in a folder of somebody else's.
    @Test func aFileWithAWriteAheadLogIsReadWhereNothingMayBeWritten() throws {
        let (path, directory) = try file(
            SampleGeoPackage.layer("a"), "INSERT INTO a VALUES (1, \(SampleGeoPackage.point(40, 116)), 'x', 1)")
        #expect(chmod(directory.path, 0o755) == 0 && chmod(path, 0o644) == 0)
        try SampleGeoPackage.write(path, "PRAGMA journal_mode = WAL")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a.gpkg"])
        #expect(try withoutRights { try read(path) }.count == 1)
        // Where it may write, it leaves nothing either.
        #expect(try read(path).count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a.gpkg"])
    }

    /// It is read as a file that nobody changes, so whoever changes it all the same is noticed at the end.
    @Test(arguments: [true, false]) func aFileThatIsChangedWhileItIsReadIsRefused(isOpen: Bool) throws {
        let rows = (1...400).map {
            "(\($0), \(SampleGeoPackage.point(40, 116)), '\(String(repeating: "x", count: 400))', 1)"
        }
        let (path, directory) = try file(
            SampleGeoPackage.layer("a"), "INSERT INTO a VALUES \(rows.joined(separator: ","))")
        defer { _ = directory }
        try SampleGeoPackage.write(path, "PRAGMA journal_mode = WAL")
        #expect(try read(path).count == 400)
        let database = try GeoPackageFile(path: path)
        var reader = try GeoPackageFeatures(GeoPackageLayer.layer(named: nil, of: database), of: database)
        _ = try #require(try reader.next())
        // As long as the writer has the file open, its change stands in the log; then in the file.
        let sqlite = try SQLiteLibrary.loaded.get()
        var writer: OpaquePointer?
        try #require(sqlite.open(path, &writer, 2, nil) == SQLiteLibrary.ok)
        let change = "UPDATE a SET name = 'other'; INSERT INTO a SELECT fid + 1000, geom, name, size FROM a"
        try #require(sqlite.execute(writer, change, nil, nil, nil) == SQLiteLibrary.ok)
        if !isOpen { _ = sqlite.close(writer) }
        var found = ""
        do { while try reader.next() != nil {} } catch { found = "\(error)" }
        #expect(found.contains("another program has changed it"), "\(found)")
        if isOpen { _ = sqlite.close(writer) }
        #expect(try read(path).count == 800)
    }

    /// Without the log, what is read would not be what the file says.
    @Test func aLogWithChangesIsNotPassedOver() throws {
        let (path, directory) = try file(
            SampleGeoPackage.layer("a"), "INSERT INTO a VALUES (1, \(SampleGeoPackage.point(40, 116)), 'x', 1)")
        #expect(chmod(directory.path, 0o755) == 0)
        try SampleGeoPackage.write(path, "PRAGMA journal_mode = WAL")
        let copy = directory.file("copy.gpkg")
        // As long as the writer has the file open, its change stands in the log.
        let sqlite = try SQLiteLibrary.loaded.get()
        var writer: OpaquePointer?
        try #require(sqlite.open(path, &writer, 2, nil) == SQLiteLibrary.ok)
        let change = "INSERT INTO a VALUES (2, \(SampleGeoPackage.point(40, 117)), 'y', 1)"
        try #require(sqlite.execute(writer, change, nil, nil, nil) == SQLiteLibrary.ok)
        try FileManager.default.copyItem(atPath: path + "-wal", toPath: copy + "-wal")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        _ = sqlite.close(writer)
        #expect(chmod(copy, 0o644) == 0 && chmod(copy + "-wal", 0o644) == 0)
        let found = try withoutRights { problem(copy) }
        #expect(found.contains("copy.gpkg-wal") && found.contains("copy both files"), "\(found)")
        #expect(try read(copy).count == 2)
    }

    @Test func whatIsNoGeoPackageIsExplained() throws {
        let directory = try TemporaryDirectory()
        let plain = directory.file("plain.sqlite")
        try SampleGeoPackage.write(plain, "CREATE TABLE a (b)")
        #expect(problem(plain).contains("no GeoPackage"))
        let untold = directory.file("untold.gpkg")
        try SampleGeoPackage.write(untold, "PRAGMA application_id = 1196444487; CREATE TABLE a (b)")
        #expect(problem(untold).contains("no such table: gpkg_geometry_columns"), "\(problem(untold))")
        let mercator = directory.file("mercator.gpkg")
        try SampleGeoPackage.write(mercator, SampleGeoPackage.tables, SampleGeoPackage.layer("a", system: 3857))
        #expect(problem(mercator).contains("is in EPSG:3857"))
        #expect(problem(directory.file("none.gpkg")).contains("unable to open"))
        #expect(problem(directory.path).contains("SQLite"))
        #expect(!GeoPackageFile.isSQLite(path: directory.file("none.gpkg")))
        #expect(!GeoPackageFile.isSQLite(path: directory.path) && !GeoPackageFile.isSQLite(path: "/dev/zero"))
    }

    /// Every page damaged in turn, and every length: an error or rows, and nothing else.
    @Test func damagedFilesAreErrors() throws {
        let (path, directory) = try file(
            SampleGeoPackage.layer("a"),
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO a SELECT i, \(SampleGeoPackage.point(40, 116)), printf('%.200c', 'x'), i FROM n
            """)
        let whole = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(try read(path).count == 300)
        let damaged = directory.file("b.gpkg")
        var (errors, rows) = (0, 0)
        for (number, seed) in Dice.seeds(300).enumerated() {
            var (random, bytes) = (Dice(seed: seed), whole)
            if number % 3 == 0 {
                bytes = Array(bytes.prefix(Int.random(in: 16..<bytes.count, using: &random)))
            } else {
                for _ in 0..<20 {
                    bytes[Int.random(in: 16..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            }
            try Data(bytes).write(to: URL(fileURLWithPath: damaged))
            do {
                rows += try read(damaged).count
            } catch {
                errors += 1
            }
        }
        #expect(errors > 0 && rows > 0)
        try Data(whole.prefix(5000)).write(to: URL(fileURLWithPath: damaged))
        #expect(problem(damaged).contains("damaged"), "\(problem(damaged))")
    }

    @Test func aViewWithoutEndIsGivenUp() throws {
        let (path, directory) = try file(
            SampleGeoPackage.registered("a"),
            """
            CREATE VIEW a AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT i AS fid, NULL AS geom FROM n WHERE i < 0
            """)
        defer { _ = directory }
        #expect(problem(path).contains("finds no next row"), "\(problem(path))")
    }

    @Test func valuesThatAreTooLargeAreErrors() throws {
        let (path, directory) = try file(
            SampleGeoPackage.registered("a"), SampleGeoPackage.registered("b"),
            "CREATE VIEW a AS SELECT 1 AS fid, zeroblob(100000000) AS geom;",
            "CREATE VIEW b AS SELECT 1 AS fid, zeroblob(40000000) AS geom, zeroblob(40000000) AS more")
        defer { _ = directory }
        #expect(problem(path, layer: "a").contains("too large"), "\(problem(path, layer: "a"))")
        #expect(problem(path, layer: "b").contains("a row has more than 64 MiB"), "\(problem(path, layer: "b"))")
    }

    @Test func aMissingLibraryIsExplained() {
        let missing = #expect(throws: FenceFileError.self) { try SQLiteLibrary(name: "libsqlite3-missing.so.0") }
        #expect(missing?.description.contains("libsqlite3-missing.so.0: cannot open") == true, "\(missing as Any)")
        #expect(missing?.description.hasSuffix("install the Debian package libsqlite3-0") == true)
        let other = #expect(throws: FenceFileError.self) { try SQLiteLibrary(name: "libz.so.1") }
        #expect(other?.description.contains("libz.so.1 has no sqlite3_open_v2") == true, "\(other as Any)")
    }

    /// The schema of a file is no program.
    @Test func functionsThatReachOutsideAreRefused() throws {
        let (path, directory) = try file(
            SampleGeoPackage.registered("a"),
            "CREATE VIEW a AS SELECT 1 AS fid, load_extension('/tmp/x.so') AS geom")
        defer { _ = directory }
        #expect(problem(path).contains("SQLite cannot read it"), "\(problem(path))")
    }
}
