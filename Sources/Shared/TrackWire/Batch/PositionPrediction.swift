/// Predicts the next position from the speed and course that every point carries. It uses only integers, so that every
/// program in every language makes the same prediction. All arithmetic wraps. Shifts of signed numbers keep the sign.
struct PositionPrediction {
    /// Which point's velocity counts for the way between two points.
    enum Velocity: UInt64, CaseIterable {
        /// No velocity. With full feedback the prediction is the straight line through the last two points.
        case none = 0
        case former = 1
        case mean = 2
        case latter = 3
    }

    let velocity: Velocity
    /// How much of the last error the prediction expects again, in quarters: 0...4.
    let feedback: Int64

    /// The combinations to try, the most useful first.
    static let candidates: [PositionPrediction] = Velocity.allCases.flatMap { velocity in
        [0, 2, 3, 4].map { PositionPrediction(velocity: velocity, feedback: $0) }
    }

    /// The error that the prediction expects after the last step.
    @inline(__always)
    func expected(after error: Int64) -> Int64 {
        (feedback &* error) >> 2
    }

    /// The displacement from row `row - 1` to `row` by velocity alone, in 1e-7 degree, for rows of one batch.
    func displacement(
        to row: Int, intervals: [Int64], vectors: [GroundVector], latitude: Int64
    ) -> (latitude: Int64, longitude: Int64) {
        let interval = intervals[row - 1]
        // No vehicle keeps its speed and course for more than an hour.
        guard velocity != .none, (1...3_600_000).contains(interval) else { return (0, 0) }
        let (former, latter) = (vectors[row - 1], vectors[row])
        let north: Int64
        let east: Int64
        switch velocity {
        case .none: return (0, 0)
        case .former: (north, east) = (2 &* former.north, 2 &* former.east)
        case .mean: (north, east) = (former.north &+ latter.north, former.east &+ latter.east)
        case .latter: (north, east) = (2 &* latter.north, 2 &* latter.east)
        }
        // Converts centimetres a second times milliseconds to 1e-7 degree: 15071 / 2^24 is a thousandth of 0.8983 (1e-7
        // degree for each centimetre).
        let northward = (((north &* interval) >> 15) &* 15071) >> 24
        let eastward = (((east &* interval) >> 15) &* 15071) >> 24
        let parallel = max(GroundVector.cosine(latitude.magnitude / 1_000_000), 164)
        return (northward, (eastward << 14) / parallel)
    }
}

/// Speed over ground as a vector, cm/s * 2^14.
struct GroundVector {
    let north: Int64
    let east: Int64

    /// Zero unless speed and course are known, the speed within 0...100,000 cm/s and the course within 0 ..< 3600
    /// tenths.
    init(speed: Int64, course: Int64) {
        guard (0...100_000).contains(speed), (0..<3600).contains(course) else {
            north = 0
            east = 0
            return
        }
        north = speed &* Self.cosine(UInt64(course))
        east = speed &* Self.sine(UInt64(course))
    }

    /// The sine of an angle in 0.1 degree, times 2^14: Bhaskara's approximation, with an error of at most 0.0017.
    static func sine(_ angle: UInt64) -> Int64 {
        let turned = Int64(angle % 3600)
        let half = turned % 1800
        let product = half * (1800 - half)
        let value = ((product * 4) << 14) / (4_050_000 - product)
        return turned >= 1800 ? -value : value
    }

    static func cosine(_ angle: UInt64) -> Int64 { sine(angle + 900) }
}
