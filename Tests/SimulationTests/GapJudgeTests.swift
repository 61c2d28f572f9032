import AgentLogic
import Testing
import TrackModel

@testable import SystemSimulation

/// The judge of gaps must be able to say no.
@Suite struct GapJudgeTests {
    /// Times are seconds since the beginning of a history. The receiver has a fix unless something else is said.
    private struct World {
        var model = GapModel()
        var ledger = PointLedger()
        var track: [TrackPoint] = []

        init() {
            model.processStarted(at: World.milliseconds(0))
            model.pointMade()
            happens(.fixes, since: 0)
        }

        static func milliseconds(_ seconds: Int64) -> Int64 { History.beginning + seconds * 1000 }
        static func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds(seconds)) }

        mutating func happens(_ cause: GapModel.Cause, since seconds: Int64) {
            model.observe(
                GapModel.Stretch(
                    since: Self.milliseconds(seconds), cause: cause, gathers: cause == .off ? nil : "van", ranAs: "van",
                    isDiskWell: true))
        }

        mutating func ends(_ seconds: Int64, _ how: AgentEnd, again: Int64) {
            model.processEnded(at: Self.milliseconds(seconds), how)
            model.processStarted(at: Self.milliseconds(again))
            model.pointMade()
        }

        /// `fate`: nil: the point is in the store.
        mutating func point(
            _ seconds: Int64, _ spans: [(GapReason, Int64, Int64)] = [], fate: PointLedger.Fate? = nil
        ) throws {
            let place = try #require(Coordinate(latitudeE7: Int32(seconds), longitudeE7: 7))
            let fix = Fix(time: Self.time(seconds), coordinate: place, mode: .threeDimensional)
            ledger.choose(fix, entity: "van", bytes: 10)
            let index = ledger.entries.count - 1
            ledger.entries[index].fate = fate ?? .acknowledged
            ledger.entries[index].isStored = fate == nil
            guard fate == nil else { return }
            let told = spans.map { GapSpan($0.0, from: Self.time($0.1), until: Self.time($0.2)) }
            track.append(TrackPoint(fix, continuity: Continuity(interval: 5, spans: told)))
        }

        mutating func judge() throws {
            try model.judge(["van": track], ledger)
        }

        func breaks() -> Bool {
            var copy = self
            do { try copy.judge() } catch { return true }
            return false
        }
    }

    /// Points at 0 and 100 seconds with these reasons between them.
    private func world(_ spans: [(GapReason, Int64, Int64)], _ change: (inout World) -> Void = { _ in }) throws -> World
    {
        var world = World()
        change(&world)
        try world.point(0)
        try world.point(100, spans)
        return world
    }

    @Test func aTunnelIsNoFixAndNothingElse() throws {
        func tunnel(_ world: inout World) {
            world.happens(.noFix, since: 2)
            world.happens(.fixes, since: 98)
        }
        #expect(!(try world([(.noFix, 0, 100)], tunnel)).breaks())
        #expect((try world([(.parked, 0, 100)], tunnel)).breaks())
        #expect((try world([(.off, 0, 100)], tunnel)).breaks())
        #expect((try world([(.noFix, 0, 60)], tunnel)).breaks(), "40 s have no reason")
        #expect((try world([], tunnel)).breaks())
    }

    @Test func aLongStretchHasItsOwnReason() throws {
        func change(_ world: inout World) {
            world.happens(.noFix, since: 2)
            world.happens(.noReceiver, since: 40)
            world.happens(.fixes, since: 98)
        }
        #expect(!(try world([(.noFix, 0, 40), (.noReceiver, 40, 100)], change)).breaks())
        #expect((try world([(.noFix, 0, 100)], change)).breaks())
    }

    /// A process that is back within a second: nobody saw that the agent was off, and the next one knows nothing of the
    /// time before.
    @Test func aProcessThatEndsMayBeToldAsOff() throws {
        func tunnel(_ world: inout World) {
            world.happens(.noFix, since: 2)
            world.happens(.fixes, since: 98)
        }
        #expect(
            !(try world([(.offByPowerCut, 0, 100)]) { world in
                tunnel(&world)
                world.ends(97, .power, again: 97)
            }).breaks())
        #expect((try world([(.offByPowerCut, 0, 100)], tunnel)).breaks(), "no process ended")
    }

    @Test func onlyALaterProcessMayGuessAtWhatMemoryDropped() throws {
        func dropped(_ reason: GapReason, again: Bool) throws -> Bool {
            var world = World()
            try world.point(0)
            for seconds in stride(from: Int64(5), through: 95, by: 5) {
                try world.point(seconds, fate: .droppedInMemory)
            }
            try world.point(100, [(reason, 0, 100)])
            if again { world.ends(200, .power, again: 210) }
            return world.breaks()
        }
        #expect(!(try dropped(.diskTrouble, again: false)))
        #expect(try dropped(.cacheFull, again: false))
        #expect(!(try dropped(.cacheFull, again: true)))
        #expect(try dropped(.cleared, again: true))
    }

    @Test func aLossNeedsALostPoint() throws {
        #expect((try world([(.cacheFull, 0, 100)]) { $0.happens(.parked, since: 2) }).breaks())
        #expect(!(try world([(.parked, 0, 100)]) { $0.happens(.parked, since: 2) }).breaks())
    }

    /// The service was told to run as another entity, and stopped, and the power went before either was answered: the next
    /// process finds this entity in what it remembers. It says so, and it is right.
    @Test func anEntityThatWasRememberedMayBeTold() throws {
        var machine = GapMachine(
            interval: 5, .init(entity: "tram", isGathering: false, memory: nil, newest: nil),
            now: MonotonicTime(milliseconds: 50_000))
        _ = machine.started(entity: "van", now: MonotonicTime(milliseconds: 95_000))
        _ = machine.receiverChanged(nil, now: MonotonicTime(milliseconds: 95_000))
        machine.fixArrived(World.time(100), now: MonotonicTime(milliseconds: 100_000))
        let (said, _) = machine.point(World.time(100), isParked: false, now: MonotonicTime(milliseconds: 100_000))
        #expect(said.spans.first?.reason == .otherEntity)
        func breaks(remembering entity: String, at second: Int64) throws -> Bool {
            try world(said.spans.map { ($0.reason, 0, 100) }) { world in
                world.happens(.off, since: 2)
                world.ends(2, .power, again: 50)
                world.happens(.stopped, since: 50)
                world.model.mayRun(as: entity, at: World.milliseconds(second))
                world.happens(.fixes, since: 95)
            }.breaks()
        }
        #expect(!(try breaks(remembering: "tram", at: 50)))
        #expect(try breaks(remembering: "van", at: 50))
        #expect(try breaks(remembering: "tram", at: 150), "behind the gap")
    }
}
