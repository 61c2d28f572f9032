import AgentControl
import AgentLogic
import Testing
import TrackModel

@testable import SystemSimulation

/// The judge of gaps must be able to say no.
@Suite struct GapJudgeTests {
    /// Times are seconds since the beginning of a history. The receiver has a fix unless something else is said.
    private struct World {
        var model = GapModel()
        var ledger = PointModel()
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

        mutating func ends(_ seconds: Int64, _ how: AgentEnd, again: Int64, wasStopping: Bool = false) {
            model.processEnded(at: Self.milliseconds(seconds), how, wasStopping: wasStopping)
            model.processStarted(at: Self.milliseconds(again))
            model.pointMade()
        }

        /// `fate`: nil: the point is in the store.
        mutating func point(
            _ seconds: Int64, _ spans: [(GapReason, Int64, Int64)] = [], fate: PointModel.Fate? = nil
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

    /// The agent tells eight reasons at most. When it joins two of nine, the one before or behind may be the same.
    @Test func reasonsThatAreTooManyAreJoined() throws {
        // The fourth minute had another reason.
        func breaks(_ count: Int) throws -> Bool {
            let causes = (0..<count).map { $0 % 2 == 0 ? GapModel.Cause.noFix : .noReceiver }
            var told = (0..<count).map { $0 % 2 == 0 ? GapReason.noFix : .noReceiver }
            told[3] = .noFix
            var world = World()
            let length = Int64(60)
            for (index, cause) in causes.enumerated() { world.happens(cause, since: Int64(index) * length + 1) }
            world.happens(.fixes, since: Int64(count) * length)
            try world.point(0)
            var spans: [(GapReason, Int64, Int64)] = []
            for (index, reason) in told.enumerated() {
                let (from, until) = (Int64(index) * length, Int64(index + 1) * length)
                if let last = spans.last, last.0 == reason {
                    spans[spans.count - 1].2 = until
                } else {
                    spans.append((reason, from, until))
                }
            }
            try world.point(Int64(count) * length, spans)
            return world.breaks()
        }
        #expect(!(try breaks(9)), "seven are told")
        #expect(try breaks(8), "six are told")
    }

    /// The agent's stretch without a reason begins with its last point. When this point is gone, the reader joins the time before
    /// it. Each of both may be half of what makes a gap: 10 s, and 12 s of slack.
    @Test func whatIsBeforeALostPointIsJoinedApart() throws {
        func breaks(lostAt seconds: Int64?) throws -> Bool {
            var world = World()
            world.happens(.noReceiver, since: 25)
            world.happens(.fixes, since: 98)
            try world.point(0)
            if let seconds { try world.point(seconds, fate: .cleared(isDurable: true)) }
            try world.point(100, [(.noReceiver, seconds ?? 0, 100)])
            return world.breaks()
        }
        #expect(!(try breaks(lostAt: 10)))
        #expect(try breaks(lostAt: 2), "23 s had fixes")
        #expect(try breaks(lostAt: nil))
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

    /// The power went while the process stopped: it may have written that it ended in order.
    @Test func aProcessThatIsCutWhileItStopsMayHaveWrittenItsEnd() throws {
        func world(_ reason: GapReason, wasStopping: Bool) throws -> World {
            var world = World()
            world.happens(.off, since: 101)
            world.happens(.fixes, since: 160)
            world.ends(101, .power, again: 160, wasStopping: wasStopping)
            try world.point(100)
            try world.point(165, [(reason, 100, 165)])
            return world
        }
        #expect(try !world(.offByShutdown, wasStopping: true).breaks())
        #expect(try !world(.offByPowerCut, wasStopping: true).breaks())
        #expect(try world(.offByShutdown, wasStopping: false).breaks())
        #expect(try world(.offByCrash, wasStopping: true).breaks())
    }

    @Test func onlyALaterProcessMayGuessAtALoss() throws {
        func dropped(
            _ reason: GapReason, again: Bool, clear: CacheSelection? = nil, fate: PointModel.Fate = .droppedInMemory
        ) throws -> Bool {
            var world = World()
            if let clear { world.model.cleared(clear) }
            try world.point(0)
            for seconds in stride(from: Int64(5), through: 95, by: 5) {
                try world.point(seconds, fate: fate)
            }
            try world.point(100, [(reason, 0, 100)])
            if again { world.ends(200, .power, again: 210) }
            return world.breaks()
        }
        #expect(!(try dropped(.diskTrouble, again: false)))
        #expect(try dropped(.cacheFull, again: false))
        #expect(!(try dropped(.cacheFull, again: true)))
        #expect(try dropped(.cleared, again: true))
        // It finds a clear that may be about the points.
        let (older, newer) = (World.milliseconds(-9), World.milliseconds(200))
        #expect(!(try dropped(.cleared, again: true, clear: CacheSelection(entities: ["van"], from: older))))
        #expect(try dropped(.cleared, again: false, clear: CacheSelection(from: older)))
        #expect(try dropped(.cleared, again: true, clear: CacheSelection(entities: ["bus"])))
        #expect(try dropped(.cleared, again: true, clear: CacheSelection(from: newer)))
        // The record of the clear went with the last point that it was about, and the ring is nearly full.
        #expect(!(try dropped(.cacheFull, again: true, fate: .cleared(isDurable: true))))
        #expect(try dropped(.cacheFull, again: false, fate: .cleared(isDurable: true)))
        #expect(try dropped(.cleared, again: false, clear: CacheSelection(from: older), fate: .droppedByBound))
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
