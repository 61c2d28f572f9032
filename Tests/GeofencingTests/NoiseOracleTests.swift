import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import Geofencing

/// Enter, exit and jitter at a circle of 50 m around 40.0, 116.0.
@Suite struct NoiseOracleTests {
    private let round = plan(circle(40.0, 116.0, 50))

    private func drive(_ points: [FencePoint], _ plan: FencePlan? = nil) -> Drive {
        var drive = Drive(plan ?? round)
        drive.play(points)
        return drive
    }

    /// The only alarm, its causing point, and its crossing in seconds.
    private func expect(
        _ drive: Drive, _ action: FenceAction, by causing: Double, crossing: Double, estimated: Bool = true,
        location: SourceLocation = #_sourceLocation
    ) {
        #expect(drive.alarms.count == 1, "\(drive.told)", sourceLocation: location)
        guard let alarm = drive.alarms.first else { return }
        #expect(alarm.action == action, sourceLocation: location)
        #expect(alarm.point.time == time(causing), sourceLocation: location)
        #expect(
            near(Double(alarm.crossing.time.milliseconds) / 1000, crossing, 0.011), "\(drive.told)",
            sourceLocation: location)
        #expect(alarm.crossing.isEstimated == estimated, sourceLocation: location)
    }

    @Test func jitterAtTheEdgeStaysIn() {
        // S1
        let metres = [20.0, 45, 52, 48, 54, 49]
        let drive = drive(metres.enumerated().map { east(Double($0.offset) * 5, $0.element, speed: 0.3) })
        #expect(drive.alarms.isEmpty)
        #expect(drive.place() == .in)
    }

    @Test func anExitIsProvenByTheSecondClearPoint() {
        // S2
        let drive = drive([(0.0, 20.0), (5, 45), (10, 65), (15, 85)].map { east($0.0, $0.1, speed: 4) })
        expect(drive, .exit, by: 15, crossing: 6.25)
        #expect(drive.alarms.first.map { near($0.crossing.place.longitude, 116.0005855, 2e-7) } == true)
        #expect(drive.alarms.first?.crossing.place.latitude == 40.0)
    }

    @Test func anExitIsProvenByOnePointFarEnough() {
        // S3
        expect(
            drive([(0.0, 20.0), (5, 45), (10, 85)].map { east($0.0, $0.1, speed: 8) }), .exit, by: 10, crossing: 5.63)
    }

    @Test func twoClearPointsAreEnough() {
        // 10 and 12 m outside, less than the margin: the second one proves it, and no third is needed.
        expect(
            drive([(0.0, 20.0), (5, 45), (10, 60), (15, 62)].map { east($0.0, $0.1, speed: 4) }), .exit, by: 15,
            crossing: 6.67)
    }

    /// A tenth of the radius or of the offset, when that is more than 20 m.
    @Test func theMarginOfAnExitGrowsWithTheShape() {
        let north = { (seconds: Double, metres: Double) in
            point(seconds, 40.0 + metres / 111_035, 116.0, speed: 30)
        }
        for shape in [circle(40.0, 116.0, 500), corridor([(40.0, 115.99), (40.0, 116.01)], 500)] {
            for (beyond, count) in [(50.0, 0), (60, 1)] {
                let drive = drive([north(0, 400), north(10, 500 + beyond)], plan(shape))
                #expect(drive.alarms.count == count, "\(beyond): \(drive.told)")
            }
        }
    }

    @Test func aPointThatIsNotClearWithdrawsTheSign() {
        let metres = [(0.0, 20.0), (5, 65), (10, 52), (15, 65)]
        var drive = drive(metres.map { east($0.0, $0.1, speed: 6) })
        #expect(drive.alarms.isEmpty)
        drive.play(east(20, 66, speed: 6))
        // Never inside since the first sign: its crossing counts.
        #expect(drive.told == ["exit 1 3.33 by 20.0"])
    }

    @Test func aPointOutsideWithdrawsTheSignOfAnEnter() {
        // No speed explains the places inside.
        let metres = [(0.0, 200.0), (10, 10), (20, 200), (30, 10)]
        var drive = drive(metres.map { east($0.0, $0.1, speed: 0.2) })
        #expect(drive.alarms.isEmpty)
        drive.play(east(40, 11, speed: 0.2))
        #expect(drive.told == ["enter 1 27.89 by 40.0"])
    }

    @Test func aReceiverThatIsSureAndWrongStaysIn() {
        // S4
        let start = [east(0, 8.2, speed: 0.2), east(12, 200.2, accuracy: 1.9, speed: 0.2)]
        let back = drive(start + [east(24, 9.6, speed: 0.2)])
        #expect(back.alarms.isEmpty)
        #expect(back.place() == .in)
        // S5: it stays there, so it is there.
        expect(drive(start + [east(24, 201, speed: 0.2)]), .exit, by: 24, crossing: 2.61)
    }

    @Test func aBadFixIsNoDeparture() {
        // S6
        let drive = drive([east(0, 10, speed: 0.3), east(5, 180, accuracy: 150, speed: 0.3), east(10, 12, speed: 0.3)])
        #expect(drive.alarms.isEmpty)
        #expect(drive.place() == .in)
    }

    @Test func aReceiverThatIsAlwaysBadLeaves() {
        // S7
        let rest = [(10.0, 90.0), (20, 130), (30, 180)].map { east($0.0, $0.1, accuracy: 150, speed: 10) }
        expect(drive([east(0, 10, speed: 10)] + rest), .exit, by: 20, crossing: 5.0)
    }

    @Test func creepingOut() {
        // S8
        let points = (0...6).map { east(Double($0) * 60, 20 + Double($0) * 10, accuracy: 4, speed: 0.5) }
        expect(drive(points), .exit, by: 360, crossing: 180.0)
    }

    @Test func theFirstPlaceWaitsForAGoodFix() {
        // S9
        var drive = Drive(round)
        drive.play(east(0, 95, accuracy: 60))
        #expect(drive.place() == .unknown)
        drive.play(east(5, 30))
        #expect(drive.place() == .in)
        drive.play(east(10, 28))
        #expect(drive.alarms.isEmpty)
    }

    @Test func theThirdPointDecides() {
        var drive = Drive(round)
        drive.play(east(0, 95, accuracy: 60), east(5, 95, accuracy: 60))
        #expect(drive.place() == .unknown)
        drive.play(east(10, 45, accuracy: 60))
        #expect(drive.place() == .in)
        #expect(drive.alarms.isEmpty)
    }

    @Test func denoise() {
        // S10
        let points = [east(0, 200, speed: 20), east(5, 30, accuracy: 31, speed: 20), east(10, 20, speed: 20)]
        expect(drive(points, plan(circle(40.0, 116.0, 50)) { $0.denoise = 30 }), .enter, by: 10, crossing: 8.33)
        expect(drive(points), .enter, by: 5, crossing: 4.41)
        // As good as the denoise is good enough.
        expect(drive(points, plan(circle(40.0, 116.0, 50)) { $0.denoise = 31 }), .enter, by: 5, crossing: 4.41)
    }

    /// The first point is too bad for the fence, so its place is unknown still, and points just outside its box matter.
    @Test func aPointThatIsTooBadDecidesNoFirstPlace() {
        let points = [
            east(0, 95, accuracy: 40), east(5, 52, accuracy: 20), east(10, 45, accuracy: 20),
            east(15, 20, accuracy: 20),
        ]
        let drive = drive(points, plan(circle(40.0, 116.0, 50)) { $0.denoise = 30 })
        #expect(drive.alarms.isEmpty, "\(drive.told)")
        #expect(drive.place() == .in)
    }

    @Test func uploadedPointsAreBelieved() {
        // S11
        let points = [(0.0, 10.0), (60, 900)].map { east($0.0, $0.1, accuracy: nil, speed: 0, receiver: false) }
        expect(drive(points), .exit, by: 60, crossing: 2.7)
        // Without an accuracy they have no error.
        let near = [(0.0, 10.0), (60, 75)].map { east($0.0, $0.1, accuracy: nil, speed: 0, receiver: false) }
        expect(drive(near), .exit, by: 60, crossing: 36.92)
    }

    @Test func aTowWhileOffIsAnExit() {
        // S12
        let drive = drive([(0.0, 10.0), (40_000, 3000), (40_005, 3001)].map { east($0.0, $0.1, speed: 0) })
        expect(drive, .exit, by: 40_005, crossing: 40_005, estimated: false)
        #expect(drive.alarms.first?.crossing.earliest == time(0))
        #expect(drive.alarms.first?.crossing.latest == time(40_000))
    }

    @Test func aStopAtTrafficLightsIsAnEnter() {
        // S13
        expect(
            drive([(0.0, 200.0), (60, 10), (120, 9)].map { east($0.0, $0.1, speed: 0) }), .enter, by: 120,
            crossing: 47.37)
    }

    @Test func jitterBesideTheEdgeStaysOut() {
        // S25
        let speeds = [0.2, 1.0, 0.4, 0.9, 0.2, 0.6]
        let parked = zip([60.0, 55, 49, 53, 48, 54], speeds).enumerated()
        let points = parked.map { east(5 + Double($0.offset) * 5, $0.element.0, speed: $0.element.1) }
        let drive = drive([east(0, 90, speed: 3)] + points)
        #expect(drive.alarms.isEmpty)
        #expect(drive.place() == .out)
    }

    @Test func creepingIn() {
        // S26
        let points = (0...10).map { east(Double($0) * 10, 92 - Double($0) * 5, accuracy: 4, speed: 0.5) }
        expect(drive(points), .enter, by: 100, crossing: 84.0)
    }
}
