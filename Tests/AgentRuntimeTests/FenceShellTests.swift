import AgentControl
import AlarmLog
import Geofencing
import JSON
import LocalFences
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackCache
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// An alarm of a local fence is told once, when it is on the disk, and at once when the disk does not take it.
@Suite struct FenceShellTests {
    /// Fences on a file that the test lets the disk write.
    private final class Keeper: FenceKeeper {
        let file: FenceFile
        var accepts = true
        private var waiting: [() -> Void] = []

        init(_ disk: DiskSimulation) { file = FenceFile(directory: "/state", files: disk) }

        func write(_ fences: KeptFences, nextFence: Int32, on loop: any EventLoop) -> EventLoopFuture<String?>? {
            guard accepts else { return nil }
            let promise = loop.makePromise(of: String?.self)
            waiting.append { [file] in promise.succeed(file.write(fences, nextFence: nextFence)) }
            return promise.futureResult
        }

        func read(on loop: any EventLoop) -> EventLoopFuture<RecalledFences>? {
            loop.makeSucceededFuture(RecalledFences(file))
        }

        func zones(_ names: [String], on loop: any EventLoop) -> EventLoopFuture<[String: ZoneOffsets]>? {
            loop.makeSucceededFuture(
                names.contains("Asia/Shanghai") ? ["Asia/Shanghai": ZoneOffsets(first: 28_800)] : [:])
        }

        func work() {
            let due = waiting
            waiting = []
            for operation in due { operation() }
        }
    }

    /// Work that is done when the test says.
    private final class SlowWork: LongWorkExecutor {
        var accepts = true
        private var waiting: [() -> Void] = []

        func perform<Result: Sendable>(
            on loop: any EventLoop, _ work: @escaping @Sendable () -> Result
        ) -> EventLoopFuture<Result>? {
            guard accepts else { return nil }
            let promise = loop.makePromise(of: Result.self)
            waiting.append { promise.succeed(work()) }
            return promise.futureResult
        }

        /// Does the oldest piece.
        func work() {
            if !waiting.isEmpty { waiting.removeFirst()() }
        }

        var count: Int { waiting.count }
    }

    private final class Setup {
        let log = EventRecorder()
        let slow = SlowWork()
        let bench: ShellBench
        let disk: DiskSimulation
        let journal: SlowDisk<AlarmJournal>
        let ring: SlowDisk<TrackCache>
        let keeper: Keeper
        private(set) var told: [AlarmReport] = []
        private(set) var hooks: [UInt64] = []
        private(set) var hooksOnce: [AlarmReport] = []
        private(set) var settled: [UInt64] = []
        private(set) var kept = 0
        private(set) lazy var shell = FenceShell(
            bench.context, journal: journal, ring: ring,
            store: FenceStore(
                keeper: keeper, found: RecalledFences(keeper.file), states: journal.subject.fenceStates),
            lastBefore: ring.subject.nextSequence - 1, areHooksOwed: true, longWork: slow
        ) { [unowned self] effect in
            switch effect {
            case .told(let report): told.append(report)
            case .hooksDue(let alarm): hooks.append(alarm.number)
            case .hooksDueOnce(let report): hooksOnce.append(report)
            case .hooksSettled(let number): settled.append(number)
            case .journalIs(let snapshot): kept = snapshot.kept
            }
        }

        init(_ disk: DiskSimulation = DiskSimulation(seed: 1, directories: ["/state", "/"])) throws {
            self.disk = disk
            bench = ShellBench(log: log)
            journal = SlowDisk(AlarmJournal(directory: "/state", fileSystem: disk, now: 0))
            ring = SlowDisk(try TrackCache(directory: "/cache", fileSystem: disk, now: 0))
            keeper = Keeper(disk)
            shell.open()
        }

        /// A circle of 100 m around 52 N 4 E that watches the van.
        func fence(_ name: String = "depot") throws -> Int64 {
            let definition = try FenceForms.definition(
                [
                    "name": .string(name), "watch": ["van"],
                    "shape": ["kind": "circle", "latitude": 52, "longitude": 4, "radius": 100],
                ], in: .createFence)
            return try shell.change(in: .createFence) { (machine) throws(FenceRefusal) in
                let (numbers, actions) = try machine.create([definition], now: SystemTime(milliseconds: 0))
                return (Int64(numbers[0]), actions)
            }
        }

