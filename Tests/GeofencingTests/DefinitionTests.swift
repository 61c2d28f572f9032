import Geodesy
import Testing
import TrackModel

@testable import Geofencing

@Suite struct DefinitionTests {
    private func draft(_ radius: Double = 100, datum: Datum = .wgs84) -> ShapeDraft {
        ShapeDraft(.circle(centre: Degrees(latitude: 40.0478, longitude: 116.3134), radius: radius), datum: datum)
    }

    private func definition(_ change: (inout FenceDefinition) throws -> Void = { _ in }) rethrows -> FenceDefinition {
        var definition = FenceDefinition(draft())
        try change(&definition)
        return definition
    }

    private func made(_ definition: FenceDefinition) throws -> Fence { try Fence(id: 7, definition, at: time(1000)) }

    private func problem(_ change: (inout FenceDefinition) throws -> Void) -> FenceError? {
        do throws(any Error) {
            _ = try made(definition(change))
            return nil
        } catch {
            return error as? FenceError
        }
    }

    @Test(arguments: [
        "yard ", " yard", "yard\u{A0}", "\u{3000}yard", "yard\u{FE0F}", "ya\u{200D}rd", "ya\u{1D159}rd", "ya\u{2800}rd",
    ])
    func aNameThatLooksLikeAnotherOneIsRefused(name: String) throws {
        #expect(problem { $0.name = name }?.rule == .name)
        #expect(problem { $0.group = name }?.rule == .group)
        // One of an earlier version stays, also when something else changes.
        var fence = try Fence(
            id: 1, revision: 1, areaRevision: 1, definition { $0.name = name }, created: time(1), modified: time(1),
            revisedAt: time(1))
        _ = try fence.update(
            definition {
                $0.name = name
                $0.denoise = 5
            }, at: time(2))
        #expect(throws: FenceError.self) { try fence.update(definition { $0.name = name + "x\u{200B}" }, at: time(3)) }
    }

    @Test func aPlanHasEverythingThatIsJudged() throws {
        let zone = ZoneOffsets(first: 28_800)
        let window = try #require(WeeklyWindow(days: 31, from: 0, to: 3600))
        let fence = try made(
            definition {
                $0.name = "depot"
                $0.rule = [.enter, .stay]
                $0.stay = StayAlarmRule(after: 60, every: 30)
                $0.settle = 5
                $0.isInitialTold = true
                $0.through = false
                $0.crossingGap = 30
                $0.denoise = 50
                $0.floor = "3"
                $0.altitude = AltitudeRange(lower: 10, upper: nil)
                $0.validity = FenceValidity(from: time(5), windows: [window], zone: .named("Asia/Shanghai"))
                $0.group = "corner"
                $0.speedLimit = SpeedLimit(speed: 500, duration: 10)
                $0.watch = try FenceSubjects(["van_2", "van_1"])
            })
        var wanted = FencePlan(id: 7, shape: circle(40.0478, 116.3134, 100))
        wanted.rule = [.enter, .stay]
        wanted.stay = StayAlarmRule(after: 60, every: 30)
        wanted.settle = 5
        wanted.initial = true
        wanted.through = false
        wanted.crossingGap = 30
        wanted.denoise = 50
        wanted.floor = FloorCode(name: "3")
        wanted.altitude = AltitudeRange(lower: 10, upper: nil)
        wanted.validity = Validity(from: time(5), windows: [window], zone: zone)
        wanted.group = GroupCode(name: "corner", watch: "van_1,van_2")
        wanted.speedLimit = SpeedLimit(speed: 500, duration: 10)
        wanted.from = time(2000)
        wanted.revisedAt = time(1000)
        #expect(try fence.plan(from: time(2000), zone: zone) == wanted)
        let failure = #expect(throws: FenceError.self) { try fence.plan(from: time(2000)) }
        #expect(failure?.rule == .zone)
    }

