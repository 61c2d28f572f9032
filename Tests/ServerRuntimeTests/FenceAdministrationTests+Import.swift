import ArgumentParser
import FenceCommands
import Foundation
import Geodesy
import Geofencing
import ProgramTestKit
import StoreRecords
import Testing
import TrackFiles
import TrackModel
import TrackStore
import TrackTestKit

@testable import FenceFiles
@testable import ServerRuntime

// Imports of fences.
extension FenceAdministrationTests {
    private func file(_ features: String...) throws -> String {
        let path = directory.path + "/yards.geojson"
        let text = "{\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ","))]}"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
    private func feature(_ id: String, _ properties: String) -> String {
        """
        {"type":"Feature","id":"\(id)","properties":{\(properties)},
         "geometry":{"type":"Point","coordinates":[116.4,39.9]}}
        """
    }

    @Test func anImportMakesChangesAndRemovesTheFencesOfItsFile() async throws {
        let service = try await service()
        let rules = """
            "radius":100,"name":"Gate","fence":{"rule":["enter","exit"],"settle":30,"group":"yard","watch":["van"],\
            "speed_limit":{"speed":8.5,"duration":10},"floor":"2",\
            "actions":[{"on":"enter","params":{"gate":3},"remote":true}],\
            "validity":{"windows":[{"days":["mon"],"from":28800,"to":64800}],"utc_offset":28800}}
            """
        var wish = ServiceAdministration.FenceImportOptions(
            path: try file(feature("a", rules), feature("b", "\"radius\":5")))
        wish.isTrial = true
        let trial = try await administration.importFences(wish, into: service.rawValue)
        #expect(trial.added == 2 && trial.idle == 1)
        #expect(
            try await store.fences(in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 9)).total == 3)
        wish.isTrial = false
        #expect(try await administration.importFences(wish, into: service.rawValue) == trial)
        let gate = try #require(try await store.fence(4, in: service)).fence.definition
        #expect(gate.name == "Gate" && gate.settle == 30 && gate.group == "yard" && gate.floor == "2")
        #expect(gate.speedLimit != nil && gate.reactions.first?.isRemote == true && gate.validity != nil)
        #expect(gate.watch == (try FenceSubjects(["van"])))
        // The same again changes nothing; other features change, add and remove.
        #expect(try await administration.importFences(wish, into: service.rawValue).unchanged == 2)
        wish.path = try file(feature("a", "\"radius\":200,\"name\":\"Gate\""), feature("c", "\"radius\":5"))
        wish.watchesEveryone = true
        let second = try await administration.importFences(wish, into: service.rawValue)
        #expect((second.added, second.changed, second.removed) == (1, 1, 1))
        let all = try await store.fences(in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 9)).fences
        #expect(all.map(\.fence.id) == [1, 2, 3, 4, 6])
        #expect(all.last?.fence.definition.watch == .everyone)
        #expect(all[3].fence.definition.settle == 30, "what the file leaves out stays")
    }

    @Test func whatCannotBeImportedIsNamedAndTheRestIs() async throws {
        let service = try await service()
        var wish = ServiceAdministration.FenceImportOptions(
            path: try file(feature("a", "\"radius\":-1"), feature("b", "\"radius\":5")))
        let outcome = try await administration.importFences(wish, into: service.rawValue)
        #expect(outcome.added == 1 && outcome.refused == 1)
        #expect(outcome.refusals.first?.contains("-1") == true, "\(outcome.refusals)")
        for (path, names) in [(wish.path + "x", nil), (wish.path, ["nobody_knows"]), (wish.path, ["a b"])]
            as [(String, [String]?)]
        {
            wish.path = path
            wish.watch = names
            await #expect(throws: ServerError.self) {
                _ = try await administration.importFences(wish, into: service.rawValue)
            }
        }
        await #expect(throws: ServerError.self) { _ = try await administration.importFences(wish, into: 77) }
    }

    /// A file names a vehicle that has never logged in: its fence is refused, and the others are what the file says.
    @Test func aFenceThatWatchesAnUnknownEntityIsRefusedAlone() async throws {
        let service = try await service()
        func watching(_ name: String) -> String { "\"radius\":5,\"fence\":{\"watch\":[\"van\",\"\(name)\"]}" }
        var wish = ServiceAdministration.FenceImportOptions(
            path: try file(
                feature("a", watching("lorry")), feature("b", watching("tram")), feature("c", "\"radius\":5")))
        wish.isTrial = true
        let trial = try await administration.importFences(wish, into: service.rawValue)
        wish.isTrial = false
        let outcome = try await administration.importFences(wish, into: service.rawValue)
        #expect(outcome == trial && outcome.added == 2 && outcome.refused == 1)
        #expect(
            outcome.refusals.first?.contains("feature 2 ('b')") == true
                && outcome.refusals.first?.contains("'tram'") == true, "\(outcome.refusals)")
        let all = try await store.fences(in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 9))
        #expect(all.total == 5)
        // Its fence of before stays, and what all fences shall watch is checked before anything changes.
        wish.path = try file(feature("a", watching("tram")), feature("d", "\"radius\":5"))
        let second = try await administration.importFences(wish, into: service.rawValue)
        #expect((second.added, second.removed, second.refused) == (1, 1, 1))
        #expect(try await store.fence(4, in: service)?.fence.definition.watch == (try FenceSubjects(["van", "lorry"])))
        wish.watch = ["van", "tram"]
        do {
            _ = try await administration.importFences(wish, into: service.rawValue)
            Issue.record("nobody is 'tram'")
        } catch {
            #expect(error.code == .notFound && error.detail.contains("'tram'"), "\(error.detail)")
            #expect(error.detail.contains("nothing is changed"))
        }
    }

    // MARK: GeoPackages

    /// Two layers with places of a name and a size.
    private func geoPackage() throws -> String {
        let path = directory.file("site.gpkg")
        try SampleGeoPackage.write(
            path, SampleGeoPackage.tables, SampleGeoPackage.layer("rooms"), SampleGeoPackage.layer("gates"),
            """
            INSERT INTO rooms VALUES (7, \(SampleGeoPackage.point(39.9, 116.4)), 'Hall', 2.5),
                (8, \(SampleGeoPackage.point(39.8, 116.4)), 'Cellar', 9), (9, NULL, 'Nowhere', 9),
                (10, NULL, 'Lost', 1);
            INSERT INTO gates VALUES (7, \(SampleGeoPackage.point(39.7, 116.4)), 'North', 1);
            """)
        return path
    }

    @Test func aLayerOfAGeoPackageIsImported() async throws {
        let service = try await service()
        var wish = ServiceAdministration.FenceImportOptions(path: try geoPackage())
        wish.watchesEveryone = true
        wish.options = try FenceFileOptions.parse(["--layer", "rooms", "--where", "size < 5", "--buffer", "20"])
            .options(file: "any", layer: "rooms")
        let first = try await administration.importFences(wish, into: service.rawValue)
        // A row without a geometry has its values all the same: one is not chosen, one is refused.
        #expect((first.added, first.notChosen, first.refused) == (1, 2, 1), "\(first)")
        #expect(first.refusals.first?.contains("no geometry") == true)
        let hall = try #require(try await store.fence(4, in: service)).fence.definition
        #expect(hall.name == "Hall" && hall.watch == .everyone)
        #expect(
            hall.shape == ShapeDraft(.circle(centre: Degrees(latitude: 39.9, longitude: 116.4), radius: 20)),
            "the Web API knows circles, and no points with metres around them")
        #expect(hall.origin?.file == "site.gpkg" && hall.origin?.layer == "rooms" && hall.origin?.feature == "7")
        // Another layer of the file has fences of its own, and the same again changes nothing.
        #expect(try await administration.importFences(wish, into: service.rawValue).unchanged == 1)
        wish.options.layer = "gates"
        let gates = try await administration.importFences(wish, into: service.rawValue)
        #expect((gates.added, gates.removed) == (1, 0), "\(gates)")
        wish.options.area = try ImportArea(south: 0, west: 0, north: 1, east: 1)
        let away = try await administration.importFences(wish, into: service.rawValue)
        #expect((away.removed, away.outside) == (1, 1), "\(away)")
    }

    @Test func whatIsWrongWithAGeoPackageIsSaidAndNothingIsChanged() async throws {
        let service = try await service()
        let whole = try geoPackage()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
        let cut = directory.file("cut.gpkg")
        try bytes.prefix(5000).write(to: URL(fileURLWithPath: cut))
        let plain = directory.file("plain.sqlite")
        try SampleGeoPackage.write(plain, "CREATE TABLE a (b)")
        let text = try file(feature("a", "\"radius\":5"))
        for (path, layer, words) in [
            (whole, nil, "several layers, choose one with --layer: gates, rooms"), (whole, "roofs", "no layer 'roofs'"),
            (cut, "rooms", "damaged"), (plain, nil, "no GeoPackage"), (text, "rooms", "leave out --layer"),
        ] as [(String, String?, String)] {
            var wish = ServiceAdministration.FenceImportOptions(path: path)
            wish.options.layer = layer
            do {
                Issue.record("\(path): \(try await administration.importFences(wish, into: service.rawValue))")
            } catch {
                #expect(error.code == .file && error.detail.hasPrefix(path), "\(error.detail)")
                #expect(error.detail.contains(words) && error.detail.hasSuffix("nothing is changed"), "\(error.detail)")
            }
        }
        let all = try await store.fences(in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 9))
        #expect(all.total == 3)
    }
}
