import Testing
import TrackModel

@testable import AgentLogic

// Gaps across processes, and what of them is remembered.
extension GapMachineTests {
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