    @Test func aZoneIsNeededForWindowsOnly() throws {
        let fence = try made(definition { $0.validity = FenceValidity(from: time(5), zone: .named("Asia/Shanghai")) })
        #expect(try fence.plan(from: time(0)).validity == Validity(from: time(5)))
        let window = try #require(WeeklyWindow(days: 1, from: 0, to: 60))
        let offset = try made(
            definition { $0.validity = FenceValidity(windows: [window], zone: .offset(3600)) })
        #expect(
            try offset.plan(from: time(0)).validity == Validity(windows: [window], zone: ZoneOffsets(first: 3600)))
    }

    @Test func numbersAreKeptAsGivenAndConvertedOnce() throws {
        // G32
        let fence = try made(FenceDefinition(draft(50, datum: .bd09)))
        #expect(fence.definition.shape == draft(50, datum: .bd09))
        #expect(fence.shape.contains(place(40.0404827, 116.3014185)))
        #expect(!fence.shape.contains(place(40.0404827, 116.3014419)))
    }

    @Test func everyRuleHasItsError() throws {
        let long = String(repeating: "é", count: 65)
        #expect(problem { $0.name = long }?.rule == .name)
        #expect(problem { $0.name = String(long.dropLast()) } == nil)
        #expect(problem { $0.floor = "" }?.rule == .floor)
        #expect(problem { $0.floor = long }?.rule == .floor)
        #expect(problem { $0.group = "" }?.rule == .group)
        #expect(problem { $0.district = "" }?.rule == .name)
        #expect(problem { $0.rule = .stay }?.rule == .stay)
        #expect(problem { $0.stay = StayAlarmRule(after: 60) }?.rule == .stay)
        #expect(problem { $0.rule = FenceRule(rawValue: 8) }?.rule == .rule)
        for settle in [-1, 604_801] { #expect(problem { $0.settle = settle }?.rule == .settle) }
        for gap in [-1, 301] { #expect(problem { $0.crossingGap = gap }?.rule == .crossingGap) }
        for denoise in [-1, 1_000_001] as [Int32] { #expect(problem { $0.denoise = denoise }?.rule == .denoise) }
        for edge in [0, 604_800] { #expect(problem { $0.settle = edge } == nil) }
        #expect(problem { $0.validity = FenceValidity(from: time(2), through: time(1)) }?.rule == .validity)
        #expect(problem { $0.validity = FenceValidity(zone: .offset(86_401)) }?.rule == .zone)
        for name in ["", "/etc/passwd", "../../etc/passwd", "a b", "Asia/", String(repeating: "a", count: 65)] {
            #expect(problem { $0.validity = FenceValidity(zone: .named(name)) }?.rule == .zone, "\(name)")
        }
        let reaction = try FenceReaction(on: .enter, parameters: "{}")
        #expect(problem { $0.reactions = [reaction, reaction] }?.rule == .reaction)
        for action in [FenceAction.overspeed, .stay] {
            #expect(problem { $0.reactions = [try FenceReaction(on: action, parameters: "{}")] }?.rule == .reaction)
        }
        #expect(throws: FenceError.self) {
            try FenceReaction(on: .enter, parameters: String(repeating: " ", count: 4097))
        }
        #expect(problem { $0.shape = draft(0) }?.rule == .shape(.radius))
        #expect(throws: FenceError.self) { try Fence(id: 0, definition(), at: time(0)) }
    }

    @Test func aRefusedShapeNamesEdgesAndPlace() {
        // G15
        let bowTie = degrees([(40.0, 116.0), (40.01, 116.01), (40.01, 116.0), (40.0, 116.01)])
        let error = problem { $0.shape = ShapeDraft(.polygon([[bowTie]])) }
        #expect(error?.rule == .shape(.crossing))
        #expect(error?.description.contains("edge 1 of the outer ring") == true, "\(String(describing: error))")
        #expect(error?.description.contains("40.005, 116.005") == true)
    }

    @Test func aChangeSaysHowMuchItChanges() throws {
        var fence = try made(definition())
        func update(_ change: (inout FenceDefinition) throws -> Void) throws -> FenceEdit {
            var next = fence.definition
            try change(&next)
            return try fence.update(next, at: fence.modified.adding(milliseconds: 1000))
        }
        #expect(try update { _ in } == .nothing)
        #expect(fence.modified == time(1000))
        #expect(try update { $0.name = "yard" } == .description)
        #expect(try update { $0.watch = try FenceSubjects(["a"]) } == .description)
        #expect(try update { $0.reactions = [try FenceReaction(on: .exit, parameters: "{}")] } == .description)
        #expect(fence.revision == 1)
        #expect(fence.modified == time(1003))
        let rules: [(inout FenceDefinition) -> Void] = [
            { $0.rule = .enter }, { $0.settle = 1 }, { $0.isInitialTold = true }, { $0.through = false },
            { $0.crossingGap = 1 }, { $0.group = "g" }, { $0.speedLimit = SpeedLimit(speed: 1, duration: 1) },
            { $0.validity = FenceValidity(from: time(1)) },
            {
                $0.rule = .stay
                $0.stay = StayAlarmRule(after: 5)
            },
        ]
        for (index, rule) in rules.enumerated() {
            #expect(try update(rule) == .rule)
            #expect(fence.revision == Int32(index + 2))
        }
        #expect(fence.revisedAt == time(1000))
        #expect(fence.areaRevision == 1)
        for area: (inout FenceDefinition) -> Void in [
            { $0.shape = draft(50) }, { $0.denoise = 30 }, { $0.floor = "caf\u{E9}" }, { $0.floor = "cafe\u{301}" },
            { $0.altitude = AltitudeRange(lower: 1, upper: 2) },
        ] {
            #expect(try update(area) == .area)
            #expect(fence.revisedAt == fence.modified)
            #expect(fence.areaRevision == fence.revision)
            #expect(try fence.plan(from: time(0)).areaRevision == fence.revision)
        }
        #expect(fence.revision == 15)
        #expect(fence.shape == circle(40.0478, 116.3134, 50))
        // The same place in other numbers
        #expect(
            try update {
                $0.shape.outline = .point(Degrees(latitude: 40.0478, longitude: 116.3134)); $0.shape.buffer = 50
            } == .description)
        let before = fence
        #expect(throws: FenceError.self) { try update { $0.shape.buffer = 0 } }
        #expect(fence == before)
    }

    @Test func aRestoredFenceIsTheSame() throws {
        var fence = try made(definition())
        _ = try fence.update(definition { $0.denoise = 3 }, at: time(1500))
        let restored = try Fence(
            id: fence.id, revision: fence.revision, areaRevision: fence.areaRevision, fence.definition,
            created: fence.created, modified: fence.modified, revisedAt: fence.revisedAt)
        #expect(restored == fence)
        for (revision, area) in [(Int32(0), Int32(0)), (0, 1), (1, 0), (2, 3), (-1, -1)] {
            #expect(throws: FenceError.self) {
                try Fence(
                    id: 1, revision: revision, areaRevision: area, definition(), created: time(0), modified: time(0),
                    revisedAt: time(0))
            }
        }
    }

    // MARK: Watch

    @Test func aWatchIsAnOrderedListOfNames() throws {
        let watch = try FenceSubjects(["b", "a", "b", "\u{E9}", "e\u{301}"])
        #expect(watch.entities.map(\.text).count == 4)
        #expect(watch.scope.utf8.elementsEqual("a,b,e\u{301},\u{E9}".utf8))
        for name in ["a", "b", "\u{E9}", "e\u{301}"] { #expect(watch.contains(name)) }
        for name in ["", "c", "ab", "0"] { #expect(!watch.contains(name)) }
        #expect(try watch.adding(["0"]).removing(["b", "\u{E9}"]).scope == "0,a,e\u{301}")
        #expect(FenceSubjects.nobody.isNobody && !FenceSubjects.everyone.isNobody && !watch.isNobody)
        #expect(FenceSubjects.everyone.contains("x") && !FenceSubjects.nobody.contains("x"))
        #expect(try FenceSubjects.everyone.adding(["a"]) == .everyone)
        #expect(throws: FenceError.self) { try FenceSubjects.everyone.removing(["a"]) }
        for name in ["", "#allentity", "a,b", String(repeating: "a", count: 129)] {
            #expect(throws: FenceError.self) { try FenceSubjects([name]) }
        }
        #expect(throws: FenceError.self) { try FenceSubjects((0...100_000).map { "\($0)" }) }
    }

    // MARK: Storms: rule 26

    @Test func aStormIsToldOnceAnHour() {
        var storm = AlarmStorm()
        func add(_ fence: Int32, _ entity: String, _ at: Double) -> Bool {
            storm.add(fence: fence, entity: entity, at: time(at))
        }
        var told: [Int] = []
        for second in 0..<7200 where second.isMultiple(of: 20) {
            if add(1, "a", Double(second)) { told.append(second) }
            if second.isMultiple(of: 60) {
                // Sixty an hour are usual; another fence, another entity.
                #expect(!add(2, "a", Double(second)))
                #expect(!add(1, "b", Double(second)))
            }
        }
        #expect(told == [1200, 4800])
    }

    @Test func anHourEndsAndAClockMayGoBack() {
        var storm = AlarmStorm()
        func add(_ fence: Int32, _ entity: String, _ at: Double) -> Bool {
            storm.add(fence: fence, entity: entity, at: time(at))
        }
        for _ in 0..<60 { #expect(!add(1, "a", 10_000)) }
        let before = storm
        #expect(!add(1, "a", 13_600))
        storm = before
        #expect(add(1, "a", 13_599.999))
        for _ in 0..<60 { #expect(!add(1, "a", 5)) }
        #expect(add(1, "a", 5))
    }

    @Test func manyPairsTakeBoundedRoom() {
        var storm = AlarmStorm()
        func add(_ fence: Int32, _ entity: String, _ at: Double) -> Bool {
            storm.add(fence: fence, entity: entity, at: time(at))
        }
        for pair in 0..<20_000 { #expect(!add(Int32(pair), "a", Double(pair))) }
        for _ in 0..<60 { _ = add(1, "b", 20_000) }
        #expect(add(1, "b", 20_000))
    }
}
