import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import Geofencing

/// What happens between two points.
@Suite struct WayOracleTests {
    private let round = plan(circle(40.0, 116.0, 100))
    private let square = plan(polygon(box(40.00, 40.01, 116.00, 116.01)))

    private func check(
        _ alarm: FenceAlarm?, _ action: FenceAction, _ seconds: Double, _ latitude: Double, _ longitude: Double,
        location: SourceLocation = #_sourceLocation
    ) {
        guard let alarm else { return #expect(Bool(false), "no alarm", sourceLocation: location) }
        let crossing = alarm.crossing
        #expect(alarm.action == action, sourceLocation: location)
        #expect(
            near(Double(crossing.time.milliseconds) / 1000, seconds, 0.002), "\(crossing)", sourceLocation: location)
        #expect(near(crossing.place.latitude, latitude, 2e-7), "\(crossing)", sourceLocation: location)
        #expect(near(crossing.place.longitude, longitude, 2e-7), "\(crossing)", sourceLocation: location)
        #expect(crossing.isEstimated, sourceLocation: location)
    }

    @Test func aVisitBetweenTwoPoints() {
        // S14
        var drive = Drive(round)
        drive.play(point(0, 40, 115.9976579), point(20, 40, 116.0023421))
        #expect(drive.alarms.count == 2)
        check(drive.alarms.first, .enter, 5.0, 40, 115.9988290)
        check(drive.alarms.last, .exit, 15.0, 40, 116.0011710)
        #expect(drive.alarms.last?.inside == 10_000)
        #expect(drive.fenceState.pairs.isEmpty)
    }

    @Test func aVisitMustBeDeeperThanTheErrors() {
        // S15
        var drive = Drive(round)
        drive.play(point(0, 40.0008736, 115.9976579), point(20, 40.0008736, 116.0023421))
        #expect(drive.alarms.isEmpty)
        drive = Drive(round)
        drive.play(
            point(0, 40.0008736, 115.9976579, accuracy: 2), point(20, 40.0008736, 116.0023421, accuracy: 2))
        #expect(drive.told.count == 2)
        #expect(near(Double(drive.alarms.first?.crossing.time.milliseconds ?? 0), 8784, 2))
        #expect(near(Double(drive.alarms.last?.crossing.time.milliseconds ?? 0), 11_216, 2))
    }

    @Test func aVisitMustBeDeeperThanBothErrors() {
        for (first, second) in [(5.0, 2.0), (2, 5)] {
            var drive = Drive(round)
            drive.play(
                point(0, 40.0008736, 115.9976579, accuracy: first), point(20, 40.0008736, 116.0023421, accuracy: second)
            )
            #expect(drive.alarms.isEmpty)
        }
    }

    @Test func aPlaceBeyondTheAntimeridianIsFound() {
        let shape = polygon([(-16.81, 179.99), (-16.81, -179.99), (-16.79, -179.99), (-16.79, 179.99)])
        for (from, to) in [(-179.9, -179.995), (179.9, 179.995), (-179.9, 180.0), (-179.9, -180.0)] {
            var drive = Drive(plan(shape))
            // No way between the points: the place alone finds the fence.
            drive.play(point(0, -16.8, from, speed: 10), point(1000, -16.8, to, speed: 10))
            #expect(drive.alarms.map(\.action) == [.enter], "\(to)")
        }
    }

    @Test func aPlaceInARingWiderThanHalfTheEarthIsFound() {
        let south = [-170.0, -60, 60, 175].map { (-10.0, $0) }
        let wide = polygon(south + south.reversed().map { (10.0, $0.1) })
        for (to, isIn) in [(-169.0, true), (-3, true), (3, true), (174, true), (176, false), (-171, false)] {
            var drive = Drive(plan(wide))
            // No way between the points: the place alone decides.
            drive.play(point(0, -20, to, speed: 10), point(1000, 0, to, speed: 10))
            #expect(drive.alarms.map(\.action) == (isIn ? [.enter] : []), "\(to)")
        }
    }

    @Test func aVisitBeyondTheAntimeridianIsFound() {
        var drive = Drive(plan(circle(-16.8, -179.995, 100)))
        drive.play(point(0, -16.8, 179.99, speed: 40), point(60, -16.8, -179.99, speed: 40))
        #expect(drive.alarms.map(\.action) == [.enter, .exit])
    }

    @Test func aBufferIsFound() {
        var drive = Drive(plan(polygon(box(40.00, 40.01, 116.00, 116.01), buffer: 200)))
        drive.play(point(0, 40.02, 116.005, speed: 10), point(1000, 40.0115, 116.005, speed: 10))
        #expect(drive.alarms.map(\.action) == [.enter])
    }

    @Test func acrossAGapThereIsNoVisit() {
        // S16
        var drive = Drive(round)
        drive.play(point(0, 40, 115.9976579), point(600, 40, 116.0023421))
        #expect(drive.alarms.isEmpty)
    }

    @Test func theGapIsTheFences() {
        for (gap, count) in [(120, 2), (119, 0), (300, 2), (0, 0)] {
            var drive = Drive(plan(circle(40.0, 116.0, 100)) { $0.crossingGap = gap })
            drive.play(point(0, 40, 115.9976579), point(120, 40, 116.0023421))
            #expect(drive.alarms.count == count)
        }
    }

    @Test func anEnterIsOnTheEdge() {
        // S17
        var drive = Drive(square)
        drive.play(point(1000, 39.998, 116.004), point(1020, 40.003, 116.009))
        #expect(drive.alarms.count == 1)
        check(drive.alarms.first, .enter, 1008.0, 40.0, 116.006)
    }

