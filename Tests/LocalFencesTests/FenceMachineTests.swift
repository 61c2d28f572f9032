import AgentLogic
import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel

@testable import LocalFences

@Suite struct FenceMachineTests {
    /// A machine that gathers, whose disk takes everything at once.
    private struct Machine {
        var machine = FenceMachine()
        /// How often a fence state was written.
        var writings = 0
        var told: [String] = []
        var alarms: [LocalAlarm] = []
        var other: [FenceMachine.Action] = []

        init() { perform(machine.started(entity: "van_07", service: 7)) }

        mutating func perform(_ actions: [FenceMachine.Action]) {
            told += actions.told
            for case .judging(.alarms(.tell(let alarm, _))) in actions { alarms.append(alarm) }
            for action in actions {
                switch action {
                case .judging(.alarms(.write(let writing))):
                    writings += 1
                    let outcomes = writing.alarms.indices.map { AlarmOutbox.Written.new(UInt64($0) + 1) }
                    perform(machine.alarms { $0.written(outcomes) })
                case .judging(.alarms): break
                case .saving(.write): perform(machine.saving { $0.written() })
                case .saving, .judging(.storm), .judging(.leftOut), .judging(.notJudged): other.append(action)
                }
            }
        }

        mutating func drive(_ fixes: Fix...) {
            for fix in fixes { perform(machine.fix(fix)) }
        }

        @discardableResult
        mutating func create(_ definitions: FenceDefinition...) throws -> [Int32] {
            let (fences, actions) = try machine.create(definitions, now: clock)
            perform(actions)
            return fences
        }

        var place: FencePair.Place? { machine.status(of: "van_07").first?.status.place }
    }

    @Test func withoutFencesNothingIsWritten() throws {
        var box = Machine()
        for second in 0..<600 { box.drive(east(Int64(second), 10)) }
        #expect(box.writings == 0)
        try box.create(circle())
        box.drive(east(600, 10))
        #expect(box.writings == 1, "the vehicle is inside")
        for second in 601..<660 { box.drive(east(Int64(second), 10)) }
        #expect(box.writings == 2, "half a minute later")
        try perform(&box) { try $0.delete([1]) }
        for second in 660..<900 { box.drive(east(Int64(second), 10)) }
        #expect(box.writings == 2)
    }

    private func perform(_ box: inout Machine, _ change: (inout FenceMachine) throws -> [FenceMachine.Action]) rethrows
    {
        box.perform(try change(&box.machine))
    }

    @Test func aFenceIsJudgedFromTheNextPointOn() throws {
        var box = Machine()
        box.drive(east(0, 10), east(1, 20))
        #expect(try box.create(circle()) == [1])
        #expect(box.place == .unknown)
        // Inside already: no enter.
        box.drive(east(2, 30))
        #expect(box.place == .in)
        box.drive(east(3, 120), east(4, 140))
        box.drive(east(30, 60), east(31, 40))
        #expect(box.told == ["exit 1", "enter 1"])
    }

