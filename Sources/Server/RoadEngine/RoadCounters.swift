package import Exposition
package import RoadMatching
import Synchronization

/// Counts calls of the road engine since the start of the server.
package final class RoadCounters: Sendable {
    package struct Counts: Sendable {
        /// Calls by what became of them: nil for an answer.
        package var calls: [RoadFailure?: UInt64] = [:]
        /// How long calls took that were made.
        package var durations = Histogram()
        /// Answers that were remembered, so that no call was needed.
        package var remembered: UInt64 = 0
        /// Samples of tracks that were matched: on a road, and not.
        package var onRoads: UInt64 = 0
        package var offRoads: UInt64 = 0
    }

    private let state = Mutex(Counts())

    package var counts: Counts { state.withLock { $0 } }

    func called(_ failure: RoadFailure?) { state.withLock { $0.calls[failure, default: 0] += 1 } }

    func lasted(_ milliseconds: Int64) { state.withLock { $0.durations.record(Double(milliseconds) / 1000) } }

    func remembered() { state.withLock { $0.remembered += 1 } }

    func matched(_ track: MatchedTrack) {
        let found = UInt64(track.samples.count { $0.edge != nil })
        state.withLock { counts in
            counts.onRoads += found
            counts.offRoads += UInt64(track.samples.count) - found
        }
    }
}
