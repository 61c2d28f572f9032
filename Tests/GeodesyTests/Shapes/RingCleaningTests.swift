import ProgramTestKit
import Testing
import TrackModel

@testable import Geodesy

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