    @Test func theAlarmSaysEverything() throws {
        var box = Machine()
        try box.create(
            circle {
                $0.name = "depot"
                $0.reactions = [try! FenceReaction(on: .enter, parameters: #"{"message":{"content":"Gate 3"}}"#)]
            })
        box.drive(east(0, 200), east(5, 150), east(10, 80))
        let alarm = try #require(box.alarms.first)
        #expect(alarm.id == UInt64(alarm.key.pushID(to: "van_07")))
        #expect(alarm.time == 1_795_000_008_571)
        #expect(
            alarm.body
                == #"{"action":"enter","fence_id":1,"fence_name":"depot","revision":1,"monitored_person":"van_07","key":""#
                + alarm.key.text
                + #"","alarm_point":{"latitude":40,"longitude":116.0009368,"radius":5,"loc_time":1795000010},"#
                + #""pre_point":{"latitude":40,"longitude":116.0017566,"radius":5,"loc_time":1795000005},"#
                + #""crossing":{"time":1795000008571,"latitude":40,"longitude":116.001171,"estimated":true},"#
                + #""params":{"message":{"content":"Gate 3"}}}"#)
        #expect(throws: Never.self) { try JSONReader.value(of: Array(alarm.body.utf8)) }
    }

    @Test func parametersThatDoNotFitAreLeftOut() throws {
        var box = Machine()
        let long = #"{"a":""# + String(repeating: #"\u0001"#, count: 600) + #""}"#
        try box.create(
            circle {
                $0.name = String(repeating: "n", count: 128)
                $0.reactions = [try! FenceReaction(on: .enter, parameters: long)]
            })
        box.drive(east(0, 200), east(5, 150), east(10, 80))
        #expect(try #require(box.alarms.first).body.utf8.count <= LocalAlarm.mostBodyBytes)
    }

    @Test func anUpdateOfTheAreaSetsThePlaceAnewWithoutAnAlarm() throws {
        var box = Machine()
        try box.create(circle())
        box.drive(east(0, 200), east(5, 130), east(10, 60), east(15, 60))
        #expect(box.told == ["enter 1"])
        for (radius, place) in [(50.0, FencePair.Place.out), (100, .in)] {
            let (edit, actions) = try box.machine.update(1, circle(radius), now: clock)
            box.perform(actions)
            #expect(edit == .area)
            #expect(box.place == place)
        }
        box.drive(east(20, 130), east(25, 200))
        #expect(box.told == ["enter 1", "exit 1"])
        #expect(box.alarms.last?.alarm.revision == 3)
    }

    @Test func anUpdateOfTheRuleAloneKeepsThePlace() throws {
        let edits: [(inout FenceDefinition) -> Void] = [
            { $0.validity = FenceValidity(from: Timestamp(milliseconds: 0)) },
            { $0.isInitialTold = true },
            { ($0.rule, $0.stay) = ([.enter, .exit, .stay], StayAlarmRule(after: 600)) },
        ]
        for edit in edits {
            var box = Machine()
            try box.create(circle())
            // Inside, then 15 m outside: not left yet.
            box.drive(east(0, 200, speed: 3000), east(5, 60, speed: 400), east(10, 115, speed: 400))
            let (kind, actions) = try box.machine.update(1, circle(100, edit), now: clock)
            box.perform(actions)
            #expect(kind == .rule)
            #expect(box.place == .in)
            box.drive(east(15, 130, speed: 3000))
            #expect(box.told == ["enter 1", "exit 1"])
            #expect(box.alarms.map(\.alarm.revision) == [1, 2])
        }
    }

    @Test func aDeletedFenceTellsNoExitAndItsNumberIsNotUsedAgain() throws {
        var box = Machine()
        try box.create(circle())
        box.drive(east(0, 200), east(5, 130), east(10, 60))
        box.perform(try box.machine.delete([1]))
        box.drive(east(20, 130), east(25, 200))
        #expect(box.told == ["enter 1"])
        #expect(try box.create(circle()) == [2])
        #expect(throws: FenceRefusal.self) { try box.machine.delete([2, 1]) }
        #expect(box.machine.table.fences.numbers == [2])
    }

    @Test func onlyWatchedEntitiesAreJudged() throws {
        var box = Machine()
        try box.create(circle { $0.watch = try! FenceSubjects(["van_08"]) }, circle { $0.watch = .nobody })
        box.drive(east(0, 200), east(5, 130), east(10, 60))
        #expect(box.told == [])
        #expect(box.machine.status(of: "van_07").isEmpty)
        // From now on: unknown, and inside without an enter.
        let both = circle { $0.watch = try! FenceSubjects(["van_07", "van_08"]) }
        box.perform(try box.machine.update(1, both, now: clock).actions)
        box.drive(east(15, 50), east(20, 130), east(25, 200))
        #expect(box.told == ["exit 1"])
        // Watched no more while inside, and again: no exit, no enter.
        box.drive(east(40, 60))
        #expect(box.told == ["exit 1", "enter 1"])
        for watch in [FenceSubjects.nobody, .everyone] {
            box.perform(try box.machine.update(1, circle { $0.watch = watch }, now: clock).actions)
            box.drive(east(watch == .nobody ? 45 : 50, 50))
        }
        #expect(box.told == ["exit 1", "enter 1"])
        #expect(box.place == .in)
    }

    @Test func anotherEntityBeginsItsOwnStatesAndTheOldOnesStay() throws {
        var box = Machine()
        try box.create(circle())
        box.drive(east(0, 200), east(5, 130), east(10, 60))
        box.perform(box.machine.started(entity: "van_08", service: 7))
        box.drive(east(20, 300), east(25, 310))
        #expect(box.machine.status(of: "van_07").first?.status.place == .in)
        #expect(box.machine.status(of: "van_08").first?.status.place == .out)
        box.perform(box.machine.started(entity: "van_07", service: 7))
        box.drive(east(600, 310), east(605, 320))
        #expect(box.told == ["enter 1", "exit 1"])
    }

    @Test func aStopKeepsThePlaces() throws {
        var box = Machine()
        try box.create(circle())
        box.drive(east(0, 200), east(5, 130), east(10, 60))
        let stopped = box.machine.stopped()
        #expect(stopped.writing == nil || stopped.writing?.alarms == [])
        box.perform(stopped)
        box.drive(east(20, 300), east(25, 310))
        #expect(box.told == ["enter 1"])
        box.perform(box.machine.started(entity: "van_07", service: 7))
        box.drive(east(40, 60))
        #expect(box.place == .in && box.told == ["enter 1"])
    }

    @Test func aDateThatGoesBackAcrossARestartFreezesNothing() throws {
        var box = Machine()
        box.drive(east(7200, 200))
        try box.create(circle())
        box.drive(east(7205, 130), east(7210, 60))
        #expect(box.told == ["enter 1"])
        let fenceState = try #require(box.machine.fenceState(of: "van_07"))
        box.machine = FenceMachine(
            table: box.machine.table, fenceStates: [("van_07", try EntityFenceState(encoded: fenceState.encoded))])
        box.perform(box.machine.started(entity: "van_07", service: 7))
        box.drive(east(0, 60))
        #expect(box.place == .in)
        box.drive(east(5, 130), east(10, 200))
        #expect(box.told == ["enter 1", "exit 1"])
        // A fence that is made now is judged now.
        try box.create(circle(500))
        box.drive(east(15, 400), east(20, 700), east(25, 900))
        #expect(box.told == ["enter 1", "exit 1", "exit 2"])
    }

    @Test func aMemoryIsWrittenWhenAPlaceChangesAndNowAndThen() throws {
        var machine = FenceMachine()
        _ = machine.started(entity: "van_07", service: 7)
        _ = try machine.create([circle()], now: clock)
        #expect(machine.fix(east(0, 20)).writing?.alarms == [])
        _ = machine.alarms { $0.written([]) }
        #expect(machine.fix(east(1, 20)).writing == nil)
        #expect(machine.fix(east(29, 20)).writing == nil)
        #expect(machine.fix(east(30, 20)).writing?.alarms == [])
        _ = machine.alarms { $0.written([]) }
        // A first sign of leaving.
        #expect(machine.fix(east(32, 104)).writing?.alarms == [])
    }

    @Test func aStormIsSaidOnceAnHour() throws {
        var box = Machine()
        try box.create(
            circle {
                $0.rule = [.enter, .exit, .stay]
                $0.stay = StayAlarmRule(after: 5, every: 5)
            })
        box.drive(east(0, 200), east(5, 130))
        for second in 10..<500 as Range<Int64> { box.drive(east(second, 10, speed: 0)) }
        let storms = box.other.filter { if case .judging(.storm) = $0 { true } else { false } }
        #expect(storms == [.judging(.storm(fence: 1, name: "", entity: "van_07"))])
    }

    @Test func oneWriteIsBoundedAndWhatIsLeftOutIsSaid() throws {
        var limits = FenceMachine.Limits()
        limits.alarms = 5
        var box = Machine()
        box.machine = FenceMachine(limits: limits)
        box.perform(box.machine.started(entity: "van_07", service: 7))
        box.perform(try box.machine.create((0..<8).map { _ in circle() }, now: clock).actions)
        box.drive(east(0, 200), east(5, 130), east(10, 60))
        #expect(box.told.count == 5)
        #expect(box.other.contains(.judging(.leftOut(3))))
        #expect(box.machine.counters.leftOut == 3)
    }

    @Test func fencesThatCannotBeReadAreNotWrittenOver() {
        var machine = FenceMachine(unreadable: "fences.data: EIO")
        #expect(throws: FenceRefusal.self) { try machine.create([circle()], now: clock) }
        #expect(throws: FenceRefusal.self) { try machine.delete([]) }
        #expect(machine.saving.standing == .failing(reason: "fences.data: EIO"))
    }

    @Test func aNamedZoneIsAskedForAndUsed() throws {
        var box = Machine()
        let definition = circle {
            var validity = FenceValidity()
            validity.windows = [WeeklyWindow(days: 127, from: 0, to: 86_400)!]
            validity.zone = .named("Asia/Shanghai")
            $0.validity = validity
        }
        do {
            try box.create(definition)
            Issue.record("nobody knows the zone")
        } catch let refusal as FenceRefusal {
            #expect(refusal.reason == .definition(0, .zone))
        }
        box.perform(box.machine.zonesRead(["Asia/Shanghai": ZoneOffsets(first: 28_800)]))
        try box.create(definition)
        // The next process has not read the zone yet.
        box.machine = FenceMachine(
            table: LocalFenceTable(
                KeptFences(box.machine.table.all.map { try! LocalFence(number: $0.fence.id, encoded: $0.encoded) })))
        box.perform(box.machine.started(entity: "van_07", service: 7))
        #expect(box.other.contains { if case .judging(.notJudged(1, _)) = $0 { true } else { false } })
        box.perform(box.machine.zonesRead(["Asia/Shanghai": ZoneOffsets(first: 28_800)]))
        box.drive(east(0, 200), east(5, 130), east(10, 60))
        #expect(box.told == ["enter 1"])
    }

    @Test func anAssumedPlaceChangesNothing() throws {
        var box = Machine()
        try box.create(circle(50))
        // Clear of the edge, and not believed yet.
        box.drive(east(0, 20), east(5, 45), east(10, 65))
        let there = try #require(Coordinate(latitude: 40, longitude: 116 + 65 / 85_393.95))
        #expect(box.place == .in)
        let assumed = try #require(box.machine.status(of: "van_07", at: there).first?.status)
        #expect(assumed.place == .out && assumed.since == nil && assumed.time == nil)
        #expect((14.9...15.1).contains(assumed.signedDistance ?? 0))
        #expect(box.place == .in)
    }

    @Test func aListIsFiltered() throws {
        var box = Machine()
        try box.create(
            circle { $0.name = "depot" }, circle { ($0.name, $0.group) = ("gate", "yard") },
            circle { $0.watch = try! FenceSubjects(["van_08"]) })
        func found(_ change: (inout LocalFenceFilter) -> Void) -> [Int32] {
            var filter = LocalFenceFilter()
            change(&filter)
            return box.machine.list(filter).fences.map(\.fence.id)
        }
        #expect(found { _ in } == [1, 2, 3])
        #expect(found { $0.name = "depot" } == [1])
        #expect(found { $0.group = "yard" } == [2])
        #expect(found { $0.entity = "van_07" } == [1, 2])
        #expect(found { $0.fences = [3, 9] } == [3])
        #expect(found { $0.after = 1 } == [2, 3])
        var filter = LocalFenceFilter()
        filter.limit = 2
        #expect(box.machine.list(filter).isCut)
        filter.limit = 3
        #expect(!box.machine.list(filter).isCut)
    }
}
