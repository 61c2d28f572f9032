import AlarmLog
import DiskRing
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import SystemSimulation

/// The model of alarms must be able to say no: here it looks at the real journal, of which something untrue is said.
@Suite struct AlarmModelTests {
    private static let path = SimulatedAlarms.path
    private static let limit = AlarmJournal.Options.limits.lowerBound

    private final class World {
        let disk = DiskSimulation(seed: 1, directories: ["/var"])
        private(set) var journal: AlarmJournal
        var model = AlarmModel(seed: 7, limit: AlarmModelTests.limit, retention: 1_000_000, areHooksRun: true)
        var serverTime: Int64 = 1000
        /// No time passes for the journal.
        private static let time = MonotonicTime(milliseconds: 0)
        private var message: Int64 = 0

        init(hooks: [String] = ["a"], isShared: Bool = false) throws {
            journal = Self.open(disk)
            if isShared {
                model = AlarmModel(
                    seed: 7, limit: AlarmModelTests.limit, retention: 1_000_000, areHooksRun: true, isShared: true)
            }
            try model.processStarts(nil, durable: nil, hooks: hooks, now)
            try look()
        }

        private static func open(_ disk: DiskSimulation) -> AlarmJournal {
            AlarmJournal(
                directory: "/var", options: .init(limit: AlarmModelTests.limit, retention: 1_000_000), fileSystem: disk,
                now: time)
        }

        var now: AlarmModel.Circumstances {
            AlarmModel.Circumstances(serverTime: serverTime, isDiskTroubled: false, hasGivenUp: false)
        }

        /// A push that the server has sent.
        func push(length: Int = 10, at time: Int64 = 1000, type: UInt32 = 65) throws -> NewAlarm {
            let (serial, push) = model.pushes.make(
                type: type, length: length, targets: .entities(["van"]), lifetime: 1000, at: time)
            message += 1
            let pending = PendingPush(
                id: UInt64(serial) + 1, message: message, type: type, body: push.body,
                created: Timestamp(milliseconds: time))
            let out = try model.pushes.handOut(pending, to: "van", at: time)
            try model.sent(out.id)
            return NewAlarm(id: out.id, type: type, entity: "van", time: time, received: 0, body: push.body)
        }

        func append(_ alarm: NewAlarm, isOwed: Bool = true) throws {
            _ = try journal.append(alarm, isOwed: isOwed, now: Self.time)
            try look()
        }

        func look(at bytes: [UInt8]? = nil) throws {
            let path = AlarmModelTests.path
            try model.observe(
                bytes ?? disk.contents(of: path), durable: disk.durableContents(of: path), last: journal.lastNumber, now
            )
        }

        func restart(_ bytes: [UInt8]? = nil) throws {
            let found = bytes ?? disk.contents(of: AlarmModelTests.path)
            try model.processStarts(found, durable: found, hooks: ["a"], now)
            journal = Self.open(disk)
            try look()
        }
    }

    @Test func whatIsRightIsRight() throws {
        let world = try World()
        for number in 1...3 as ClosedRange<UInt64> {
            let push = try world.push()
            try world.append(push)
            try world.model.acknowledged(push.id)
            try world.model.told(push.id, number: number)
            try world.model.hookStarts("a", alarm: number, body: push.body)
            world.model.hookEnds("a", alarm: number)
            world.journal.finish(number)
            try world.look()
        }
        #expect(world.model.owed == 0)
        world.disk.crash(seed: 1)
        try world.restart()
        world.disk.killProcess()
        try world.restart()
        #expect(world.model.journaled == 3)
    }

