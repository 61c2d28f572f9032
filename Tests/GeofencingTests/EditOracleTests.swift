import Geodesy
import Testing
import TrackModel

@testable import Geofencing

/// Rules 18, 19 and 23: what an edit or a restart between two points does, and what it must not do.
@Suite struct EditOracleTests {
    /// What an alarm says, apart from the revision.
    private func gist(_ alarms: [FenceAlarm]) -> [String] {
        alarms.map { "\(Drive.short($0)) \($0.inside ?? -1) \($0.skipped) \($0.crossing)" }
    }

    /// Plays a drive; `between` happens after the point of this number.
    private func play(_ drive: OracleDrive, after number: Int, _ between: (inout Drive) throws -> Void) rethrows
        -> Drive
    {
        var played = Drive(drive.plans)
        for (index, point) in drive.points.enumerated() {
            played.play(point)
            if index == number { try between(&played) }
        }
        return played
    }

    @Test(arguments: OracleDrive.all)
    func theDriveTellsWhatItTells(drive: OracleDrive) {
        let told = play(drive, after: -1) { _ in }.alarms.map(\.action)
        // Alarms of one point are in the order of their crossings.
        #expect(told.sorted { $0.rawValue < $1.rawValue } == drive.actions.sorted { $0.rawValue < $1.rawValue })
    }

    /// Rule 23.
    @Test(arguments: OracleDrive.all)
    func aRestartAfterAnyPointChangesNothing(drive: OracleDrive) throws {
        let plain = play(drive, after: -1) { _ in }
        for number in drive.points.indices {
            let killed = try play(drive, after: number) {
                $0.fenceState = try EntityFenceState(encoded: $0.fenceState.encoded)
                $0.judge = FenceJudge()
            }
            #expect(killed.alarms == plain.alarms, "after point \(number)")
        }
    }

    /// Rule 19: first signs, stays, held changes and places in the margin of an exit go on.
    @Test(arguments: OracleDrive.all)
    func anEditOfTheRuleAloneKeepsThePlace(drive: OracleDrive) {
        let plain = play(drive, after: -1) { _ in }
        for number in drive.points.indices {
            let edited = play(drive, after: number) { played in
                let places = drive.plans.map { played.place(of: $0.id) }
                for var plan in drive.plans {
                    plan.revision = 2
                    plan.validity = Validity(from: time(-1e9), through: time(1e9))
                    played.fences.put(plan)
                }
                #expect(drive.plans.map { played.place(of: $0.id) } == places, "after point \(number)")
            }
            #expect(gist(edited.alarms) == gist(plain.alarms), "after point \(number)")
            let edit = drive.points[number].time
            #expect(edited.alarms.allSatisfy { $0.revision == ($0.point.time > edit ? 2 : 1) })
        }
    }

    /// Rule 18: an area that is suddenly everywhere makes no transition, also none later.
    @Test(arguments: OracleDrive.all)
    func anEditOfTheAreaTellsNothingByItself(drive: OracleDrive) throws {
        for number in drive.points.indices {
            let last = drive.points[number]
            let edited = play(drive, after: number) { played in
                for var plan in drive.plans {
                    (plan.revision, plan.areaRevision) = (2, 2)
                    plan.revisedAt = last.time.adding(milliseconds: 1)
                    plan.shape = circle(last.place.latitude, last.place.longitude, 1_000_000)
                    plan.floor = nil
                    played.fences.put(plan)
                    #expect(played.place(of: plan.id) == .in, "after point \(number)")
                }
            }
            let later = edited.alarms.filter { $0.point.time > last.time && $0.action != .stay }
            #expect(later.isEmpty, "after point \(number): \(edited.told)")
        }
    }

    private func round(_ radius: Double = 50, _ change: (inout FencePlan) -> Void = { _ in }) -> FencePlan {
        plan(circle(40.0, 116.0, radius), change)
    }

    /// S2 with an edit at 10 s, 15 m outside and not left yet.
    @Test func theMarginOfAnExitIsKeptByAnEditOfTheRuleOnly() {
        let points = [(0.0, 20.0), (5, 45), (10, 65), (15, 85)].map { east($0.0, $0.1, speed: 4) }
        for isArea in [false, true] {
            var drive = Drive(round())
            drive.play(Array(points[..<3]))
            drive.fences.put(
                round(isArea ? 49 : 50) {
                    $0.revision = 2
                    if isArea { ($0.areaRevision, $0.revisedAt) = (2, time(11)) }
                })
            #expect(drive.place() == (isArea ? .out : .in))
            drive.play(points[3])
            #expect(drive.told == (isArea ? [] : ["exit 1 6.24 by 15.0"]))
        }
    }

