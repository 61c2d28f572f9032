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
        var memory = EntityMemory()
        var judge = FenceJudge()
        var told: [FenceAction] = []
        private var second: Int64 = 0

        init(_ draft: ShapeDraft = TruthModelTests.draft) throws {
            model = TruthModel(way)
            plan = FencePlan(id: 1, shape: try draft.shape())
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
            _ = judge.judge(point, of: &memory, by: FenceSet([plan]), into: &alarms)
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
        drive.memory = EntityMemory()
        for metres in [200, 130] as [Double] { try drive.go(to: metres) }
        #expect(throws: Violation.self) { try drive.go(to: 70) }
    }

    /// Geodesy measures the same shapes on the ellipsoid.
    @Test func theShapesHaveTheirDistances() throws {
        for latitude in [-55.0, 3, 47] {
            let scale = 111_000 * cos(latitude * .pi / 180)
            func at(_ north: Double, _ east: Double) -> Degrees {
                Degrees(latitude: latitude + north / 111_000, longitude: -70 + east / scale)
            }
            let corners = [(-200.0, -200.0), (-160, 240), (200, 180), (40, 20), (220, -200)].map { at($0.0, $0.1) }
            for draft in [ShapeDraft(.circle(centre: at(0, 0), radius: 180)), ShapeDraft(.polygon([[corners]]))] {
                let (plain, shape) = (try #require(PlainShape(draft)), try draft.shape())
                #expect(abs(plain.width - shape.width) < 0.1)
                for north in stride(from: -500.0, through: 500, by: 37) {
                    for east in stride(from: -500.0, through: 500, by: 41) {
                        let place = at(north, east)
                        let exact = shape.signedDistance(
                            to: try #require(Coordinate(latitude: place.latitude, longitude: place.longitude)))
                        #expect(abs(plain.distance(to: place) - exact) < 0.2)
                    }
                }
            }
        }
    }
}
