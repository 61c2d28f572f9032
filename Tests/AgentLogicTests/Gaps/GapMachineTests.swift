import Testing
import TrackModel

@testable import AgentLogic

@Suite struct GapMachineTests {
    /// A machine, and a receiver whose time goes with the monotonic clock. All times are seconds.
    struct Drive {
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

        var memory: OpenGap? {
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

    /// Four stretches, none of which is long enough for a line of its own. The receiver was away for 20 s of 79.
    @Test func ofShortReasonsTheOneWithMostTimeIsTold() {
        var drive = Drive(interval: 30)
        drive.point(60, isParked: true)
        drive.skipped(.inaccurate, 89)
        drive.receiver(.noReceiver, 113)
        drive.receiver(nil, 133)
        drive.skipped(.inaccurate, 133)
        #expect(drive.point(139) == ["inaccurate 60-139"])
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
}