    /// Alarms of fences are in the same journal, and are somebody else's.
    @Test func amongAlarmsOfFencesMessagesAreWatchedAllTheSame() throws {
        let world = try World(isShared: true)
        let fence = NewAlarm(id: 77, type: 3, entity: "van", time: 1000, received: 0, body: "{}")
        try world.append(fence)
        let push = try world.push()
        try world.append(push)
        #expect(!world.model.has(1) && world.model.has(2))
        try world.model.acknowledged(push.id)
        try world.model.told(push.id, number: 2)
        try world.append(NewAlarm(id: 78, type: 3, entity: "van", time: 1000, received: 0, body: "{}"))
        #expect(world.model.owed == 1 && world.model.journaled == 1)
        #expect(throws: Violation.self) { try world.model.acknowledged(77) }
        let empty = Array(try #require(world.disk.contents(of: Self.path)).prefix(24))
        #expect(throws: Violation.self) { try world.look(at: empty) }
        let other = try World()
        #expect(throws: Violation.self) { try other.append(fence) }
    }

    @Test func anAcknowledgementNeedsTheDisk() throws {
        let world = try World()
        let push = try world.push()
        #expect(throws: Violation.self) { try world.model.acknowledged(push.id) }
        world.disk.faults = [DiskFault([.synchronizeData], number: 5)]
        #expect(throws: CacheFileError.self) { try world.append(push) }
        try world.look()
        // It can be read, and it is not durable.
        #expect(throws: Violation.self) { try world.model.acknowledged(push.id) }
        #expect(throws: Violation.self) { try world.model.told(push.id, number: 1) }
        world.disk.faults = []
        try world.append(push)
        try world.model.acknowledged(push.id)
        #expect(throws: Violation.self) { try world.model.acknowledged(4711) }
    }

    @Test func whatWasAcknowledgedStays() throws {
        let world = try World()
        let push = try world.push()
        try world.append(push)
        try world.model.acknowledged(push.id)
        let empty = Array(try #require(world.disk.contents(of: Self.path)).prefix(24))
        #expect(throws: Violation.self) { try world.look(at: empty) }
        let other = try World()
        let lost = try other.push()
        try other.append(lost)
        try other.model.acknowledged(lost.id)
        #expect(throws: Violation.self) { try other.restart(empty) }
    }

    @Test func anAlarmIsToldOnceAndInOrder() throws {
        let world = try World()
        let (first, second) = (try world.push(), try world.push())
        try world.append(first)
        try world.append(second)
        #expect(throws: Violation.self) { try world.model.told(first.id, number: 2) }
        try world.model.told(second.id, number: 2)
        #expect(throws: Violation.self) { try world.model.told(first.id, number: 1) }
        #expect(throws: Violation.self) { try world.model.told(second.id, number: 2) }
        let (third, fourth) = (try world.push(), try world.push())
        try world.append(fourth)
        // Nothing was refused: a later message has overtaken it.
        #expect(throws: Violation.self) { try world.append(third) }
    }

    @Test func anOperatorsMessageGoesBeforeWhatVehiclesCause() throws {
        let world = try World()
        let (fence, operators) = (try world.push(type: PushRules.fenceAlarm), try world.push())
        try world.append(operators)
        try world.append(fence)
        let (third, fourth) = (try world.push(type: PushRules.fenceAlarm), try world.push(type: PushRules.fenceAlarm))
        try world.append(fourth)
        #expect(throws: Violation.self) { try world.append(third) }
    }

    @Test func whatNobodySentIsNoAlarm() throws {
        let world = try World()
        let stranger = NewAlarm(id: 5, type: 65, entity: "van", time: 1000, received: 0, body: "{}")
        #expect(throws: Violation.self) { try world.append(stranger) }
        let changed = try World()
        var push = try changed.push()
        push.body += " "
        let wrong = push
        #expect(throws: Violation.self) { try changed.append(wrong) }
    }

    @Test func hooksAreOwedUntilTheyEnd() throws {
        let world = try World()
        try world.append(try world.push())
        world.journal.finish(1)
        #expect(throws: Violation.self) { try world.look() }
        let notOwed = try World()
        let push = try notOwed.push()
        #expect(throws: Violation.self) { try notOwed.append(push, isOwed: false) }
    }

    @Test func aDurableEndIsNotForgotten() throws {
        let world = try World()
        try world.append(try world.push())
        let before = try #require(world.disk.contents(of: Self.path))
        try world.model.hookStarts("a", alarm: 1, body: nil)
        world.model.hookEnds("a", alarm: 1)
        world.journal.finish(1)
        try world.look()
        // An end that was not synchronised may be lost.
        var lenient = world.model
        try lenient.processStarts(before, durable: before, hooks: ["a"], world.now)
        try world.append(try world.push())
        #expect(throws: Violation.self) { try world.restart(before) }
    }

    @Test func aHookRunsOnceInAProcessAndInOrder() throws {
        let world = try World(hooks: ["a", "b"])
        for _ in 0..<3 { try world.append(try world.push()) }
        try world.model.hookStarts("a", alarm: 2, body: nil)
        #expect(throws: Violation.self) { try world.model.hookStarts("a", alarm: 3, body: nil) }
        world.model.hookEnds("a", alarm: 2)
        #expect(throws: Violation.self) { try world.model.hookStarts("a", alarm: 2, body: nil) }
        #expect(throws: Violation.self) { try world.model.hookStarts("a", alarm: 1, body: nil) }
        #expect(throws: Violation.self) { try world.model.hookStarts("a", alarm: 9, body: nil) }
        #expect(throws: Violation.self) { try world.model.hookStarts("b", alarm: 1, body: "{}") }
        // One of two hooks is not all.
        world.journal.finish(2)
        #expect(throws: Violation.self) { try world.look() }
    }

    @Test func theBoundLeavesTraces() throws {
        let world = try World()
        var ids: [UInt64] = []
        for number in 1...30 as ClosedRange<UInt64> {
            let push = try world.push(length: 4000)
            ids.append(push.id)
            try world.append(push)
            try world.model.acknowledged(push.id)
            try world.model.hookStarts("a", alarm: number, body: nil)
            world.model.hookEnds("a", alarm: number)
            world.journal.finish(number)
            try world.look()
        }
        #expect(world.model.dropped > 5)
        // The same without a reason: a file of the end, and a model that knows all of it.
        let full = try #require(world.disk.contents(of: Self.path))
        let fewer = try World()
        for index in 0..<3 {
            let push = try fewer.push(length: 4000)
            #expect(push.id == ids[index])
            try fewer.append(push)
        }
        #expect(throws: Violation.self) { try fewer.look(at: full) }
    }

    @Test func aPushIsQueuedOnceAndDeliveredWhenAnAgentSaysSo() throws {
        var pushes = PushModel(seed: 1)
        let (_, push) = pushes.make(type: 65, length: 3, targets: .entities(["van"]), lifetime: 1000, at: 0)
        var pending = PendingPush(id: 9, message: 4, type: 65, body: push.body, created: Timestamp(milliseconds: 0))
        let out = try pushes.handOut(pending, to: "van", at: 0)
        #expect(try pushes.handOut(pending, to: "van", at: 0).id == out.id)
        #expect(pushes.inner(out.id) == 9)
        let known = pending
        #expect(throws: Violation.self) { try pushes.handOut(known, to: "bus", at: 0) }
        #expect(throws: Violation.self) { try pushes.settle(out.id) }
        pending.message = 5
        let twice = pending
        #expect(throws: Violation.self) { try pushes.handOut(twice, to: "van", at: 0) }
    }

    @Test func historiesHaveAlarms() {
        var total = HistorySummary()
        for seed in UInt64(800)..<814 {
            let outcome = History(seed: seed, options: HistoryOptions(hours: 0.5, storePowerShare: 10, pushShare: 50))
                .run()
            #expect(outcome.violation == nil, "seed \(seed)")
            total.add(outcome.summary)
        }
        #expect(total.pushes > 30 && total.hookRuns > 30)
    }
}
