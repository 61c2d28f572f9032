import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel

@testable import FenceFiles

@Suite struct ImportTests {
    func point(
        _ number: Int, _ id: String?, _ properties: [String: JSONValue] = [:], at longitude: Double = 116
    ) -> FileFeature {
        let place = Degrees(latitude: 40, longitude: longitude)
        return .feature(
            FenceFeature(number: number, id: id, geometry: FeatureGeometry([.point(place)]), properties: properties))
    }

    private func area(_ number: Int, _ id: String?, _ ring: [Degrees], _ properties: [String: JSONValue] = [:])
        -> FileFeature
    {
        .feature(
            FenceFeature(
                number: number, id: id, geometry: FeatureGeometry([.polygon([[ring]])]), properties: properties))
    }

    func plan(
        _ features: [FileFeature], existing: [Fence] = [],
        _ change: (inout ImportOptions) throws -> Void = { $0.buffer = 50 }
    ) throws -> ImportPlan {
        var options = ImportOptions(file: "depots")
        try change(&options)
        var importer = FenceImport(options, existing: existing, at: time(100))
        for feature in features { try importer.add(feature) }
        return try importer.finished()
    }

    /// The fences that a plan leaves behind.
    func applied(_ plan: ImportPlan, to fences: [Fence]) throws -> [Fence] {
        var all = Dictionary(fences.map { ($0.id, $0) }) { $1 }
        for update in plan.updates { all[update.fence.id] = update.fence }
        for id in plan.removals { all[id] = nil }
        for addition in plan.additions {
            let id = (all.keys.max() ?? 0) + 1
            all[id] = try Fence(id: id, addition, at: time(100))
        }
        return all.values.sorted { $0.id < $1.id }
    }

    private func reason(_ feature: FileFeature, _ change: (inout ImportOptions) throws -> Void = { $0.buffer = 50 })
        throws -> String
    {
        let plan = try plan([feature], change)
        #expect(plan.refused == 1 && plan.additions.isEmpty)
        return plan.refusals.first?.reason ?? "taken"
    }

    @Test func aSecondImportUpdatesAddsAndRemoves() throws {
        let first = [point(1, "a"), point(2, "b", ["name": "B"]), point(3, "c"), point(4, "d")]
        let made = try plan(first)
        #expect(made.additions.count == 4 && made.updates.isEmpty && made.removals.isEmpty)
        var fences = try applied(made, to: [])
        // Fences of other files, layers, and of hands.
        var other = fences[0].definition
        other.origin = try FenceOrigin(file: "other", feature: "c", attributes: "{}")
        fences.append(try Fence(id: 10, other, at: time(0)))
        other.origin = try FenceOrigin(file: "depots", layer: "l", feature: "c", attributes: "{}")
        fences.append(try Fence(id: 11, other, at: time(0)))
        other.origin = nil
        fences.append(try Fence(id: 12, other, at: time(0)))

        let same = try plan(first, existing: fences)
        #expect(same.unchanged == 4)
        #expect(same.additions.isEmpty && same.updates.isEmpty && same.removals.isEmpty)

        // a moved, b renamed, c gone, d as it was, e new; in another order.
        let second = [point(1, "e"), point(2, "d"), point(3, "b", ["name": "B2"]), point(4, "a", at: 117)]
        let next = try plan(second, existing: fences)
        #expect(next.additions.map(\.origin?.feature) == ["e"])
        #expect(next.updates.map(\.fence.id) == [2, 1])
        #expect(next.updates.map(\.edit) == [.description, .area])
        #expect(next.updates.map(\.fence.revision) == [1, 2])
        #expect(next.removals == [3])
        #expect(next.unchanged == 1)
        let after = try applied(next, to: fences)
        #expect(try plan(second, existing: after).unchanged == 4)
    }

