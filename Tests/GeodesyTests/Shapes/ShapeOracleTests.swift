import ProgramTestKit
import Testing
import TrackModel

@testable import Geodesy

/// Distances and verdicts that GeographicLib and shapely gave for the same shapes; edges are straight in degrees.
@Suite struct ShapeOracleTests {
    private func check(_ shape: Shape, _ oracles: Oracle..., location: SourceLocation = #_sourceLocation) {
        for oracle in oracles {
            let signed = shape.signedDistance(to: oracle.place)
            #expect(near(signed, oracle.signed, oracle.tolerance), "\(oracle): \(signed)", sourceLocation: location)
            #expect(shape.contains(oracle.place) == (oracle.signed <= 0), "\(oracle)", sourceLocation: location)
        }
    }

    @Test func distances() {
        // G37
        #expect(near(SurfaceDistance.between(place(40.0, 116.0), place(40.08, 116.06)), 10_253.080, 0.002))
        #expect(near(SurfaceDistance.between(place(0, 0), place(0.05, 0.05)), 7845.173, 0.002))
    }

    @Test func circles() throws {
        // G1 to G6: the sphere is wrong by up to 28 m here.
        check(try circle(40.0, 116.0, 100), Oracle(40.0008997, 116.0, -0.102), Oracle(40.0009015, 116.0, 0.098))
        let beijing = try circle(39.9042, 116.4074, 5000)
        check(beijing, Oracle(39.9492226, 116.4074, -0.996), Oracle(39.9492406, 116.4074, 1.003))
        check(beijing, Oracle(39.9041853, 116.4658589, -0.999), Oracle(39.9041853, 116.4658823, 1.002))
        check(
            try circle(69.6492, 18.9553, 5000), Oracle(69.6491528, 19.0840482, -1.0),
            Oracle(69.6491528, 19.0840997, 0.999))
        check(try circle(0, 32, 5000), Oracle(0.0451280, 32, -10.004), Oracle(0.0452275, 32, 0.998))
    }

    @Test func theEdgeOfACircleIsInside() throws {
        let (centre, edge) = (place(40.0, 116.0), place(40.0008, 116.0005))
        let radius = SurfaceDistance.between(centre, edge)
        #expect(try circle(40.0, 116.0, radius).contains(edge))
        #expect(try !circle(40.0, 116.0, radius.nextDown).contains(edge))
    }

    @Test func circlesAtPolesAndTheAntimeridian() throws {
        // G7 to G9
        check(try circle(90, 32, 1000), Oracle(89.9911, -148, -5.924), Oracle(89.9910, 0, 5.246), Oracle(90, 0, -1000))
        check(
            try circle(89.999, 0, 500), Oracle(89.997, 180, -53.224), Oracle(89.996, 90, -39.474),
            Oracle(89.996, 180, 58.470))
        check(
            try circle(-16.8, 179.999, 1000), Oracle(-16.8, -179.995, -360.411), Oracle(-16.8, -179.99, 172.579),
            Oracle(-16.8, 179.992, -253.813), Oracle(-16.8, 179.9896, 2.022))
    }

    @Test func squares() throws {
        // G10 to G12
        let square = try polygon(smallSquare)
        check(square, Oracle(40.005, 116.005, -426.938), Oracle(40.0, 116.005, 0), Oracle(40.0, 116.0, 0))
        check(square, Oracle(39.9999999, 116.005, 0.0111, 2e-4), Oracle(40.005, 116.0100001, 0.0085, 2e-4))
        let holed = try polygon(largeSquare, squareHole)
        check(
            holed, Oracle(40.01, 116.01, 170.763), Oracle(40.008, 116.01, 0), Oracle(40.0080001, 116.01, 0.0111, 2e-4))
        check(holed, Oracle(40.004, 116.01, -444.139))
    }

    @Test func everyEdgeOfARingCounts() throws {
        // Each edge in turn is the one that closes the ring.
        for turn in 0..<4 {
            let square = try polygon(Array(smallSquare[turn...] + smallSquare[..<turn]))
            #expect(square.contains(place(40.005, 116.005)))
            for outside in [(39.995, 116.005), (40.015, 116.005), (40.005, 115.995), (40.005, 116.015)] {
                #expect(!square.contains(place(outside.0, outside.1)))
            }
        }
    }