    /// Without visits between points only the place decides, and the edge is inside.
    @Test func aPointOnTheEdgeOfACircleIsIn() {
        let (centre, edge) = (place(40.0, 116.0), place(40.0008, 116.0005))
        let radius = SurfaceDistance.between(centre, edge)
        var drive = Drive(plan(circle(40.0, 116.0, radius)) { $0.through = false })
        drive.play(point(0, 40.01, 116.0005, speed: 30), point(10, 40.005, 116.0005, speed: 30))
        drive.play(point(30, 40.0008, 116.0005, speed: 30))
        #expect(drive.alarms.map(\.action) == [.enter])
    }

    @Test func aCutCornerIsAVisit() {
        // S18
        var drive = Drive(square)
        drive.play(point(0, 39.999, 116.008), point(15, 40.0025, 116.0115))
        #expect(drive.alarms.count == 2)
        check(drive.alarms.first, .enter, 4.286, 40.0, 116.009)
        check(drive.alarms.last, .exit, 8.571, 40.001, 116.01)
        // Its depth is 42.7 m.
        for (accuracy, count) in [(42.6, 2), (42.8, 0)] {
            drive = Drive(square)
            drive.play(point(0, 39.999, 116.008, accuracy: accuracy), point(15, 40.0025, 116.0115, accuracy: accuracy))
            #expect(drive.alarms.count == count)
        }
    }

    @Test func aTouchedVertexIsNoVisit() {
        // S19
        var drive = Drive(square)
        drive.play(point(0, 39.999, 116.009, accuracy: 0), point(15, 40.001, 116.011, accuracy: 0))
        #expect(drive.alarms.isEmpty)
        #expect(square.shape.contains(place(40.0, 116.01)))
    }

    @Test func aNotchIsNoDeparture() {
        // S20
        let shape = polygon([
            (40.0, 116.0), (40.0, 116.03), (40.02, 116.03), (40.02, 116.02), (40.01, 116.02), (40.01, 116.01),
            (40.02, 116.01), (40.02, 116.0),
        ])
        var drive = Drive(plan(shape))
        drive.play(point(0, 40.015, 116.005), point(60, 40.015, 116.025))
        #expect(drive.alarms.isEmpty)
        #expect(drive.place() == .in)
    }

    @Test func acrossTheAntimeridian() {
        // S21
        let shape = polygon([(-16.81, 179.998), (-16.81, -179.998), (-16.79, -179.998), (-16.79, 179.998)])
        var drive = Drive(plan(shape))
        drive.play(point(0, -16.8, 179.99), point(60, -16.8, -179.99))
        #expect(drive.alarms.count == 2)
        check(drive.alarms.first, .enter, 24.0, -16.8, 179.998)
        check(drive.alarms.last, .exit, 36.0, -16.8, -179.998)
    }

    @Test func anExitComesBeforeAnEnterAtTheSameTime() {
        // S22
        for order in [[Int32(1), 2], [2, 1]] {
            var drive = Drive(
                plan(polygon(box(40.00, 40.01, 116.00, 116.01)), id: order[0]),
                plan(polygon(box(40.00, 40.01, 116.01, 116.02)), id: order[1]))
            drive.play(point(-10, 40.005, 116.005), point(0, 40.005, 116.0085), point(10, 40.005, 116.0120))
            #expect(drive.alarms.map(\.action) == [.exit, .enter])
            #expect(drive.alarms.map(\.fence) == order)
            check(drive.alarms.first, .exit, 4.286, 40.005, 116.01)
            check(drive.alarms.last, .enter, 4.286, 40.005, 116.01)
        }
    }

    @Test func leavingAndFindingARoute() {
        // S23
        let route = plan(corridor([(40.0, 116.00), (40.0, 116.02)], 50))
        let places = [
            (0.0, 40.0, 116.005), (5, 40.0004, 116.0058), (10, 40.0009, 116.0064), (15, 40.0014, 116.007),
            (25, 40.0009, 116.0085), (35, 40.0002, 116.0095),
        ]
        var drive = Drive(route)
        drive.play(places.map { point($0.0, $0.1, $0.2, speed: 15) })
        #expect(drive.told == ["exit 1 5.5 by 10.0", "enter 1 31.42 by 35.0"])
    }

    @Test func aCrossingRoadIsNoVisitOfARoute() {
        // S24
        let line = corridor([(40.0, 116.00), (40.0, 116.02)], 50)
        let way = [point(0, 39.998, 116.01), point(10, 40.002, 116.01)]
        var drive = Drive(plan(line))
        drive.play(way)
        #expect(drive.alarms.isEmpty)
        // Unless the route asks for it.
        drive = Drive(plan(line) { $0.through = true })
        drive.play(way)
        #expect(drive.told == ["enter 1 3.87 by 10.0", "exit 1 6.12 by 10.0"])
    }

    @Test func nothingVisitsFasterThanAnAircraft() {
        for (seconds, count) in [(0.9, 0), (1.2, 2)] {
            var drive = Drive(round)
            drive.play(point(0, 40, 115.9976579), point(seconds, 40, 116.0023421))
            #expect(drive.alarms.count == count, "\(drive.told)")
        }
    }

    @Test func aVisitThatNoSpeedExplainsIsNone() {
        for (speed, count) in [(20.0, 2), (0.5, 0)] {
            var drive = Drive(round)
            drive.play(
                point(0, 40, 115.9976579, speed: speed), point(20, 40, 116.0023421, speed: speed))
            #expect(drive.alarms.count == count, "\(drive.told)")
        }
    }
}
