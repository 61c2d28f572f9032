import Geodesy
import Geofencing
import Glibc
import Testing
import TrackModel

@testable import SystemSimulation

/// The check against the true way must be able to say no: here alarms are told that it contradicts, and others are not told.
@Suite struct TruthModelTests {
    private static let start: Int64 = 1_800_000_000_000
    private static let draft = ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 100))

    private static func place(_ metres: Double) -> Degrees {
        Degrees(latitude: 40, longitude: 116 + metres / 85_393.95)
    }

    /// A vehicle on a line through the middle of a circle of 100 m, and the judge of its points.
    private struct Drive {
        let way = TrueWay()
        var model: TruthModel
        let plan: FencePlan
        var fenceState = EntityFenceState()
        var judge = FenceJudge()
        var told: [FenceAction] = []
        private var second: Int64 = 0

        init(
            _ draft: ShapeDraft = TruthModelTests.draft, validity: Validity? = nil, altitude: AltitudeRange? = nil
        ) throws {
            model = TruthModel(way)
            var plan = FencePlan(id: 1, shape: try draft.shape())
            (plan.validity, plan.altitude) = (validity, altitude)
            self.plan = plan
            self.draft = draft
        }

        private let draft: ShapeDraft

        /// It was so many metres east of the middle, and its point says so many. `isTold` false: the alarms get lost.
        mutating func go(
            to metres: Double, saying said: Double? = nil, speed: Int32 = 1000, after seconds: Int64 = 5,
            isTold: Bool = true
        ) throws {
            second += seconds
            let time = TruthModelTests.start + second * 1000
            way.note(TruthModelTests.place(metres), at: time, isReflected: false)
            let place = TruthModelTests.place(said ?? metres)
            let point = FencePoint(
                time: Timestamp(milliseconds: time),
                place: try #require(Coordinate(latitude: place.latitude, longitude: place.longitude)), accuracy: 50,
                speed: speed)
            var alarms: [FenceAlarm] = []
            _ = judge.judge(point, of: &fenceState, by: FenceSet([plan]), into: &alarms)
            told += alarms.map(\.action)
            try model.judged(point, of: "van", by: [(plan, draft)], isTold ? alarms[...] : [])
        }
    }

    @Test func whatIsRightIsRight() throws {
        var drive = try Drive()
        for metres in stride(from: 400.0, through: -400, by: -40) { try drive.go(to: metres, saying: metres + 4) }
        for metres in stride(from: -400.0, through: 400, by: 15) { try drive.go(to: metres, saying: metres - 4) }
        // Through it between two points, after a time without any, and to a place at its edge.
        try drive.go(to: -200, speed: 4000, after: 15)
        try drive.go(to: 300, after: 600)
        for metres in [200, 120, 96, 103, 99, 101] as [Double] { try drive.go(to: metres, speed: 100) }
        #expect(drive.told == [.enter, .exit, .enter, .exit, .enter, .exit])
    }

    @Test func anEnterThatTheVehicleNeverMadeIsUntrue() throws {
        var drive = try Drive()
        for metres in [300, 250, 200, 150] as [Double] { try drive.go(to: metres) }
        try drive.go(to: 104, saying: 99.5)
        #expect(drive.told == [.enter])
        var other = try Drive()
        for metres in [300, 250, 200, 150] as [Double] { try other.go(to: metres) }
        #expect(throws: Violation.self) { try other.go(to: 110, saying: 99.5) }
        // Past the fence, and the points say through it.
        var past = try Drive()
        for metres in [400, 300, 200] as [Double] { try past.go(to: metres) }
        #expect(throws: Violation.self) { try past.go(to: 220, saying: -200, speed: 4000, after: 15) }
    }

    @Test func anExitThatTheVehicleNeverMadeIsUntrue() throws {
        var drive = try Drive()
        for metres in [300, 200, 100, 50, 0, 60] as [Double] { try drive.go(to: metres) }
        try drive.go(to: 121, saying: 126)
        #expect(drive.told == [.enter, .exit])
        var other = try Drive()
        for metres in [300, 200, 100, 50, 0, 60] as [Double] { try other.go(to: metres) }
        #expect(throws: Violation.self) { try other.go(to: 99, saying: 126) }
    }

    @Test func aVisitOfTwoDeepPointsMustBeTold() throws {
        var drive = try Drive()
        for metres in [400, 350, 300] as [Double] { try drive.go(to: metres) }
        try drive.go(to: 60, isTold: false)
        #expect(throws: Violation.self) { try drive.go(to: 40, isTold: false) }
        // One such point may be a mistake of the receiver, and beside the edge the rules have a choice.
        var short = try Drive()
        for metres in [400, 350, 300, 60, 300, 400, 80, 85, 75] as [Double] { try short.go(to: metres, isTold: false) }
    }

    @Test func anExitToAFarPlaceMustBeTold() throws {
        var drive = try Drive()
        for metres in [400, 350, 300, 60, 40] as [Double] { try drive.go(to: metres) }
        try drive.go(to: 200, isTold: false)
        #expect(throws: Violation.self) { try drive.go(to: 220, isTold: false) }
    }

    @Test func alarmsAlternate() throws {
        var drive = try Drive()
        for metres in [300, 200, 120, 60] as [Double] { try drive.go(to: metres) }
        #expect(drive.told == [.enter])
        drive.fenceState = EntityFenceState()
        for metres in [200, 130] as [Double] { try drive.go(to: metres) }
        #expect(throws: Violation.self) { try drive.go(to: 70) }
    }

    /// A fence that is told at some times only may tell two enters in a row, and what it does not tell is not missed.
    @Test func aValidityMissesNothing() throws {
        var drive = try Drive(validity: Validity(through: Timestamp(milliseconds: Self.start + 25_000)))
        for metres in [400, 350, 300, 120, 60, 40, 200, 220, 300] as [Double] { try drive.go(to: metres) }
        #expect(drive.told == [.enter])
        var untrue = try Drive(validity: Validity(through: Timestamp(milliseconds: Self.start + 60_000)))
        for metres in [300, 250, 200, 150] as [Double] { try untrue.go(to: metres) }
        #expect(throws: Violation.self) { try untrue.go(to: 110, saying: 99.5) }
    }

    /// An altitude lets a vehicle out that has not moved: nothing is said of such a fence.
    @Test func altitudesAreLeftOut() throws {
        var drive = try Drive(altitude: AltitudeRange(lower: 0, upper: nil))
        for metres in [400, 350, 300, 60, 40, 200, 220, 300] as [Double] { try drive.go(to: metres, isTold: false) }
    }

    /// Along a corridor, through the hole of an area, and past two parts of one.
    @Test func whatIsRightIsRightForEachShape() throws {
        func square(_ middle: Double, _ half: Double) -> [Degrees] {
            [(-half, -half), (-half, half), (half, half), (half, -half)].map { corner in
                Degrees(latitude: 40 + corner.0 / 111_035, longitude: Self.place(middle + corner.1).longitude)
            }
        }
        let shapes: [(ShapeDraft, [FenceAction])] = [
            (ShapeDraft(.corridor([Self.place(0), Self.place(200)], offset: 60), buffer: 10), [.enter, .exit]),
            (ShapeDraft(.polygon([[square(0, 250), square(0, 120)]])), [.enter, .exit, .enter, .exit]),
            (
                ShapeDraft(.polygon([[square(-150, 80)], [square(150, 80)]]), buffer: 15),
                [.enter, .exit, .enter, .exit]
            ),
            (ShapeDraft(.point(Self.place(0)), buffer: 90), [.enter, .exit]),
        ]
        for (draft, actions) in shapes {
            var drive = try Drive(draft)
            for metres in stride(from: 500.0, through: -500, by: -30) { try drive.go(to: metres, saying: metres + 4) }
            #expect(drive.told == actions, "\(draft.outline)")
            var silent = try Drive(draft)
            #expect(throws: Violation.self, "\(draft.outline)") {
                for metres in stride(from: 500.0, through: -500, by: -10) { try silent.go(to: metres, isTold: false) }
            }
        }
    }
}
