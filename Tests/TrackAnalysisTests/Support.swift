import Geodesy
import ProgramTestKit
import TrackModel

@testable import TrackAnalysis

/// 200 km/h.
let usualCap = 200 / 3.6

extension TrackColumns {
    /// The points as they are, in their order.
    var samples: [TrackSample] { (0..<count).map { sample(at: $0, index: $0) } }
}

extension Array {
    /// One of the elements; the array has some.
    func one(_ random: inout Dice) -> Element { self[Int.random(in: 0..<count, using: &random)] }
}

/// The place `distance` metres on the ellipsoid from `start`, within a millionth; `bearing` is that of the sphere.
func destination(from start: Degrees, bearing: Double, distance: Double) -> Degrees {
    var angle = distance
    for _ in 0..<3 where distance > 0 {
        let length = SurfaceDistance.between(
            start, GreatCircle.destination(from: start, bearing: bearing, distance: angle))
        if length > 0 { angle *= distance / length }
    }
    return GreatCircle.destination(from: start, bearing: bearing, distance: angle)
}
