import ProgramTestKit
import Testing
import TrackModel

@testable import Geodesy

@Suite struct ShapeDatumTests {
    @Test func aCircleInBD09LiesWhereTheMapShowsIt() throws {
        // G32
        let shape = try circle(40.0478, 116.3134, 50, datum: .bd09)
        guard case .circle(let converted) = shape.body else { return #expect(Bool(false)) }
        #expect(metres(Degrees(converted.centre), Degrees(latitude: 40.0404827, longitude: 116.3008443)) < 0.03)
        #expect(near(shape.signedDistance(to: place(40.0404827, 116.3014185)), -0.996, 0.02))
        #expect(near(shape.signedDistance(to: place(40.0404827, 116.3014419)), 1.001, 0.02))
        #expect(shape.contains(place(40.0404827, 116.3014185)))
        #expect(!shape.contains(place(40.0478, 116.3134)))
        #expect(near(shape.signedDistance(to: place(40.0478, 116.3134)), 1294.7, 0.1))
    }

    @Test(arguments: [
        (40.1486, 116.5167, 40.1410737, 116.5042881), (40.1478, 116.2134, 40.1407994, 116.2006800),
        (40.11, 120.44, 40.1027792, 120.4278349),
    ])
    func placesInBD09(_ pair: (Double, Double, Double, Double)) throws {
        // G33
        guard case .circle(let converted) = try circle(pair.0, pair.1, 100, datum: .bd09).body else { return }
        #expect(near(converted.centre.latitude, pair.2, 1.5e-7))
        #expect(near(converted.centre.longitude, pair.3, 1.5e-7))
    }

    @Test func aSquareInGCJ02() throws {
        // G34
        let square = [(31.23, 121.47), (31.23, 121.48), (31.24, 121.48), (31.24, 121.47)]
        let shape = try polygon(square, datum: .gcj02)
        guard case .polygon(let converted, _) = shape.body else { return #expect(Bool(false)) }
        let corners = [
            (31.2319199, 121.4654509), (31.2319464, 121.4754827), (31.2419419, 121.4754818), (31.2419153, 121.4654500),
        ]
        #expect(converted.vertices.count == 4)
        for (vertex, corner) in zip(converted.vertices, corners) {
            let found = converted.frame.degrees(x: Double(vertex.x), y: Double(vertex.y))
            #expect(near(found.latitude, corner.0, 1.5e-7) && near(found.longitude, corner.1, 1.5e-7), "\(found)")
        }
        #expect(near(shape.signedDistance(to: place(31.2369306, 121.4704660)), -477.82, 0.05))
        #expect(near(shape.signedDistance(to: place(31.235, 121.475)), -45.96, 0.05))
        #expect(near(shape.signedDistance(to: place(31.235, 121.4795)), 382.75, 0.05))
    }

    @Test func longEdgesAreCutBeforeTheyAreConverted() throws {
        // G35: the edge is bent; its middle lies 25.40 m from the straight line between the converted ends.
        let shape = try polygon([(39.95, 116.30), (39.95, 116.36), (39.99, 116.33)], datum: .bd09)
        #expect(near(shape.signedDistance(to: place(39.9429381, 116.3173223)), 0, 0.5))
        let straight = try polygon([(39.9424974, 116.2875475), (39.9429223, 116.3472409), (39.98, 116.32)])
        #expect(near(shape.signedDistance(to: place(39.9429381, 116.3173223)).magnitude, 0, 0.5))
        #expect(near(straight.signedDistance(to: place(39.9429381, 116.3173223)).magnitude, 25.40, 0.05))
    }

    @Test func outsideChinaEveryDatumIsWGS84() throws {
        // G36
        let shape = try circle(48.8584, 2.2945, 100, datum: .bd09)
        #expect(near(shape.signedDistance(to: place(48.8590, 2.2945)), -33.28, 0.01))
    }
}
