import ProgramTestKit
import Testing
import TrackModel

@testable import Geodesy

@Suite struct ShapeRefusalTests {
    private func refusal(_ make: () throws -> Shape) -> ShapeError? {
        do {
            _ = try make()
            return nil
        } catch {
            return error as? ShapeError
        }
    }

    @Test func aBowTieIsRefusedWithEdgesAndPlace() {
        // G15
        let error = refusal { try polygon([(40.0, 116.0), (40.01, 116.01), (40.01, 116.0), (40.0, 116.01)]) }
        #expect(error?.rule == .crossing)
        #expect(
            error?.description
                == "edge 1 of the outer ring (40.0, 116.0 to 40.01, 116.01) crosses edge 3 of the outer ring"
                + " (40.01, 116.0 to 40.0, 116.01) at 40.005, 116.005: no two edges of a shape may cross")
    }

    /// The ring comes to a vertex on another edge and goes on beyond it, in every direction and order of the edges.
    @Test func aCrossingThroughAVertexIsRefusedHoweverItIsDrawn() {
        let ring: [(x: Double, y: Double)] = [(0, 0), (10, 0), (12, 5), (3, 5), (5, 0), (7, -5), (-2, -5)]
        for (mirroredX, mirroredY, swapped, backwards) in (0..<16).map({ ($0 & 1, $0 & 2, $0 & 4, $0 & 8) }) {
            func drawn(_ ring: [(x: Double, y: Double)]) -> [(Double, Double)] {
                let places = ring.map { vertex -> (Double, Double) in
                    let x = (mirroredX > 0 ? -vertex.x : vertex.x) / 1024
                    let y = (mirroredY > 0 ? -vertex.y : vertex.y) / 1024
                    return swapped > 0 ? (40 + x, 116 + y) : (40 + y, 116 + x)
                }
                return backwards > 0 ? places.reversed() : places
            }
            let text = "\(mirroredX) \(mirroredY) \(swapped) \(backwards)"
            #expect(refusal { try polygon(drawn(ring)) }?.rule == .crossing, "\(text)")
        }
    }

    @Test(arguments: [
        (95, 200, "95.0, 200.0"), (-90.5, -180.25, "-90.5, -180.25"), (.nan, 0, "nan, 0.0"),
        (200, 1e300, "200.0, 1e+300"),
    ])
    func aPlaceOutsideTheEarthIsNamedAsItWasGiven(latitude: Double, longitude: Double, text: String) {
        let error = refusal { try circle(latitude, longitude, 100) }
        #expect(error?.rule == .coordinate)
        #expect(error?.description.contains(text) == true, "\(error?.description ?? "none")")
    }

    @Test func aHoleAcrossTheShellIsRefused() {
        // G16
        let error = refusal { try polygon(largeSquare, box(40.005, 40.015, 116.015, 116.025)) }
        #expect(error?.rule == .crossing)
        #expect(error?.description.contains("hole 1") == true)
        #expect(error?.description.contains("at 40.005, 116.02:") == true)
    }

    @Test func aCrossingThroughAVertexIsRefused() {
        // The ring comes to the middle of its first edge from one side and leaves on the other.
        let ring = [(40.0, 116.0), (40.0, 116.02), (40.01, 116.02), (40.0, 116.01), (39.99, 116.005)]
        // Whichever edge is looked at first.
        for turn in ring.indices {
            for ring in [ring, ring.reversed()] {
                let error = refusal { try polygon(Array(ring[turn...] + ring[..<turn])) }
                #expect(error?.rule == .crossing, "\(turn)")
            }
        }
    }

    @Test func aTouchIsNoCrossing() throws {
        // The ring only touches its first edge, and stays on its side.
        let shape = try polygon([(40.0, 116.0), (40.0, 116.02), (40.01, 116.02), (40.0, 116.01), (40.01, 116.0)])
        #expect(shape.contains(place(40.001, 116.0005)))
        #expect(!shape.contains(place(40.005, 116.01)))
    }

    @Test func holesOutsideAndPartsInsideAreRefused() {
        #expect(refusal { try polygon(smallSquare, box(40.02, 40.03, 116.0, 116.01)) }?.rule == .holeOutside)
        let parts = ShapeDraft(.polygon([[degrees(largeSquare)], [degrees(squareHole)]]))
        #expect(refusal { try parts.shape() }?.rule == .partInside)
        let nested = ShapeDraft(
            .polygon([[degrees(largeSquare), degrees(squareHole), degrees(box(40.009, 40.011, 116.009, 116.011))]]))
        #expect(refusal { try nested.shape() }?.rule == .partInside)
    }

    @Test func anIslandInALakeIsAPart() throws {
        let island = box(40.009, 40.011, 116.009, 116.011)
        let shape = try ShapeDraft(.polygon([[degrees(largeSquare), degrees(squareHole)], [degrees(island)]])).shape()
        #expect(shape.contains(place(40.01, 116.01)))
        #expect(!shape.contains(place(40.0085, 116.01)))
        #expect(shape.contains(place(40.004, 116.01)))
    }

    @Test func identicalVerticesHaveNoArea() {
        // G17
        #expect(refusal { try polygon([(40.0, 116.0), (40.0, 116.0), (40.0, 116.0)]) }?.rule == .noArea)
        #expect(!Shape.nowhere.contains(place(40.0, 116.0)))
    }

    @Test func ringsAroundAPoleAndHalfTurnsAreRefused() {
        // G21; the last edge of that ring is no half turn.
        #expect(refusal { try polygon([(-80, 0), (-80, 90), (-80, 179), (-80, -90)]) }?.rule == .aroundPole)
        #expect(refusal { try polygon([(-80, 0), (-80, 90), (-80, 180), (-80, -90)]) }?.rule == .aroundPole)
        let half = refusal { try corridor([(10, -90), (10, 90)], 50) }
        #expect(half?.rule == .halfTurn)
        #expect(half?.description.contains("edge 1 of the corridor, from 10.0, -90.0 to 10.0, 90.0") == true)
    }

    @Test(arguments: [Double.nan, 0, -1, 1_000_000.1, .infinity])
    func radii(_ radius: Double) {
        #expect(refusal { try circle(40, 116, radius) }?.rule == .radius)
    }

    @Test(arguments: [(Double.nan, 0.0), (90.1, 0.0), (0.0, 180.1), (-Double.infinity, 0.0), (1e300, 1e300)])
    func places(_ pair: (Double, Double)) {
        for datum in Datum.allCases {
            #expect(refusal { try circle(pair.0, pair.1, 100, datum: datum) }?.rule == .coordinate)
            #expect(refusal { try polygon([(0, 0), pair, (0, 1)], datum: datum) }?.rule == .coordinate)
        }
    }

    @Test func buffersAndCounts() {
        #expect(refusal { try circle(40, 116, 100, buffer: -1) }?.rule == .buffer)
        #expect(refusal { try circle(40, 116, 100, buffer: .nan) }?.rule == .buffer)
        let point = ShapeDraft(.point(Degrees(latitude: 40, longitude: 116)))
        #expect(refusal { try point.shape() }?.rule == .buffer)
        #expect(refusal { try corridor([(40, 116)], 50) }?.rule == .count)
        #expect(refusal { try ShapeDraft(.polygon([])).shape() }?.rule == .count)
        #expect(refusal { try ShapeDraft(.polygon([[], [degrees(smallSquare)]])).shape() }?.rule == .count)
        let many = Array(repeating: (40.0, 116.0), count: 100_001)
        #expect(refusal { try polygon(many) }?.rule == .count)
        #expect(refusal { try corridor(Array(many.prefix(10_001)), 50) }?.rule == .count)
    }

    @Test func aSpiralAroundTheEarthIsRefused() {
        let spiral: [(Double, Double)] = (0..<20).map { index in
            let longitude = (index * 60 + 180) % 360 - 180
            return (Double(index) / 10, Double(longitude))
        }
        #expect(refusal { try corridor(spiral, 50) }?.rule == .tooWide)
    }

    @Test func theCheckOfLongEdgesIsBounded() {
        // A comb at 45 degrees: all edges overlap on both axes.
        var comb: [LineVertex] = []
        for index in 0..<200 {
            let along = Int64(index)
            comb.append(LineVertex(x: along, y: -along, number: 2 * index + 1))
            comb.append(LineVertex(x: along + 10_000, y: 10_000 - along, number: 2 * index + 2))
        }
        var check = RingCheck(rings: [comb], shells: [0], names: ["the ring"])
        check.comparisonLimit = 1000
        #expect(throws: ShapeError.self) { try check.check() }
    }

    @Test func theCheckOfRingsOnEachOtherIsBounded() {
        var ring: [LineVertex] = []
        for index in 0..<200 {
            ring.append(LineVertex(x: Int64(index), y: index % 2 == 0 ? 0 : 10, number: index + 1))
        }
        ring.append(LineVertex(x: 100, y: -100, number: 201))
        var check = RingCheck(rings: [ring, ring], shells: [0, 0], names: ["the shell", "the hole"])
        check.comparisonLimit = 30_000
        #expect(throws: ShapeError.self) { try check.check() }
    }
}

