import AgentRuntime
import AlarmLog
import DiskRing
import Geodesy
import Geofencing
import LocalFences
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import SystemSimulation

/// The models of fences must be able to say no: here something untrue is said to them.
@Suite struct FenceModelTests {
    private static let start: Int64 = 1_800_000_000_000

    /// A fix so many metres east of 40.0, 116.0, so many seconds after a beginning.
    private static func fix(_ second: Int64, _ metres: Double) throws -> Fix {
        let place = try #require(Coordinate(latitude: 40, longitude: 116 + metres / 85_393.95))
        return Fix(
            time: Timestamp(milliseconds: start + second * 1000), coordinate: place, speed: 1000, accuracy: 50,
            mode: .threeDimensional)
    }

    private static let circle: FenceDefinition = {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 100)))
        definition.watch = .everyone
        return definition
    }()

    private static func seconds(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    // MARK: Own fences

    /// A vehicle that has driven into a fence of its own in ten seconds.
    private func visitor() throws -> (model: OwnFenceModel, alarm: UInt64) {
        var model = OwnFenceModel()
        try model.processStarts(LoadedLocalFences(), fenceStates: [:], ring: [])
        model.started("van", at: Self.seconds(0), known: [])
        model.fix(try Self.fix(0, 200), at: Self.seconds(0), known: [])
        _ = model.create(Self.circle, at: Self.seconds(0))
        for second in 1...10 {
            model.fix(
                try Self.fix(Int64(second), 200 - 20 * Double(second)), at: Self.seconds(Int64(second)), known: [])
        }
        return (model, try #require(model.expected.first?.id))
    }

    @Test func anAlarmIsToldOnceAndInTime() throws {
        var (model, alarm) = try visitor()
        try model.checkTold(at: Self.seconds(12))
        #expect(throws: Violation.self) {
            var late = model
            try late.checkTold(at: Self.seconds(40))
        }
        #expect(throws: Violation.self) {
            var other = model
            try other.told(alarm ^ 1, "another alarm", at: Self.seconds(12))
            try other.checkExplained(at: Self.seconds(13))
        }
        try model.told(alarm, "the alarm", at: Self.seconds(12))
        try model.checkExplained(at: Self.seconds(13))
        try model.checkTold(at: Self.seconds(40))
        #expect(throws: Violation.self) { try model.told(alarm, "the alarm", at: Self.seconds(41)) }
    }

    /// The end of gathering gives the fix that the agent held: the alarm comes first.
    @Test func anAlarmMayComeBeforeItsFixInOneMoment() throws {
        let alarm = try visitor().alarm
        var model = OwnFenceModel()
        try model.processStarts(LoadedLocalFences(), fenceStates: [:], ring: [])
        model.started("van", at: Self.seconds(0), known: [])
        model.fix(try Self.fix(0, 200), at: Self.seconds(0), known: [])
        _ = model.create(Self.circle, at: Self.seconds(0))
        try model.told(alarm, "the alarm", at: Self.seconds(10))
        try model.checkTold(at: Self.seconds(10))
        for second in 1...10 {
            model.fix(try Self.fix(Int64(second), 200 - 20 * Double(second)), at: Self.seconds(10), known: [])
        }
        try model.checkExplained(at: Self.seconds(40))
        try model.checkTold(at: Self.seconds(40))
        #expect(throws: Violation.self) { try model.told(alarm, "the alarm", at: Self.seconds(41)) }
    }

    @Test func aMemoryWithoutItsAlarmIsFound() throws {
        var (model, alarm) = try visitor()
        let time = Self.start + 10_000
        try model.remembered("van", through: Self.start, with: [])
        #expect(throws: Violation.self) {
            var other = model
            try other.remembered("van", through: time, with: [])
        }
        try model.remembered("van", through: time, with: [alarm])
        // Hours later the bound of the journal has dropped the alarm, and its trace after it.
        try model.remembered("van", through: time, with: [])
    }

    @Test func aFenceThatWasCalledDurableComesBack() throws {
        var model = OwnFenceModel()
        try model.processStarts(LoadedLocalFences(), fenceStates: [:], ring: [])
        let change = model.create(Self.circle, at: Self.seconds(0))
        var forgetful = model
        try forgetful.processStarts(LoadedLocalFences(), fenceStates: [:], ring: [])
        model.durable(change)
        #expect(throws: Violation.self) { try model.processStarts(LoadedLocalFences(), fenceStates: [:], ring: []) }
    }

    // MARK: The journal

    private final class World {
        let disk = DiskSimulation(seed: 1, directories: ["/var"])
        let journal: AlarmJournal
        var model: FindingModel
        private static let time = MonotonicTime(milliseconds: 0)

        init(limit: Int = 1 << 20) throws {
            model = FindingModel(limit: limit, areHooksRun: true)
            journal = AlarmJournal(
                directory: "/var", options: AlarmJournal.Options(limit: limit), fileSystem: disk, now: Self.time)
            try model.processStarts(nil, durable: nil, hooks: ["a"])
            try look()
        }

        func look() throws {
            try model.observe(
                disk.contents(of: SimulatedAlarms.path), durable: disk.durableContents(of: SimulatedAlarms.path),
                last: journal.lastNumber, FindingModel.Circumstances())
        }

        func append(_ id: UInt64, remembering time: Int64, isEarly: Bool = false) throws {
            let alarm = NewAlarm(
                id: id, type: isEarly ? 3 : 4, entity: "van", time: 1000, received: 0, body: "{}",
                fence: AlarmFence(fence: 1, action: .enter),
                early: isEarly ? EarlyAlarmPoint(stream: StreamID(high: 1, low: 2), sequence: 7) : nil)
            let state = JournalFenceState(entity: "van", time: time, fenceState: [1], service: isEarly ? 1 : nil)
            _ = try journal.append(
                FenceJournalRecord(alarms: [.init(content: alarm, isOwed: true)], state: state), now: Self.time)
            try look()
        }
    }

    @Test func anAlarmIsToldWhenItIsDurableAndNotAgain() throws {
        let world = try World()
        #expect(throws: Violation.self) {
            try world.model.told(5, number: 1, type: 4, isEarly: false, "the alarm")
        }
        try world.append(5, remembering: 2000)
        try world.model.told(5, number: 1, type: 4, isEarly: false, "the alarm")
        try world.model.processStarts(
            world.disk.contents(of: SimulatedAlarms.path),
            durable: world.disk.durableContents(of: SimulatedAlarms.path),
            hooks: ["a"])
        #expect(throws: Violation.self) {
            try world.model.told(5, number: 1, type: 4, isEarly: false, "the alarm")
        }
        #expect(world.model.owed == 1)
    }

    /// What the bound of all traces has taken, the journal does not know: a push that the server repeats is told again, by the next
    /// process and by this one.
    @Test(arguments: [true, false]) func anAlarmWhoseTraceTheBoundTookMayBeToldAgain(isNextProcess: Bool) throws {
        let world = try World(limit: AlarmJournal.Options.limits.lowerBound)
        for id in 1...1000 as ClosedRange<UInt64> {
            try world.append(id, remembering: 2000)
            world.journal.finish(id)
            try world.look()
            try world.model.told(id, number: id, type: 4, isEarly: false, "the alarm")
        }
        if isNextProcess {
            try world.model.processStarts(
                world.disk.contents(of: SimulatedAlarms.path),
                durable: world.disk.durableContents(of: SimulatedAlarms.path), hooks: ["a"])
        }
        let bytes = try #require(world.disk.contents(of: SimulatedAlarms.path))
        let traces = try #require(AlarmFile(bytes)).traces.map(\.id).sorted()
        let oldest: UInt64 = try #require(traces.first)
        #expect((2..<1000).contains(oldest))
        for id in [oldest, 1000] {
            #expect(throws: Violation.self) {
                try world.model.told(id, number: 0, type: 4, isEarly: false, "the alarm")
            }
        }
        try world.model.told(1, number: 0, type: 4, isEarly: false, "the alarm")
    }

    @Test func anAlarmWithAnOlderMemoryIsFound() throws {
        let world = try World()
        #expect(throws: Violation.self) { try world.append(5, remembering: 999) }
    }

    @Test func aPushIsAcknowledgedWhenItsConfirmationIsDurable() throws {
        let world = try World()
        try world.append(5, remembering: 2000, isEarly: true)
        #expect(throws: Violation.self) { try world.model.acknowledged(5) }
        #expect(world.model.open(of: "van").count == 1)
        _ = try world.journal.append(
            NewAlarm(id: 5, type: 3, entity: "van", time: 1000, received: 0, body: "{}"), isOwed: true,
            now: MonotonicTime(milliseconds: 0))
        try world.look()
        try world.model.acknowledged(5)
        #expect(world.model.open(of: "van").isEmpty)
    }

    @Test func aPushThatNobodySentIsFound() throws {
        let world = try World()
        let push = NewAlarm(id: 9, type: 3, entity: "van", time: 1000, received: 0, body: "{}")
        _ = try world.journal.append(push, isOwed: true, now: MonotonicTime(milliseconds: 0))
        #expect(throws: Violation.self) { try world.look() }
        let other = try World()
        other.model.sent(9)
        _ = try other.journal.append(push, isOwed: true, now: MonotonicTime(milliseconds: 0))
        try other.look()
    }

    @Test func aPushOfNoAlarmIsFound() throws {
        let push = PendingPush(id: 9, message: 1, type: 3, body: "{}", created: Timestamp(milliseconds: 0))
        let serverFenceModel = try serverFenceModel()
        #expect(throws: Violation.self) { try serverFenceModel.handedOut(push, to: "van") }
    }

    @Test func anAlarmThatIsGoneIsFound() throws {
        let world = try World()
        try world.append(5, remembering: 2000)
        #expect(throws: Violation.self) {
            let header = world.disk.contents(of: SimulatedAlarms.path).map { Array($0.prefix(24)) }
            try world.model.observe(header, durable: header, last: 1, FindingModel.Circumstances())
        }
    }

    // MARK: The server

    private func batch(_ alarms: [CausedAlarm], _ points: [TrackPoint]) throws -> IngestBatch {
        IngestBatch(
            service: try #require(ServiceID(rawValue: 1)), entity: "van", position: nil, points: points, sequences: [],
            payload: nil, received: Timestamp(milliseconds: Self.start + 100_000), alarms: alarms)
    }

    private func serverFenceModel() throws -> ServerFenceModel {
        var serverFenceModel = ServerFenceModel()
        let fence = try Fence(id: 1, Self.circle, at: Timestamp(milliseconds: 0))
        let record = FenceRecord(fence: fence, version: 7, everyoneSince: Timestamp(milliseconds: 0))
        serverFenceModel.took(
            ServerFenceModel.Snapshot(
                version: 7, watched: ["van": [1: SubjectFence(record: record, since: Timestamp(milliseconds: 0))]]))
        serverFenceModel.judgeHears()
        return serverFenceModel
    }

    @Test func anAlarmThatTheServerDoesNotFindIsMissed() throws {
        let drive = try (0...10).map { TrackPoint(try Self.fix($0, 200 - 20 * Double($0))) }
        var serverFenceModel = try serverFenceModel()
        #expect(throws: Violation.self) { try serverFenceModel.stored(try batch([], drive), new: drive) }
    }

    private func caused(_ number: UInt8, at fix: Fix, isReported: Bool = false) throws -> CausedAlarm {
        let point = AlarmPoint(time: fix.time, place: fix.coordinate, received: Timestamp(milliseconds: 0))
        let alarm = Alarm(
            key: try #require(AlarmKey(bytes: [UInt8](repeating: number, count: 16))), source: .server, fence: 1,
            revision: 1,
            name: "", action: .enter, point: point,
            crossing: Crossing(
                time: point.time, place: point.place, isEstimated: false, earliest: point.time, latest: point.time),
            isReported: isReported)
        return CausedAlarm(alarm)
    }

    /// A report has no points: after a power cut of the server its alarms tell whether it was stored.
    @Test func aReportIsStoredWholeOrNotAtAll() throws {
        var serverFenceModel = try serverFenceModel()
        let fix = try Self.fix(0, 200)
        let alarms = try [1, 2, 3].map { try caused($0, at: fix, isReported: true) }
        let keys = alarms.map(\.alarm.key)
        try serverFenceModel.stored(try batch([alarms[0]], []), new: [])
        let report = try batch(alarms, [])
        #expect(try serverFenceModel.isStored(report, among: [keys[0]]) == false)
        #expect(try serverFenceModel.isStored(report, among: Set(keys)))
        #expect(throws: Violation.self) { try serverFenceModel.isStored(report, among: [keys[0], keys[1]]) }
    }

    @Test func anAlarmThatNoPointExplainsIsFound() throws {
        let drive = try (0...10).map { TrackPoint(try Self.fix($0, 500 - 20 * Double($0))) }
        var serverFenceModel = try serverFenceModel()
        try serverFenceModel.stored(try batch([], drive), new: drive)
        let alarm = try caused(1, at: drive[5].fix)
        let more = try (11...12).map { TrackPoint(try Self.fix($0, 300)) }
        #expect(throws: Violation.self) { try serverFenceModel.stored(try batch([alarm], more), new: more) }
    }
}