        /// A part of an import of circles of 100 m around 52 N 4 E that watch the van.
        static func part(
            _ features: [String], number: Int64 = 0, isLast: Bool = true, name: String? = "i"
        ) -> FenceImports.Part {
            let text = features.map { feature in
                """
                {"name":"\(feature)","watch":["van"],"origin":{"file":"yards","feature":"\(feature)"},"shape":\
                {"kind":"circle","latitude":52,"longitude":4,"radius":100}}\n
                """
            }.joined()
            return .init(file: "yards", layer: nil, text: text, name: name, number: number, isLast: isLast)
        }

        static func fix(_ second: Int64, north metres: Double, speed: Int32 = 1000) throws -> Fix {
            let place = try #require(Coordinate(latitude: 52 + metres / 111_250, longitude: 4))
            return Fix(
                time: Timestamp(seconds: 1_780_000_000 + second), coordinate: place, speed: speed, accuracy: 30,
                mode: .threeDimensional)
        }

        /// From 300 m north to the middle, 10 m a second, from a second on.
        func driveIn(from second: Int64 = 0) throws {
            for step in 0...30 as ClosedRange<Int64> {
                shell.passed(try Self.fix(second + step, north: 300 - Double(step) * 10), floor: nil)
            }
        }

        func driveOut(from second: Int64) throws {
            for step in 0...30 as ClosedRange<Int64> {
                shell.passed(try Self.fix(second + step, north: Double(step) * 10), floor: nil)
            }
        }

        var actions: [String] { told.map { $0.body["action"]?.stringValue ?? "?" } }
    }

    @Test func aNamedTimeZoneIsReadBeforeItsFenceIsMade() throws {
        let setup = try Setup()
        func definition(_ zone: String) throws -> FenceDefinition {
            try FenceForms.definition(
                [
                    "shape": ["kind": "circle", "latitude": 52, "longitude": 4, "radius": 100],
                    "validity": ["windows": [["days": ["mon"], "from": 0, "to": 3600]], "zone": .string(zone)],
                ], in: .createFence)
        }
        func create(_ zone: String) throws {
            let read = try definition(zone)
            setup.bench.loop.run()
            _ = try setup.shell.change(in: .createFence) { (machine) throws(FenceRefusal) in
                let (numbers, actions) = try machine.create([read], now: SystemTime(milliseconds: 0))
                return (numbers, actions)
            }
        }
        #expect(setup.shell.learnZones(of: [try definition("UTC"), try definition("Asia/Shanghai")]) != nil)
        try create("Asia/Shanghai")
        // What is known is not asked for again.
        #expect(setup.shell.learnZones(of: [try definition("Asia/Shanghai")]) == nil)
        #expect(setup.shell.learnZones(of: [try definition("Asia/Nowhere")]) != nil)
        #expect(throws: AgentControlError.self) { try create("Asia/Nowhere") }
    }

    @Test func anAlarmIsToldWhenItIsOnTheDisk() throws {
        let setup = try Setup()
        _ = try setup.fence()
        setup.shell.started(entity: "van", service: 1)
        try setup.driveIn()
        #expect(setup.told.isEmpty && setup.hooks.isEmpty)
        // A note of the first memory goes before.
        for _ in 0..<3 { setup.journal.work() }
        #expect(setup.actions == ["enter"] && setup.hooks == [1] && setup.kept == 1)
        let report = try #require(setup.told.first)
        #expect(report.number == 1 && report.durable == nil && report.type == 4 && report.entity == "van")
        #expect(report.id != nil && report.body["fence_name"] == "depot")
        #expect(report.time.map { ($0 - 1_780_000_020_000).magnitude < 200 } == true)
        #expect(setup.log.ids.contains(MessageID.alarmReceived.description))
        let status = setup.shell.status(of: "van")
        #expect((status.kept, status.watching, status.inside, status.alarms, status.waiting) == (1, 1, 1, 1, 0))
        #expect(status.lastAlarmTime == report.time)
    }

    /// The van has entered a fence durably and left it while the disk refuses.
    private func refusedExit() throws -> Setup {
        let setup = try Setup()
        _ = try setup.fence()
        setup.shell.started(entity: "van", service: 1)
        try setup.driveIn()
        for _ in 0..<3 { setup.journal.work() }
        setup.journal.accepts = false
        try setup.driveOut(from: 100)
        return setup
    }

