import TrackModel

@testable import AgentLogic

/// 2026-11-21T06:00:00Z.
let epochStart: Int64 = 1_795_240_800_000

/// A fix some milliseconds after the start, some metres north of 52 N 4 E.
func fix(at milliseconds: Int64, north metres: Double = 0, accuracy: Int32? = nil) -> Fix {
    let latitude = 52 + metres / 111_194.93
    guard let coordinate = Coordinate(latitude: latitude, longitude: 4) else {
        fatalError("a test asked for a place beyond the pole: \(metres) m")
    }
    return Fix(
        time: Timestamp(milliseconds: epochStart + milliseconds), coordinate: coordinate, accuracy: accuracy,
        mode: .threeDimensional, status: .plain)
}

extension Sampler {
    /// The times of the points that come of fixes at some times, milliseconds after the start.
    mutating func pointTimes(_ times: some Sequence<Int64>) -> [Int64] {
        times.compactMap { time in
            guard case .point(let point) = fix(AgentLogicTests.fix(at: time)) else { return nil }
            return point.time.milliseconds - epochStart
        }
    }
}
