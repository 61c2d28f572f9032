import DriveSimulation
import Foundation
import Geodesy
import Geofencing
import TrackModel

/// A made-up service: polygons of 32 vertices, and vehicles that drive where the polygons are. The same seed gives the same
/// world.
struct FenceWorld {
    enum Spread: String, CaseIterable {
        /// Even, in a square of four degrees.
        case even = "f1"
        /// Around 200 centres in the same square.
        case clustered = "f2"
        /// All around one centre, and larger: some 12 fences around each point.
        case city = "f3"
    }

    private(set) var plans: [FencePlan] = []
    private let spread: Spread
    private var random: SeededGenerator
    private var centres: [Degrees] = []

    /// Degrees, the side of the square; its middle is at 40.0, 116.0.
    private static let side = 4.0

    init(_ spread: Spread, fences: Int, seed: UInt64) throws {
        self.spread = spread
        random = SeededGenerator(seed: seed)
        centres = (0..<200).map { _ in evenPlace() }
        plans.reserveCapacity(fences)
        for id in 0..<fences { plans.append(FencePlan(id: Int32(id + 1), shape: try star())) }
    }

    /// A vehicle's way: a point every 5 s and every `stride` metres, in a direction that changes a little.
    mutating func drive(points: Int, stride: Double, from start: Timestamp) -> [FencePoint] {
        var place = somewhere()
        var heading = Double.random(in: 0..<360, using: &random)
        return (0..<points).map { index in
            place = GreatCircle.destination(from: place, bearing: heading, distance: stride)
            heading += 0.2 * normal() * 180 / .pi
            return FencePoint(
                time: start.adding(milliseconds: Int64(index) * 5000), place: Self.coordinate(place), accuracy: 50,
                speed: Int32(stride / 5 * 100))
        }
    }

    /// A star of 32 vertices at 0.6 to 1.0 of its radius; half of the radii are below the geometric mean of their range.
    mutating func star() throws -> Shape {
        let middle = somewhere()
        let most = spread == .city ? 2000.0 : 500
        let radius = 50 * pow(most / 50, Double.random(in: 0...1, using: &random))
        let ring = (0..<32).map { index in
            GreatCircle.destination(
                from: middle, bearing: Double(index) * 360 / 32,
                distance: radius * Double.random(in: 0.6...1, using: &random))
        }
        return try ShapeDraft(.polygon([[ring]])).shape()
    }

    /// A place of the distribution of the fences.
    mutating func somewhere() -> Degrees {
        switch spread {
        case .even: evenPlace()
        case .clustered: near(centres[Int.random(in: centres.indices, using: &random)], 0.045, 0.06)
        case .city: near(Degrees(latitude: 40, longitude: 116), 0.25, 0.3)
        }
    }

    private mutating func evenPlace() -> Degrees {
        let reach = -Self.side / 2...Self.side / 2
        return Degrees(
            latitude: 40 + Double.random(in: reach, using: &random),
            longitude: 116 + Double.random(in: reach, using: &random))
    }

    private mutating func near(_ place: Degrees, _ north: Double, _ east: Double) -> Degrees {
        Degrees(latitude: place.latitude + normal() * north, longitude: place.longitude + normal() * east)
    }

    /// The normal distribution, by Box and Muller.
    private mutating func normal() -> Double {
        let size = (-2 * log(1 - Double.random(in: 0..<1, using: &random))).squareRoot()
        return size * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
    }

    static func coordinate(_ place: Degrees) -> Coordinate {
        guard let place = Coordinate(latitude: place.latitude, longitude: place.longitude) else {
            preconditionFailure("the made-up world lies around 40.0, 116.0")
        }
        return place
    }
}