    @Test func whatAnImportDoesNotSayStays() throws {
        var fence = try #require(try applied(plan([point(1, "a")]), to: []).first)
        var changed = fence.definition
        changed.name = "by hand"
        changed.watch = try FenceSubjects(["van"])
        changed.denoise = 30
        _ = try fence.update(changed, at: time(1))
        #expect(try plan([point(1, "a")], existing: [fence]).unchanged == 1)
        let next = try plan([point(1, "a")], existing: [fence]) {
            $0.buffer = 60
            $0.settings.denoise = 0
            $0.settings.rule = .stay
            $0.settings.stay = StayAlarmRule(after: 60)
        }
        let updated = try #require(next.updates.first?.fence.definition)
        #expect(
            updated.name == "by hand" && updated.watch.contains("van") && updated.denoise == 0 && updated.rule == .stay)
    }

    @Test func metresComeFromTheOptionsOrTheFeature() throws {
        let line = FenceFeature(
            number: 1, id: "a", geometry: FeatureGeometry([.line(square(40, 116))]), properties: [:])
        func outline(_ feature: FileFeature, _ buffer: Double?) throws -> ShapeDraft? {
            try plan([feature]) { $0.buffer = buffer }.additions.first?.shape
        }
        func with(_ properties: [String: JSONValue]) -> FileFeature {
            var line = line
            line.properties = properties
            return .feature(line)
        }
        let place = Degrees(latitude: 40, longitude: 116)
        #expect(try outline(point(1, "a"), 50) == ShapeDraft(.point(place), buffer: 50))
        #expect(try outline(point(1, "a", ["Radius": 70]), nil) == ShapeDraft(.circle(centre: place, radius: 70)))
        #expect(
            try outline(point(1, "a", ["radius": "70"]), 5) == ShapeDraft(.circle(centre: place, radius: 70), buffer: 5)
        )
        #expect(try outline(point(1, "a", ["buffer": 7]), nil) == ShapeDraft(.point(place), buffer: 7))
        #expect(try outline(point(1, "a", ["buffer": 7]), 9) == ShapeDraft(.point(place), buffer: 9))
        #expect(try outline(with([:]), 50) == ShapeDraft(.corridor(square(40, 116), offset: 50)))
        #expect(
            try outline(with(["offset": 20.5]), 50) == ShapeDraft(.corridor(square(40, 116), offset: 20.5), buffer: 50))
        // The offset of a line that has no other is not a buffer, too.
        #expect(
            try outline(with(["fence": ["settle": 30]]), 50) == ShapeDraft(.corridor(square(40, 116), offset: 50)))
        #expect(try outline(area(1, "a", square(40, 116)), nil) == ShapeDraft(.polygon([[square(40, 116)]])))
        #expect(
            try reason(point(1, "a")) { $0.buffer = nil }
                == "a point needs metres around it: a property radius, or --buffer")
        #expect(try reason(.feature(line)) { $0.buffer = nil }.contains("a line needs metres on its sides"))
        #expect(try reason(point(1, "a", ["radius": "wide"])).contains("its radius is '\"wide\"': a number of metres"))
        #expect(try reason(point(1, "a")) { $0.buffer = -1 }.contains("a point needs a buffer") == false)
        #expect(try reason(point(1, "a")) { $0.buffer = .nan }.contains("a buffer is 0 to 100,000"))
    }

    /// For the server, whose Web API knows no points with metres around them.
    @Test func pointsBecomeCircles() throws {
        let features = [
            point(1, "a", ["buffer": 7]), point(2, "b", ["buffer": 7, "fence": ["validity": ["through": 0]]]),
        ]
        let made = try plan(features) { $0.makesCirclesOfPoints = true }.additions
        let place = Degrees(latitude: 40, longitude: 116)
        // One that never counts stands for a polygon without area.
        #expect(
            made.map(\.shape) == [ShapeDraft(.circle(centre: place, radius: 7)), ShapeDraft(.point(place), buffer: 7)])
        let fences = try applied(plan(features) { $0.makesCirclesOfPoints = true }, to: [])
        let again = try plan(features, existing: fences) { $0.makesCirclesOfPoints = true }
        #expect(again.unchanged == 2 && again.updates.isEmpty)
    }

    @Test func columnsGiveIdsNamesAndFloors() throws {
        let made = try plan([point(1, "a", ["key": 7, "Title": "Gate", "level": "B2", "name": "no"])]) {
            $0.buffer = 5
            $0.idColumn = "KEY"
            $0.nameColumn = "title"
            $0.floorColumn = "level"
        }
        let added = try #require(made.additions.first)
        #expect(added.origin?.feature == "7" && added.name == "Gate" && added.floor == "B2")
        #expect(added.origin?.attributes == #"{"Title":"Gate","key":7,"level":"B2","name":"no"}"#)
        let numbers = try plan([point(1, nil), point(2, nil)])
        #expect(numbers.additions.map(\.origin?.feature) == ["#1", "#2"])
        #expect(numbers.withoutID == 2)
        // A column that only some features have.
        let some = try plan([point(1, "a", ["key": 1]), point(2, "b"), point(3, "c", ["key": ["x"]])]) {
            $0.buffer = 5
            $0.idColumn = "key"
        }
        #expect(
            some.refusals.map(\.description) == [
                "feature 2: it has no id in the column 'key'", "feature 3: it has no id in the column 'key'",
            ])
        for change: (inout ImportOptions) throws -> Void in [
            { $0.idColumn = "nope" }, { $0.floorColumn = "nope" }, { $0.condition = try WhereClause("nope = 1") },
        ] {
            let found = problem { try plan([point(1, "a", ["x": 1, "y": 2])], change) }
            #expect(found.contains("no feature has a column 'nope'; there are x, y"), "\(found)")
        }
    }

    @Test func theSameIdTwiceIsRefused() throws {
        let made = try plan([point(1, "a"), point(2, "a"), point(3, "b")])
        #expect(made.additions.count == 2)
        #expect(
            made.refusals.map(\.description) == [
                "feature 2 ('a'): feature 1 has the same id: the ids of a file differ, choose the column with --id-column"
            ])
    }

    @Test func theConditionChooses() throws {
        let features = [
            point(1, "a", ["kind": "yard"]), point(2, "b", ["kind": "gate"]), point(3, "c"), point(4, "d", ["kind": 5]),
        ]
        let condition = try WhereClause("kind = 'yard'")
        let made = try plan(features) {
            $0.buffer = 5
            $0.condition = condition
        }
        #expect(made.additions.map(\.origin?.feature) == ["a"])
        #expect(made.notChosen == 2)
        #expect(made.refusals.map(\.id) == ["d"])
        // What is not chosen any more is removed.
        let fences = try applied(plan(Array(features.prefix(3))), to: [])
        let next = try plan(Array(features.prefix(3)), existing: fences) {
            $0.buffer = 50
            $0.condition = condition
        }
        #expect(next.removals == [2, 3] && next.unchanged == 1)
    }

    @Test func theAreaChooses() throws {
        let box = try ImportArea(south: 40, west: 116, north: 41, east: 117)
        let features = [
            point(1, "edge"), point(2, "out", at: 115.9), area(3, "in", square(40, 116)),
            area(4, "half", square(40.995, 116.5)),
            .feature(
                FenceFeature(
                    number: 5, id: "nan", geometry: FeatureGeometry([.point(Degrees(latitude: .nan, longitude: 116))]))),
        ]
        let made = try plan(features) {
            $0.buffer = 5
            $0.area = box
        }
        #expect(made.additions.map(\.origin?.feature) == ["edge", "in"])
        #expect(made.outside == 3)
    }

    @Test func anAreaIsABoxOrAPolygon() throws {
        func inside(_ area: ImportArea, _ line: [(Double, Double)]) -> Bool {
            area.contains(FeatureGeometry([.line(degrees(line))]))
        }
        let u = try ImportArea(
            polygon: degrees([
                (40.0, 116.0), (40.0, 116.03), (40.02, 116.03), (40.02, 116.02), (40.01, 116.02), (40.01, 116.01),
                (40.02, 116.01),
                (40.02, 116.0),
            ]))
        #expect(inside(u, [(40.005, 116.005), (40.005, 116.025)]))
        #expect(!inside(u, [(40.015, 116.005), (40.015, 116.025)]))
        // Along the boundary, and through a corner of it.
        #expect(inside(u, [(40.0, 116.0), (40.0, 116.03), (40.02, 116.03)]))
        #expect(inside(u, [(40.01, 116.005), (40.01, 116.025)]))
        #expect(!inside(u, [(40.0, 116.0), (40.0, 116.031)]))
        // Only the edge that closes the ring leaves the area, through the notch.
        let ring = degrees([(40.015, 116.005), (40.005, 116.005), (40.005, 116.025), (40.015, 116.025)])
        #expect(!u.contains(FeatureGeometry([.polygon([[ring]])])))
        #expect(u.contains(FeatureGeometry([.line(ring)])))
        let fiji = try ImportArea(south: -17, west: 179, north: -16, east: -179)
        #expect(inside(fiji, [(-16.5, 179.5), (-16.5, -179.5)]))
        #expect(!inside(fiji, [(-16.5, 178.5)]))
        let world = try ImportArea(south: -90, west: -180, north: 90, east: 180)
        #expect(inside(world, [(89, -179), (-89, 12), (0, 180)]))
        #expect(throws: FenceFileError.self) { try ImportArea(south: 41, west: 116, north: 40, east: 117) }
        #expect(throws: FenceFileError.self) { try ImportArea(south: .nan, west: 116, north: 40, east: 117) }
        #expect(throws: FenceFileError.self) { try ImportArea(south: -95, west: 116, north: 40, east: 117) }
        let bowTie = problem { try ImportArea(polygon: degrees([(0, 0), (1, 1), (1, 0), (0, 1)])) }
        #expect(bowTie.contains("the area: edge 1"), "\(bowTie)")
    }

    @Test func severalPartsAreFencesOfOneGroup() throws {
        let parts: [FeatureGeometry.Part] = [
            .point(Degrees(latitude: 40, longitude: 116)), .polygon([[square(41, 116)]]),
        ]
        func feature(_ parts: [FeatureGeometry.Part]) -> FileFeature {
            .feature(FenceFeature(number: 1, id: "7", geometry: FeatureGeometry(parts), properties: ["name": "Corner"]))
        }
        let made = try plan([feature(parts)])
        #expect(made.additions.map(\.origin?.feature) == ["7/1", "7/2"])
        #expect(made.additions.map(\.group) == ["Corner", "Corner"])
        let fences = try applied(made, to: [])
        #expect(try plan([feature(parts)], existing: fences).unchanged == 2)
        // All or nothing: with a wrong part both stay as they were.
        let wrong = try plan([feature([.point(Degrees(latitude: 99, longitude: 116)), parts[1]])], existing: fences)
        #expect(wrong.refused == 1 && wrong.removals.isEmpty && wrong.unchanged == 0 && wrong.updates.isEmpty)
        let one = try plan([feature([parts[1]])], existing: fences)
        #expect(one.removals == [1, 2] && one.additions.count == 1)
    }

    @Test func aRefusedFeatureKeepsItsFence() throws {
        let fences = try applied(plan([point(1, "a"), point(2, "b")]), to: [])
        let bowTie = degrees([(0, 0), (1, 1), (1, 0), (0, 1)])
        let next = try plan([area(1, "a", bowTie)], existing: fences)
        #expect(next.removals == [2])
        #expect(next.refusals.first?.reason.contains("edge 1 of the outer ring") == true)
        // Whose feature it was cannot be known.
        let unknown = try plan([.refused(RefusedFeature(number: 1, reason: "too long"))], existing: fences)
        #expect(unknown.removals.isEmpty && unknown.held == 2)
        let byColumn = try plan([.refused(RefusedFeature(number: 1, id: "a", reason: "x"))], existing: fences) {
            $0.idColumn = "k"
        }
        #expect(byColumn.removals.isEmpty && byColumn.held == 2)
    }

    @Test func anIDThatLooksLikeAPartIsAFeatureOfItsOwn() throws {
        let fences = try applied(plan([point(1, "a"), point(2, "a/1"), point(3, "a/b")]), to: [])
        let next = try plan(
            [point(1, "a", ["radius": "?"]), point(2, "a/1"), point(3, "a/b")], existing: fences)
        #expect(next.refused == 1 && next.unchanged == 2 && next.additions.isEmpty && next.removals.isEmpty)
        // The part of a feature and a feature of the same id
        let parts: [FeatureGeometry.Part] = [
            .point(Degrees(latitude: 40, longitude: 116)), .point(Degrees(latitude: 41, longitude: 116)),
        ]
        let both = try plan([
            .feature(FenceFeature(number: 1, id: "a", geometry: FeatureGeometry(parts), properties: [:])),
            point(2, "a/1"),
        ])
        #expect(both.additions.count == 2 && both.refused == 1, "\(both.refusals)")
    }

    @Test func parametersAreFilledFromAttributes() throws {
        func parameters(_ template: String, _ properties: [String: JSONValue]) throws -> String? {
            try plan([point(1, "a", properties)]) {
                $0.buffer = 5
                $0.settings.reactions = [try FenceReaction(on: .enter, parameters: template)]
            }.additions.first?.reaction(to: .enter)?.parameters
        }
        #expect(
            try parameters(
                #"{"m":{"t":"Gate {Nr} of {name}"},"l":["{nr}","{gone}","{{x}"],"n":5}"#, ["nr": 3, "name": "{nr}"])
                == #"{"l":[3,null,"{x}"],"m":{"t":"Gate 3 of {nr}"},"n":5}"#)
        #expect(try parameters(#"{"t":"-{gone}-{nr}{nr}"}"#, ["nr": "\""]) == #"{"t":"--\"\""}"#)
        #expect(try parameters(#"{"t":"{nr"}"#, [:]) == nil)
        #expect(try parameters(#"{"t":"{long}{long}"}"#, ["long": .string(String(repeating: "x", count: 4000))]) == nil)
    }

    @Test func newFencesWatchWhomTheImportSays() throws {
        let told: JSONValue = ["watch": ["van"]]
        let made = try plan([point(1, "a"), point(2, "b", ["fence": told]), point(3, "c", ["fence": [:]])]) {
            ($0.buffer, $0.usualWatch) = (50, .everyone)
        }
        // A member `fence` that says nothing of it is no word either; one that names nobody is.
        #expect(made.additions.map(\.watch) == [.everyone, try FenceSubjects(["van"]), .everyone])
        let nobody = try plan([point(1, "a", ["fence": ["watch": []]])]) {
            ($0.buffer, $0.usualWatch) = (50, .everyone)
        }
        #expect(nobody.additions.map(\.watch) == [.nobody])
        // Who edited the fence since then has had a reason.
        let known = try applied(try plan([point(1, "a")]), to: [])
        #expect(known.first?.definition.watch == .nobody)
        #expect(
            try plan([point(1, "a")], existing: known) { ($0.buffer, $0.usualWatch) = (50, .everyone) }.unchanged == 1)
    }

    @Test func everySettingIsApplied() throws {
        var settings = ImportSettings()
        (settings.isInitialTold, settings.through, settings.crossingGap) = (true, false, 30)
        (settings.altitude, settings.isReported) = (AltitudeRange(lower: -50, upper: 100), true)
        let made = try #require(plan([point(1, "a")]) { ($0.buffer, $0.settings) = (50, settings) }.additions.first)
        #expect(made.isInitialTold && made.through == false && made.crossingGap == 30 && made.isReported)
        #expect(made.altitude == AltitudeRange(lower: -50, upper: 100))
        settings = ImportSettings()
        var same = made
        settings.apply(to: &same)
        #expect(same == made)
    }

    @Test func theDatumIsThatOfTheFile() throws {
        let made = try plan([point(1, "a", ["radius": 50]), area(2, "b", square(40, 116))]) { $0.datum = .bd09 }
        #expect(made.additions.map(\.shape.datum) == [.bd09, .bd09])
        let lines = try plan([
            .feature(FenceFeature(number: 1, geometry: FeatureGeometry([.line(square(40, 116))])))
        ]) { ($0.datum, $0.buffer) = (.gcj02, 20) }
        #expect(lines.additions.map(\.shape.datum) == [.gcj02])
    }

    @Test func aFileMakesABoundedNumberOfFences() throws {
        let found = problem {
            try plan((1...4).map { point($0, "\($0)", at: Double($0)) }) {
                $0.buffer = 5
                $0.limits.fences = 3
            }
        }
        #expect(found.contains("feature 4: the file makes more than 3 fences"), "\(found)")
    }

    @Test func boundsOfAWholeFile() throws {
        var limits = FenceFileLimits()
        limits.vertices = 8
        let found = problem {
            try plan((1...3).map { area($0, "\($0)", square(40, Double($0))) }) { $0.limits = limits }
        }
        #expect(found.contains("feature 3: the fences have more than 8 vertices"), "\(found)")
        let many = try plan((1...1500).map { point($0, "x\($0)", ["radius": "?"]) })
        #expect(many.refused == 1500 && many.refusals.count == ImportPlan.mostRefusals)
        let long = String(repeating: "x", count: 70_000)
        #expect(try reason(point(1, "a", ["long": .string(long)])).contains("the list of the feature's attributes has"))
        #expect(
            try reason(point(1, "a", ["name": .string(String(long.prefix(200)))])).contains("the name has 200 bytes"))
    }
}
