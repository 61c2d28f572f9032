import Geodesy
import Geofencing
import JSON
import Testing
import TrackFiles
import TrackModel

@testable import FenceFiles

/// Features whose fence is known although their geometry, or their file, is another.
extension ImportTests {
    /// Whose feature it is, is known without its geometry: the fences of the others go, and it is chosen or not.
    @Test func aFeatureWithoutAGeometryIsKnown() throws {
        func bare(_ number: Int, _ id: String?, _ properties: [String: JSONValue]) -> FileFeature {
            .refused(RefusedFeature(number: number, id: id, reason: "no geometry", properties: properties))
        }
        let fences = try applied(
            plan([point(1, "a", ["k": "a"]), point(2, "b", ["k": "b"]), point(3, "c", ["k": "c"])]), to: [])
        let next = try plan([point(1, "a", ["k": "a"]), bare(2, "b", ["k": "b"])], existing: fences)
        #expect(next.removals == [3] && next.held == 0 && next.refused == 1 && next.unchanged == 1)
        // The condition is asked; what it does not choose is refused by nobody.
        let condition = try WhereClause("k = 'a'")
        let chosen = try plan([point(1, "a", ["k": "a"]), bare(2, "b", ["k": "b"])], existing: fences) {
            $0.buffer = 50
            $0.condition = condition
        }
        #expect(chosen.removals == [2, 3] && chosen.refused == 0 && chosen.notChosen == 1)
        // So is the column of the ids, whatever the id of the file is.
        let byColumn = try plan([point(1, nil, ["k": "a"]), bare(2, nil, ["k": "b"])], existing: fences) {
            ($0.buffer, $0.idColumn) = (50, "k")
        }
        #expect(byColumn.removals == [3] && byColumn.held == 0 && byColumn.refused == 1)
        // In a file without ids the number is the id.
        let numbered = try applied(plan([point(1, nil), point(2, nil), point(3, nil)]), to: [])
        let third = try plan([point(1, nil), bare(2, nil, [:])], existing: numbered)
        #expect(third.removals == [3] && third.held == 0)
        // Without its id, nobody knows whose it is.
        let unknown = try plan([point(1, nil, ["k": "a"]), bare(2, nil, ["other": 1])], existing: fences) {
            ($0.buffer, $0.idColumn) = (50, "k")
        }
        #expect(unknown.removals.isEmpty && unknown.held == 2 && unknown.unchanged == 1)
    }

    /// Null says nothing, as in requests.
    @Test(arguments: [[:], ["rule": ["enter"]], ["watch": .null]] as [[String: JSONValue]])
    func aFenceThatNamesNobodyWatchesWhomFencesUsuallyWatch(_ fence: [String: JSONValue]) throws {
        var options = ImportOptions(file: "a")
        options.usualWatch = .everyone
        options.buffer = 50
        var importer = FenceImport(options, existing: [], at: time(200))
        try importer.add(point(1, "a", ["fence": .object(fence)]))
        #expect(try importer.finished().additions.map(\.watch) == [.everyone])
    }

    /// An export of these very fences is no second set of them.
    @Test func anOwnExportMakesNoFenceTwice() throws {
        var fences = try applied(
            plan([point(1, "a", ["name": "A"]), point(2, "b", ["fence": ["watch": ["van"], "group": "g"]])]), to: [])
        var bare = fences[0].definition
        (bare.origin, bare.name, bare.watch) = (nil, "by hand", .nobody)
        fences.append(try Fence(id: 7, bare, at: time(5)))
        func exported(_ fences: [Fence]) throws -> [FileFeature] {
            var reader = GeoJSONFeatures(ByteSource(bytes: FenceGeoJSON.collection(of: fences)))
            var features: [FileFeature] = []
            while let feature = try reader.next() { features.append(feature) }
            return features
        }
        let features = try exported(fences)
        for file in ["export.geojson", "depots"] {
            func again(_ features: [FileFeature], _ existing: [Fence]) throws -> ImportPlan {
                var options = ImportOptions(file: file)
                options.usualWatch = .everyone
                var importer = FenceImport(options, existing: existing, at: time(200))
                for feature in features { try importer.add(feature) }
                return try importer.finished()
            }
            let same = try again(features, fences)
            #expect(
                same.unchanged == 3 && same.additions.isEmpty && same.updates.isEmpty && same.removals.isEmpty,
                "\(file)")
            // What was changed in the file is changed in the fence, which stays a fence of its first file.
            let moved = features.map { outcome -> FileFeature in
                guard case .feature(var feature) = outcome, feature.id == "1" else { return outcome }
                feature.geometry = FeatureGeometry([.point(Degrees(latitude: 41, longitude: 116))])
                return .feature(feature)
            }
            let edited = try again(moved, fences)
            #expect(edited.updates.map(\.fence.id) == [1] && edited.additions.isEmpty && edited.removals.isEmpty)
            #expect(edited.updates.first?.fence.definition.origin == fences[0].definition.origin)
            // Of another vehicle, whose fences have the same numbers, they are fences of their own.
            let foreign = try fences.map { try Fence(id: $0.id, $0.definition, at: time(77)) }
            #expect(try again(features, foreign.filter { $0.id == 7 }).additions.count == 3)
            // An older version wrote no time: fences that have not changed are the same.
            let old = features.map { outcome -> FileFeature in
                guard case .feature(var feature) = outcome else { return outcome }
                feature.properties["created"] = nil
                return .feature(feature)
            }
            #expect(try again(old, fences).unchanged == 3)
        }
        // A fence that is there no more is made anew, and knows nothing of the time.
        let made = try #require(try plan([features[2]]) { _ in }.additions.first)
        #expect(made.watch == .nobody && made.origin?.attributes.contains("created") == false)
    }
}