    /// Two edits before the next point: the one of the area decides.
    @Test func anEditOfTheRuleDoesNotHideAnEditOfTheArea() {
        var drive = Drive(round())
        drive.play(east(0, 20), east(5, 45))
        drive.fences.put(round(30) { ($0.revision, $0.areaRevision, $0.revisedAt) = (3, 2, time(6)) })
        #expect(drive.place() == .out)
        drive.play(east(10, 48), east(15, 100))
        #expect(drive.alarms.isEmpty)
    }

    /// The server's clock dates an edit, and points may be ahead of it.
    @Test func anEditOfTheAreaCountsWhateverTheClocksSay() {
        var drive = Drive(round())
        drive.play(east(0, 20), east(5, 45))
        drive.fences.put(round(30) { ($0.revision, $0.areaRevision, $0.revisedAt) = (2, 2, time(3)) })
        #expect(drive.place() == .out)
    }

    /// A store that was restored from a backup has an earlier revision: who knows which area it had.
    @Test func anEarlierRevisionSetsThePlaceAnew() {
        var drive = Drive(round { $0.revision = 5 })
        drive.play(east(0, 20), east(5, 45), east(10, 65, speed: 4))
        drive.fences.put(round { $0.revision = 4 })
        #expect(drive.place() == .out)
    }

    @Test func withoutALastPointAnEditOfTheAreaMakesThePlaceUnknownAndOneOfTheRuleDoesNot() {
        for (area, place) in [(Int32(1), FencePair.Place.in), (2, .unknown)] {
            var drive = Drive(round())
            drive.play(east(3590, 20), east(3600, 30))
            drive.fenceState.timeRestarted()
            drive.fences.put(round { ($0.revision, $0.areaRevision) = (2, area) })
            #expect(drive.place() == place)
        }
    }

    /// An enter that was not held for long enough to be told is where the visit begins.
    @Test func aVisitThatIsHeldGoesOnThroughAnEditOfTheArea() {
        var drive = Drive(round(100) { $0.settle = 30 })
        drive.play(east(0, 200, speed: 20), east(10, 0, speed: 20))
        drive.fences.put(
            round(90) {
                ($0.settle, $0.revision, $0.areaRevision, $0.revisedAt) = (30, 2, 2, time(11))
            })
        drive.play(east(20, 0, speed: 20), east(100, 300, speed: 20), east(140, 300, speed: 20))
        #expect(drive.told == ["exit 1 44.0 by 100.0"])
        // In at 5.0, out at 44.
        #expect(drive.alarms.first?.inside == 39_000)
    }

    // MARK: An edit of the stay

    private func staying(_ stay: StayAlarmRule?, revision: Int32 = 1) -> FencePlan {
        round(100) {
            $0.rule = stay == nil ? .usual : [.enter, .exit, .stay]
            ($0.stay, $0.revision) = (stay, revision)
        }
    }

    /// In at 5.0 by S14's way, then the edit at 100 s, then a point every 10 s until 400.
    private func stays(_ first: StayAlarmRule?, _ second: StayAlarmRule?) -> [String] {
        var drive = Drive(staying(first))
        drive.play(point(0, 40, 115.9976579), point(10, 40, 116.0))
        for seconds in stride(from: 20.0, through: 400, by: 10) {
            if seconds == 110 { drive.fences.put(staying(second, revision: 2)) }
            drive.play(point(seconds, 40, 116.0))
        }
        return drive.told.filter { $0.hasPrefix("stay") }
    }

    @Test func anotherStayCountsFromTheSameEnter() {
        // It is due later than the one before, and not yet due.
        #expect(stays(StayAlarmRule(after: 300), StayAlarmRule(after: 200)) == ["stay 1 205.0 by 210.0"])
        #expect(
            stays(StayAlarmRule(after: 60), StayAlarmRule(after: 200)) == [
                "stay 1 65.0 by 70.0", "stay 1 205.0 by 210.0",
            ])
        // A stay where there was none.
        #expect(
            stays(nil, StayAlarmRule(after: 200, every: 100)) == ["stay 1 205.0 by 210.0", "stay 1 305.0 by 310.0"])
        // What was due before the edit is not told.
        #expect(stays(nil, StayAlarmRule(after: 60)) == [])
        #expect(stays(nil, StayAlarmRule(after: 60, every: 60)).first == "stay 1 125.0 by 130.0")
        // No stay any more.
        #expect(stays(StayAlarmRule(after: 200), nil) == [])
    }
}
