import Geodesy
import TrackModel

@testable import TrackAnalysis

/// SplitMix64: the same numbers everywhere for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Fresh seeds on every run; whatever fails prints its own.
func seeds(_ count: Int) -> [UInt64] { (0..<count).map { _ in UInt64.random(in: 0 ... .max) } }

func near(_ left: Double, _ right: Double, _ tolerance: Double) -> Bool { (left - right).magnitude <= tolerance }

/// 200 km/h.
let usualCap = 200 / 3.6

extension TrackColumns {
    /// The points as they are, in their order.
    var samples: [TrackSample] { (0..<count).map { sample(at: $0, index: $0) } }
}

extension Array {
    /// One of the elements; the array has some.
    func one(_ random: inout SeededGenerator) -> Element { self[Int.random(in: 0..<count, using: &random)] }
}