    @Test func concaveShapesAndRaysThroughVertices() throws {
        // G13, G14
        check(
            try polygon(uShape), Oracle(40.015, 116.015, 426.876), Oracle(40.015, 116.005, -426.876),
            Oracle(40.005, 116.015, -555.173))
        check(
            try polygon([(40.0, 116.0), (40.01, 116.01), (40.02, 116.0), (40.01, 115.99)]),
            Oracle(40.01, 116.005, -338.418), Oracle(40.01, 116.02, 853.814), Oracle(40.01, 115.98, 853.814),
            Oracle(40.01, 115.99, 0))
    }

    @Test func polygonsAcrossTheAntimeridian() throws {
        // G18 to G20
        let shape = try polygon(fiji)
        check(shape, Oracle(-16.8, 179.99, -4263.93, 0.01), Oracle(-16.8, -179.99, -4263.93, 0.01))
        check(shape, Oracle(-16.8, 180, -5329.91, 0.01), Oracle(-16.8, -180, -5329.91, 0.01))
        check(shape, Oracle(-16.8, 179.94, 1065.98, 0.01), Oracle(-16.8, -179.9499, 10.66, 0.01))
        #expect(!shape.contains(place(-16.8, 0)))
        let antarctic = try polygon([(-80.929, -178.785), (-82.68, -177.567), (-82.68, 169.654), (-80.929, 170.873)])
        #expect(antarctic.contains(place(-81.844418, 176.043772)))
        check(antarctic, Oracle(-81.844418, -176.043772, 33_117, 1))
    }

    /// Its vertices lie on both sides of every place in it: none of them may be moved towards the place.
    @Test func aPolygonWiderThanHalfTheEarth() throws {
        let south = [-170.0, -60, 60, 175].map { (-10.0, $0) }
        let shape = try polygon(south + south.reversed().map { (10.0, $0.1) })
        for longitude in [-170.0, -169, -100, -3, 0, 2.5, 3, 90, 174, 175] {
            #expect(shape.contains(place(0, longitude)), "\(longitude)")
        }
        for longitude in [-180.0, -171, 175.1, 177.5, 179.9, 180] {
            #expect(!shape.contains(place(0, longitude)), "\(longitude)")
        }
    }

    @Test func corridors() throws {
        // G22 to G27
        let straight = try corridor([(40.0, 116.0), (40.0, 116.02)], 50)
        check(straight, Oracle(40.0004494, 116.01, -0.101), Oracle(40.0004510, 116.01, 0.077))
        check(
            straight, Oracle(40.0, 116.0205, -7.303), Oracle(40.0, 116.0206, 1.236), Oracle(40.0004, 116.0202, -2.416))
        check(
            try corridor([(40.0, 116.0), (40.0, 116.01), (40.01, 116.01)], 60), Oracle(40.0005, 116.0094, -8.764),
            Oracle(39.9996, 116.0104, -3.970), Oracle(39.9995, 116.0107, 21.580))
        check(
            try corridor([(40.0, 116.0), (40.0, 117.17)], 100), Oracle(40.0, 116.585, -100),
            Oracle(40.0014764, 116.585, 63.932))
        check(
            try corridor([(-16.8, 179.99), (-16.8, -179.99)], 50), Oracle(-16.7996, 180, -5.733),
            Oracle(-16.7996, -179.999, -5.733), Oracle(-16.799, 179.999, 60.667))
        check(try corridor([(40.0, 116.0), (40.0, 116.0)], 50), Oracle(40.0001911, 116.0002484, -19.997))
    }

    @Test func buffers() throws {
        // G28 to G31
        let square = try polygon(smallSquare, buffer: 50)
        check(square, Oracle(40.0104, 116.005, -5.586), Oracle(40.0105, 116.005, 5.517))
        check(square, Oracle(40.0103, 116.0104, -2.293), Oracle(40.0104, 116.0105, 11.604))
        check(try polygon(largeSquare, squareHole, buffer: 200), Oracle(40.01, 116.01, -29.237))
        check(try polygon(largeSquare, squareHole, buffer: 150), Oracle(40.01, 116.01, 20.763))
        check(
            try polygon(fiji, buffer: 100), Oracle(-16.8, -179.9492, -14.721, 0.01),
            Oracle(-16.8, -179.9490, 6.598, 0.01))
    }
}
