import Testing
import TrackModel

@testable import AgentLogic

@Suite struct GapMachineTests {
    /// A machine, and a receiver whose time goes with the monotonic clock. All times are seconds.
    private struct Drive {
        var machine: GapMachine
        var actions: [GapMachine.Action] = []

        init(_ start: GapMachine.Start, at now: Int64 = 0, interval: Int = 5) {
            machine = GapMachine(interval: interval, start, now: Drive.clock(now))
        }

        /// A gathering agent whose receiver has had a fix from the start, with its first point at 0.
        init(interval: Int = 5) {
            self.init(.init(entity: "bus", isGathering: true, memory: nil, newest: nil), interval: interval)
            started()
            receiver(nil, 0)
            point(0)
            actions = []
        }

        static func clock(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: 7_000_000 + seconds * 1000) }
        static func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: epochStart + seconds * 1000) }

        mutating func started(_ entity: String = "bus", _ now: Int64 = 0) {
            actions += machine.started(entity: entity, now: Self.clock(now))
        }
        mutating func stopped(_ now: Int64) { actions += machine.stopped(now: Self.clock(now)) }
        mutating func receiver(_ reason: GapReason?, _ now: Int64) {
            actions += machine.receiverChanged(reason, now: Self.clock(now))
        }
        mutating func skipped(_ reason: GapReason, _ now: Int64) {
            machine.fixArrived(Self.time(now), now: Self.clock(now))
            actions += machine.skipped(reason, now: Self.clock(now))
        }
        mutating func timer(_ now: Int64) { actions += machine.timerFired(now: Self.clock(now)) }

        /// What the point says, such as `no_fix 0-60`; an open beginning is `…`.
        /// `at`: the time of a fix that came earlier.
        @discardableResult
        mutating func point(_ now: Int64, at time: Int64? = nil, isParked: Bool = false) -> [String] {
            machine.fixArrived(Self.time(now), now: Self.clock(now))
            let (continuity, new) = machine.point(Self.time(time ?? now), isParked: isParked, now: Self.clock(now))
            actions += new
            return continuity.spans.map(Self.text)
        }

        static func text(_ span: GapSpan) -> String {
            func seconds(_ time: Timestamp) -> String { "\((time.milliseconds - epochStart) / 1000)" }
            return "\(span.reason.name) \(span.from.map(seconds) ?? "…")-\(seconds(span.until))"
        }

        var memory: GapMemory? {
            for case .remember(let memory) in actions.reversed() { return memory }
            return nil
        }
    }

    @Test func pointsAtTheIntervalSayNothing() {
        var drive = Drive()
        for now in stride(from: Int64(5), through: 100, by: 5) { #expect(drive.point(now) == []) }
        // Two intervals and ten seconds are no gap yet.
        #expect(drive.point(120) == [])
        #expect(drive.actions == [])
        #expect(drive.point(141) == ["no_fix 120-141"])
    }

    @Test func aTunnelIsToldWithTheNextPoint() {
        var drive = Drive()
        drive.receiver(.noFix, 3)
        drive.receiver(nil, 90)
        #expect(drive.point(90) == ["no_fix 0-90"])
        #expect(drive.point(95) == [])
    }

    @Test func eachReasonHasItsTime() {
        var drive = Drive()
        drive.receiver(.noReceiver, 2)
        drive.receiver(.noFix, 100)
        drive.stopped(200)
        drive.receiver(.noReceiver, 201)
        drive.started("bus", 900)
        drive.receiver(.noFix, 900)
        drive.receiver(nil, 960)
        #expect(drive.point(961) == ["no_receiver 0-100", "no_fix 100-200", "stopped 200-900", "no_fix 900-961"])
    }

    @Test func shortStretchesJoinTheirNeighbours() {
        var drive = Drive()
        drive.receiver(.noFix, 3)
        // gpsd restarts for four seconds.
        drive.receiver(.noReceiver, 50)
        drive.receiver(.noFix, 54)
        drive.receiver(nil, 80)
        drive.skipped(.inaccurate, 80)
        #expect(drive.point(83) == ["no_fix 0-83"])
    }

    @Test func fixesThatTheSamplerPassesOverAreReasons() {
        var drive = Drive()
        drive.skipped(.inaccurate, 5)
        drive.skipped(.inaccurate, 300)
        #expect(drive.point(400) == ["inaccurate 0-400"])
        drive.skipped(.parked, 405)
        #expect(drive.point(640, isParked: true) == ["parked 400-640"])
        #expect(drive.point(880, isParked: true) == ["parked 640-880"])
    }

    /// A departure makes points of fixes that came before it was sure.
    @Test func betweenThePointsOfADepartureTheReasonsAreThoseOfTheirTime() {
        var drive = Drive()
        drive.point(5, isParked: true)
        drive.skipped(.implausible, 40)
        drive.skipped(.parked, 70)
        #expect(drive.point(120, at: 30) == ["parked 5-30"])
        #expect(drive.point(120, at: 110) == ["parked 30-40", "implausible 40-70", "parked 70-110"])
        #expect(drive.point(120).isEmpty)
        #expect(drive.point(180) == ["no_fix 120-180"])
    }

    @Test func aFixThatComesAndGoesMakesFewSpans() {
        var drive = Drive()
        for now in stride(from: Int64(10), to: 2000, by: 20) {
            drive.receiver(.noFix, now)
            drive.receiver(.noReceiver, now + 10)
        }
        let spans = drive.point(2000)
        #expect(!spans.isEmpty && spans.count <= Continuity.maximumSpans)
        #expect(spans.first?.contains(" 0-") == true && spans.last?.hasSuffix("-2000") == true)
    }

    /// A receiver at the limit of the accuracy: each second another reason.
    @Test func reasonsThatComeAndGoTakeNoTimeOfOthers() throws {
        var drive = Drive()
        for now in Int64(5)..<300 { drive.skipped(now % 2 == 0 ? .inaccurate : .unmoved, now) }
        #expect(drive.point(300).allSatisfy { !$0.hasPrefix("no_fix") })
        // And none of theirs becomes a tunnel's.
        drive.receiver(.noFix, 303)
        drive.receiver(nil, 403)
        for now in Int64(403)..<800 { drive.skipped(now % 2 == 0 ? .inaccurate : .unmoved, now) }
        let spans = drive.point(800)
        let tunnel = try #require(spans.first)
        #expect(["no_fix 300-403", "no_fix 300-404", "no_fix 300-405"].contains(tunnel), "\(spans)")
        #expect(spans.dropFirst().allSatisfy { !$0.hasPrefix("no_fix") }, "\(spans)")
    }

    /// That the receiver was pulled out turns out only when it should have sent something.
    @Test func aReceiverThatWasAwayWithoutAWordWasAwayFromItsLastWord() {
        var drive = Drive()
        drive.receiver(.noFix, 10)
        drive.actions += drive.machine.receiverWasAway(since: Drive.clock(0), now: Drive.clock(30))
        drive.receiver(nil, 600)
        #expect(drive.point(600) == ["no_receiver 0-600"])
        // What was known to be another reason stays.
        drive.skipped(.inaccurate, 605)
        drive.skipped(.inaccurate, 640)
        drive.receiver(.noFix, 650)
        drive.actions += drive.machine.receiverWasAway(since: Drive.clock(640), now: Drive.clock(670))
        drive.receiver(nil, 900)
        #expect(drive.point(900) == ["inaccurate 600-650", "no_receiver 650-900"])
        drive.stopped(910)
        #expect(drive.machine.receiverWasAway(since: Drive.clock(910), now: Drive.clock(911)) == [])
    }

    @Test func aLongerIntervalIsNoGap() {
        var drive = Drive()
        drive.machine.setInterval(300)
        #expect(drive.point(300) == [])
        // The point before was made at 300 seconds' distance; now the interval is short again.
        drive.machine.setInterval(2)
        #expect(drive.point(600) == [])
        #expect(drive.point(620) == ["no_fix 600-620"])
    }

    // MARK: Across processes

    @Test func whatAProcessDoesNotKnowWasOff() {
        var drive = Drive(.init(entity: "bus", isGathering: true, memory: nil, newest: Drive.time(-600)))
        drive.started()
        drive.receiver(.noFix, 1)
        drive.receiver(nil, 100)
        #expect(drive.point(100) == ["off -600-0", "no_fix 0-100"])
    }

    @Test func withoutAPointBeforeTheGapHasAnOpenBeginning() {
        var drive = Drive(.init(entity: "bus", isGathering: true, memory: nil, newest: nil))
        drive.started()
        drive.receiver(nil, 3)
        #expect(drive.point(3) == ["off …-3"])
        #expect(drive.point(8) == [])
    }

    @Test func aStopLastsAcrossARestart() {
        var drive = Drive(.init(entity: "bus", isGathering: false, memory: nil, newest: Drive.time(-600)))
        drive.started("bus", 1000)
        drive.receiver(nil, 1002)
        #expect(drive.point(1002) == ["stopped -600-1002"])
    }

    /// The power was away, and then a process was killed before it made a point.
    @Test func eachEndOfAProcessHasItsPartOfTheGap() {
        let off: [GapMachine.Off] = [
            .init(reason: .offByPowerCut), .init(reason: .offByCrash, since: Drive.clock(-40)),
        ]
        var drive = Drive(
            .init(entity: "bus", isGathering: true, off: off, memory: nil, newest: Drive.time(-100)), at: -10)
        drive.started("bus", -10)
        drive.receiver(nil, 0)
        drive.machine.fixArrived(Drive.time(0), now: Drive.clock(0))
        let (continuity, _) = drive.machine.point(Drive.time(0), isParked: false, now: Drive.clock(0))
        #expect(continuity.spans.prefix(2).map(\.reason) == [.offByPowerCut, .offByCrash])
        #expect(continuity.spans.first?.until == Drive.time(-40))
    }

    /// Each with its seconds, also below what a reason that comes and goes needs: 19 s, of which 14 were without power.
    @Test(arguments: [(14, 5), (5, 14), (18, 1), (4, 15)] as [(Int64, Int64)])
    func aShortEndOfAProcessStaysApart(_ cut: Int64, _ crash: Int64) {
        let off: [GapMachine.Off] = [
            .init(reason: .offByPowerCut), .init(reason: .offByCrash, since: Drive.clock(-crash)),
        ]
        var drive = Drive(
            .init(entity: "bus", isGathering: true, off: off, memory: nil, newest: Drive.time(-cut - crash)),
            interval: 2)
        drive.started()
        drive.receiver(nil, 0)
        drive.machine.fixArrived(Drive.time(0), now: Drive.clock(0))
        let (continuity, _) = drive.machine.point(Drive.time(0), isParked: false, now: Drive.clock(0))
        #expect(
            continuity.spans == [
                GapSpan(.offByPowerCut, from: Drive.time(-cut - crash), until: Drive.time(-crash)),
                GapSpan(.offByCrash, from: Drive.time(-crash), until: Drive.time(0)),
            ])
    }

    /// A command of four seconds, and a receiver that needs three seconds to begin.
    @Test func aShortStopStaysApartAndTakesTheShortTimeBesideIt() {
        var drive = Drive()
        drive.receiver(.noFix, 3)
        drive.stopped(60)
        drive.started("bus", 64)
        drive.receiver(nil, 100)
        #expect(drive.point(100) == ["no_fix 0-60", "stopped 60-64", "no_fix 64-100"])
        drive.stopped(100)
        drive.started("bus", 117)
        drive.receiver(.noFix, 117)
        drive.receiver(nil, 121)
        #expect(drive.point(121) == ["stopped 100-121"])
    }

    /// More than a point can tell: what is joined then has the reason of the longer one.
    @Test func manyShortEventsTakeNoLongTimeOfOthers() {
        var drive = Drive()
        for round in 0..<20 as Range<Int64> {
            drive.receiver(.noFix, round * 62)
            drive.stopped(round * 62 + 60)
            drive.started("bus", round * 62 + 62)
        }
        drive.machine.fixArrived(Drive.time(1240), now: Drive.clock(1240))
        let spans = drive.machine.point(Drive.time(1240), isParked: false, now: Drive.clock(1240)).0.spans
        let stopped = spans.filter { $0.reason == .stopped }.map { $0.until.milliseconds(since: $0.from ?? $0.until) }
        #expect(spans.count <= Continuity.maximumSpans && stopped.allSatisfy { $0 == 2000 }, "\(spans)")
    }

    @Test func theDetailsOfAStartAndOfAStopAreTold() {
        var drive = Drive(
            .init(
                entity: "bus", isGathering: true, off: [.init(reason: .offByPowerCut)], memory: nil,
                newest: Drive.time(-600)))
        drive.started()
        drive.receiver(nil, 5)
        let (first, _) = drive.machine.point(Drive.time(5), isParked: false, now: Drive.clock(5))
        #expect(first.spans.map(\.reason) == [.offByPowerCut])
        drive.actions += drive.machine.stopped(.stoppedByHook, now: Drive.clock(10))
        drive.started("bus", 500)
        drive.machine.fixArrived(Drive.time(500), now: Drive.clock(500))
        let (second, _) = drive.machine.point(Drive.time(500), isParked: false, now: Drive.clock(500))
        #expect(second.spans.map(\.reason) == [.stoppedByHook])
        drive = Drive(
            .init(
                entity: "bus", isGathering: false, stopped: .stoppedByServer, memory: nil, newest: Drive.time(-600)))
        drive.started("bus", 100)
        drive.receiver(nil, 100)
        drive.machine.fixArrived(Drive.time(100), now: Drive.clock(100))
        let (third, _) = drive.machine.point(Drive.time(100), isParked: false, now: Drive.clock(100))
        #expect(third.spans.map(\.reason) == [.stoppedByServer])
    }

    @Test func beforeTheFirstCommandNothingWasStarted() {
        var drive = Drive(.init(entity: nil, isGathering: false, memory: nil, newest: nil))
        drive.started("bus", 500)
        drive.receiver(nil, 501)
        #expect(drive.point(501) == ["not_started …-501"])
    }

    @Test func anotherEntitysTimeIsNotThisOnes() {
        var drive = Drive()
        drive.stopped(10)
        drive.started("tram", 100)
        #expect(drive.point(100) == ["other_entity …-100"])
        drive.stopped(110)
        drive.started("bus", 300)
        #expect(drive.point(300) == ["other_entity …-300"])
    }

    @Test func anOpenGapIsRememberedAtDoublingAges() {
        var drive = Drive()
        drive.receiver(.noFix, 3)
        #expect(drive.actions == [.setTimer(milliseconds: 297_000)])
        drive.timer(300)
        #expect(drive.memory?.spans.map(Drive.text) == ["no_fix 0-300"] && drive.memory?.since == Drive.time(0))
        #expect(drive.actions.last == .setTimer(milliseconds: 300_000))
        drive.timer(600)
        #expect(drive.actions.last == .setTimer(milliseconds: 600_000))
        drive.receiver(nil, 700)
        drive.point(700)
        #expect(drive.actions.suffix(2) == [.cancelTimer, .forget])
    }

    /// The epoch of the last fix ends when the receiver has none any more.
    @Test func aPointThatIsMadeAfterItsReasonBeganOpensAGapThatIsRemembered() {
        var drive = Drive()
        drive.receiver(.noFix, 6)
        drive.point(6, at: 5)
        #expect(drive.actions.suffix(2) == [.cancelTimer, .setTimer(milliseconds: 300_000)])
        drive.actions = drive.machine.ended(now: Drive.clock(105))
        #expect(drive.memory?.spans.map(Drive.text) == ["no_fix 5-105"] && drive.memory?.since == Drive.time(5))
    }

    @Test func aStopIsRememberedLikeEachOtherReason() throws {
        var before = Drive()
        before.stopped(5)
        #expect(before.actions == [.setTimer(milliseconds: 295_000)])
        before.timer(300)
        before.timer(600)
        before.started("bus", 1000)
        before.receiver(.noFix, 1001)
        // The command to start has replaced the command to stop, and the process is killed before it has a fix.
        let memory = try #require(before.memory)
        var drive = Drive(
            .init(entity: "bus", isGathering: true, memory: memory, newest: Drive.time(0)), at: 1010)
        drive.started("bus", 1010)
        drive.receiver(nil, 1015)
        #expect(drive.point(1015) == ["stopped 0-600", "off 600-1015"])
    }

    @Test func aGapThatIsOldWhenItsReasonBeginsIsRememberedAtOnce() throws {
        var drive = Drive()
        drive.receiver(.noFix, 900)
        #expect(drive.memory?.spans.map(Drive.text) == ["no_fix 0-900"])
        #expect(drive.actions.last == .setTimer(milliseconds: 900_000))
        // The time to the next point is no gap yet.
        drive = Drive(interval: 600)
        drive.receiver(.noFix, 500)
        #expect(drive.memory == nil && drive.actions == [.setTimer(milliseconds: 710_000)])
    }

    @Test func theNextProcessTellsWhatWasRemembered() throws {
        var before = Drive()
        before.receiver(.noFix, 3)
        before.timer(300)
        let memory = try #require(before.memory)
        var drive = Drive(
            .init(entity: "bus", isGathering: true, memory: memory, newest: Drive.time(0)), at: 1000)
        drive.started("bus", 1000)
        drive.receiver(.noFix, 1001)
        drive.receiver(nil, 1100)
        #expect(drive.point(1100) == ["no_fix 0-300", "off 300-1000", "no_fix 1000-1100"])
    }

    @Test func aMemoryThatAPointOvertookIsNotTold() throws {
        var before = Drive()
        before.receiver(.noFix, 3)
        before.timer(300)
        let memory = try #require(before.memory)
        var drive = Drive(
            .init(entity: "bus", isGathering: true, memory: memory, newest: Drive.time(500)), at: 1000)
        drive.started("bus", 1000)
        drive.receiver(nil, 1000)
        #expect(drive.point(1000) == ["off 500-1000"])
        // A memory of another entity says nothing of this one.
        drive = Drive(.init(entity: "tram", isGathering: true, memory: memory, newest: nil), at: 1000)
        drive.started("tram", 1000)
        drive.receiver(nil, 1000)
        #expect(drive.point(1000) == ["off …-1000"])
    }

    @Test func spansAreInOrderAndWithoutHoles() {
        let seed = TestGenerator.printedSeed()
        var random = TestGenerator(seed: seed)
        for _ in 0..<500 {
            var drive = Drive(interval: Int.random(in: 2...60, using: &random))
            var (now, last) = (Int64(0), Int64(0))
            for _ in 0..<Int.random(in: 1...200, using: &random) {
                now += Int64.random(in: 0...40, using: &random)
                switch Int.random(in: 0...7, using: &random) {
                case 0: drive.receiver(.noFix, now)
                case 1: drive.receiver(.noReceiver, now)
                case 2: drive.receiver(nil, now)
                case 3: drive.stopped(now)
                case 4: drive.started("bus", now)
                case 5: drive.skipped(.inaccurate, now)
                case 6: drive.timer(now)
                default:
                    guard now > last else { continue }
                    drive.machine.fixArrived(Drive.time(now), now: Drive.clock(now))
                    let spans = drive.machine.point(Drive.time(now), isParked: false, now: Drive.clock(now)).0.spans
                    #expect(spans.count <= Continuity.maximumSpans)
                    if let first = spans.first, let end = spans.last {
                        #expect(first.from == Drive.time(last) && end.until == Drive.time(now))
                        for (span, next) in zip(spans, spans.dropFirst()) {
                            #expect(span.until == next.from && span.reason != next.reason)
                        }
                    }
                    last = now
                }
            }
        }
    }
}