@Suite struct RingCleaningTests {
    private func vertexCount(_ shape: Shape) -> Int? {
        guard case .polygon(let polygon, _) = shape.body else { return nil }
        return polygon.vertices.count
    }

    @Test func whatAddsNoAreaGoes() throws {
        let plain = try polygon(smallSquare)
        let closed = try polygon(smallSquare + [smallSquare[0]])
        let repeated = try polygon(smallSquare.flatMap { [$0, $0, $0] })
        let collinear = try polygon([(40.0, 116.005)] + smallSquare.dropFirst() + [smallSquare[0]])
        let spiked = try polygon(
            smallSquare.dropLast() + [(40.01, 116.005), (40.02, 116.005), (40.01, 116.005)] + [smallSquare[3]])
        for shape in [plain, closed, repeated, collinear, spiked] {
            #expect(vertexCount(shape) == 4)
            #expect(shape.contains(place(40.005, 116.005)))
            #expect(near(shape.signedDistance(to: place(40.02, 116.005)), 1110.35, 0.1))
        }
    }

    @Test func aSpikeAtTheEndOfTheListGoes() throws {
        #expect(vertexCount(try polygon([(39.99, 116.0)] + smallSquare)) == 4)
        #expect(vertexCount(try polygon(smallSquare + [(40.02, 116.0)])) == 4)
    }
}