    @Test func anAlarmThatTheDiskRefusesIsToldAtOnceAndWrittenLater() throws {
        let setup = try refusedExit()
        #expect(
            setup.actions == ["enter", "exit"] && setup.told.last?.durable == false && setup.told.last?.number == 0)
        #expect(setup.hooksOnce.count == 1 && setup.hooks == [1] && setup.kept == 1)
        #expect(setup.shell.status(of: "van").lastError?.contains("the disk hangs") == true)
        #expect(setup.log.ids.contains(MessageID.alarmJournalFailed.description))
        setup.journal.accepts = true
        setup.bench.loop.advanceTime(by: .seconds(60))
        for _ in 0..<3 { setup.journal.work() }
        #expect(setup.kept == 2 && setup.told.count == 2 && setup.hooksOnce.count == 1)
        #expect(setup.shell.status(of: "van").lastError == nil && setup.shell.status(of: "van").waiting == 0)
    }

    /// The disk works again while the alarm waits for its next attempt: the end of the process is one.
    @Test func anAlarmThatTheDiskRefusedIsWrittenWhenTheAgentStops() throws {
        let setup = try refusedExit()
        #expect(setup.kept == 1 && setup.told.last?.durable == false)
        setup.journal.accepts = true
        setup.shell.shutDown()
        for _ in 0..<3 { setup.journal.work() }
        #expect(setup.kept == 2 && setup.told.count == 2 && setup.hooksOnce.count == 1)
        setup.keeper.work()
        setup.disk.killProcess()
        let after = try Setup(setup.disk)
        after.shell.started(entity: "van", service: 1)
        after.ring.work()
        for second in 131...134 as ClosedRange<Int64> {
            after.shell.passed(try Setup.fix(second, north: 300), floor: nil)
        }
        for _ in 0..<3 { after.journal.work() }
        #expect(after.told.isEmpty)
    }

    @Test func aDiskThatHangsIsNotWaitedFor() throws {
        let setup = try Setup()
        _ = try setup.fence()
        setup.shell.started(entity: "van", service: 1)
        try setup.driveIn()
        #expect(setup.told.isEmpty)
        // The note hangs first: the alarm behind it is not on its way yet. Both have the disk's patience.
        setup.journal.work()
        setup.bench.loop.advanceTime(by: .seconds(3))
        #expect(setup.actions == ["enter"] && setup.told.first?.durable == false)
        for _ in 0..<3 { setup.journal.work() }
        #expect(setup.kept == 1 && setup.told.count == 1 && setup.settled == [1])
    }

    @Test func aRestartKeepsFencesAndPlaces() throws {
        let before = try Setup()
        let number = try before.fence()
        before.keeper.work()
        before.shell.started(entity: "van", service: 1)
        try before.driveIn()
        for _ in 0..<4 { before.journal.work() }
        #expect(before.actions == ["enter"])
        before.disk.killProcess()
        let after = try Setup(before.disk)
        #expect(after.shell.current.book.fences.numbers.map { Int64($0) } == [number])
        after.shell.started(entity: "van", service: 1)
        after.ring.work()
        try after.driveOut(from: 100)
        for _ in 0..<4 { after.journal.work() }
        #expect(after.actions == ["exit"])
        #expect(after.told.first?.number == 2)
    }

    @Test func pointsThatTheProcessBeforeGatheredAreJudgedBeforeLaterFixes() throws {
        let before = try Setup()
        _ = try before.fence()
        before.keeper.work()
        before.shell.started(entity: "van", service: 1)
        before.shell.passed(try Setup.fix(0, north: 300), floor: nil)
        before.shell.stopped()
        for _ in 0..<4 { before.journal.work() }
        // Later points are in the ring, and no fence has judged them.
        for second in 1...6 as ClosedRange<Int64> {
            let point = TrackPoint(try Setup.fix(second * 5, north: 300 - Double(second) * 50))
            _ = before.ring.subject.append(
                entity: "van", time: point.fix.time.milliseconds, payload: PointRecord.encode(point), now: 0)
        }
        before.ring.subject.close(now: 0)
        before.disk.killProcess()
        let after = try Setup(before.disk)
        after.shell.started(entity: "van", service: 1)
        after.shell.passed(try Setup.fix(31, north: 10), floor: nil)
        for _ in 0..<3 { after.journal.work() }
        #expect(after.told.isEmpty)
        after.ring.work()
        for _ in 0..<3 { after.journal.work() }
        #expect(after.actions == ["enter"])
        // The crossing is where the points were, 100 m from the middle.
        #expect(after.told.first?.time.map { ($0 - 1_780_000_020_000).magnitude < 300 } == true)
    }

    /// The disk has no time, or refuses, when the agent begins: the points of before are judged as soon as it shows them.
    @Test(arguments: [false, true]) func pointsOfBeforeAreJudgedAlsoWhenTheDiskShowsThemLate(hangs: Bool) throws {
        let before = try Setup()
        _ = try before.fence()
        before.keeper.work()
        before.shell.started(entity: "van", service: 1)
        before.shell.passed(try Setup.fix(0, north: 300), floor: nil)
        before.shell.stopped()
        for _ in 0..<4 { before.journal.work() }
        for second in 1...6 as ClosedRange<Int64> {
            let point = TrackPoint(try Setup.fix(second * 5, north: 300 - Double(second) * 50))
            _ = before.ring.subject.append(
                entity: "van", time: point.fix.time.milliseconds, payload: PointRecord.encode(point), now: 0)
        }
        before.ring.subject.close(now: 0)
        before.disk.killProcess()
        let after = try Setup(before.disk)
        after.ring.accepts = !hangs
        if !hangs { after.disk.faults = [DiskFault([.read], number: 5)] }
        after.shell.started(entity: "van", service: 1)
        after.ring.work()
        // A fix that is inside already: without the points of before nobody knows where the way in was.
        after.shell.passed(try Setup.fix(31, north: 10), floor: nil)
        for _ in 0..<3 { after.journal.work() }
        #expect(after.told.isEmpty)
        after.ring.accepts = true
        after.disk.faults = []
        for _ in 0..<8 {
            after.bench.loop.advanceTime(by: .milliseconds(500))
            after.ring.work()
        }
        for _ in 0..<3 { after.journal.work() }
        #expect(after.actions == ["enter"])
        #expect(after.told.first?.time.map { ($0 - 1_780_000_020_000).magnitude < 300 } == true)
    }

    @Test func fixesDoNotWaitForARingThatHangs() throws {
        let before = try Setup()
        _ = try before.fence()
        before.keeper.work()
        before.shell.started(entity: "van", service: 1)
        before.shell.passed(try Setup.fix(0, north: 300), floor: nil)
        before.shell.stopped()
        for _ in 0..<4 { before.journal.work() }
        before.disk.killProcess()
        let after = try Setup(before.disk)
        after.shell.started(entity: "van", service: 1)
        try after.driveIn(from: 10)
        after.bench.loop.advanceTime(by: .seconds(6))
        for _ in 0..<4 { after.journal.work() }
        #expect(after.actions == ["enter"])
        // The ring's answer comes too late for anything.
        after.ring.work()
        for _ in 0..<4 { after.journal.work() }
        #expect(after.actions == ["enter"])
    }

    @Test func aChangeIsAnsweredByWhatTheDiskSays() throws {
        let setup = try Setup()
        _ = try setup.fence("one")
        let durable = setup.shell.whenDurable(in: .createFence)
        #expect(setup.bench.outcome(durable) == nil)
        setup.keeper.work()
        #expect(try setup.bench.outcome(durable)?.get() == true)
        // Slow.
        _ = try setup.fence("two")
        let slow = setup.shell.whenDurable(in: .createFence)
        setup.bench.loop.advanceTime(by: .milliseconds(50))
        #expect(try setup.bench.outcome(slow)?.get() == false)
        setup.keeper.work()
        // Full.
        setup.disk.capacity = setup.disk.usedBytes
        _ = try setup.fence("three")
        let full = setup.shell.whenDurable(in: .createFence)
        setup.keeper.work()
        #expect(setup.bench.refusal(full) == .notRemembered)
        #expect(setup.shell.status(of: "van").remembered.state == .failing)
        #expect(setup.log.ids.contains(MessageID.stateNotRemembered.description))
        setup.disk.capacity = nil
        setup.bench.loop.advanceTime(by: .seconds(2))
        setup.keeper.work()
        #expect(setup.shell.status(of: "van").remembered.state == .durable)
        #expect(RecalledFences(setup.keeper.file).fences.count == 3)
        // Hung: too much waits already.
        setup.keeper.accepts = false
        _ = try setup.fence("four")
        #expect(setup.bench.refusal(setup.shell.whenDurable(in: .createFence)) == .notRemembered)
        #expect(setup.shell.current.book.fences.count == 4)
    }

    @Test func aDamagedFileLeavesTheSoundFencesAndIsTold() throws {
        let before = try Setup()
        _ = try before.fence("one")
        _ = try before.fence("two")
        before.keeper.work()
        before.keeper.work()
        let path = before.keeper.file.path
        let size = try #require(before.disk.contents(of: path)?.count)
        before.disk.flip(bit: 0, at: size - 1, of: path)
        before.disk.killProcess()
        let after = try Setup(before.disk)
        #expect(after.shell.current.book.fences.count == 1)
        #expect(after.log.ids == [MessageID.stateNotRemembered.description])
        // Nobody changes a fence, and the next process finds what was left, too.
        after.keeper.work()
        after.disk.killProcess()
        let last = try Setup(after.disk)
        #expect(last.shell.current.book.fences.count == 1)
        #expect(last.log.ids.isEmpty)
        // The number of the lost fence is not given again.
        #expect(try last.fence("three") == 3)
    }

    // MARK: Imports

    /// Points do not wait for a text of many megabytes.
    @Test func fixesAreJudgedWhileAnImportIsReadAndWorkedOut() throws {
        let setup = try Setup()
        setup.shell.started(entity: "van", service: 7)
        _ = try setup.fence("old")
        let first = setup.shell.take(Setup.part(["a"], isLast: false))
        let second = setup.shell.take(Setup.part(["b"], number: 1))
        #expect(setup.bench.outcome(first) == nil && setup.slow.count == 2)
        // The parts are read in the order in which they came.
        setup.slow.work()
        #expect(try setup.bench.outcome(first)?.get() == .part(lines: 1) && setup.bench.outcome(second) == nil)
        try setup.driveIn()
        for _ in 0..<4 { setup.journal.work() }
        #expect(setup.actions == ["enter"])
        setup.slow.work()
        guard case .whole(let whole)? = try setup.bench.outcome(second)?.get() else {
            Issue.record("the import is not whole")
            return
        }
        let imported = setup.shell.importing(whole)
        #expect(setup.bench.outcome(imported) == nil && setup.shell.current.book.fences.count == 1)
        try setup.driveOut(from: 40)
        for _ in 0..<4 { setup.journal.work() }
        #expect(setup.actions == ["enter", "exit"])
        // Somebody makes a fence meanwhile: the import is worked out once more, and both are there.
        _ = try setup.fence("meanwhile")
        setup.slow.work()
        #expect(setup.bench.outcome(imported) == nil && setup.slow.count == 1)
        setup.slow.work()
        #expect(try setup.bench.outcome(imported)?.get().created.count == 2)
        #expect(setup.shell.current.book.fences.count == 4)
        try setup.driveIn(from: 100)
        for _ in 0..<4 { setup.journal.work() }
        #expect(Set(setup.actions.dropFirst(2)) == ["enter"], "\(setup.actions)")
    }

    @Test func anImportThatIsRefusedChangesNothing() throws {
        let setup = try Setup()
        let taken = setup.shell.take(.init(file: "yards", layer: nil, text: "{}", name: nil, number: 0, isLast: true))
        setup.slow.work()
        #expect(setup.bench.refusal(taken) == .parameterError)
        let late = setup.shell.take(Setup.part(["a"], number: 3))
        setup.slow.work()
        #expect(setup.bench.refusal(late) == .parameterError)
        setup.slow.accepts = false
        #expect(setup.bench.refusal(setup.shell.take(Setup.part(["a"]))) == .busy)
        #expect(setup.shell.current.book.fences.isEmpty)
    }

    /// Whoever changes fences again and again does not keep an import from its end.
    @Test func anImportEndsHoweverOftenFencesChange() throws {
        let setup = try Setup()
        let taken = setup.shell.take(Setup.part(["a"], name: nil))
        setup.slow.work()
        guard case .whole(let whole)? = try setup.bench.outcome(taken)?.get() else {
            Issue.record("the import is not whole")
            return
        }
        let imported = setup.shell.importing(whole)
        var changes = 0
        while setup.slow.count > 0, changes < 20 {
            _ = try setup.fence("\(changes)")
            changes += 1
            setup.slow.work()
        }
        #expect(try setup.bench.outcome(imported)?.get().created.count == 1 && changes < 20)
        #expect(setup.shell.current.book.fences.count == changes + 1)
    }
}
