import Geodesy
import JSON
import Logging
import RoadMatching
import Synchronization
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadEngine

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A clock that a test moves.
final class HandClock: Sendable {
    private let time = Mutex(MonotonicTime(milliseconds: 1_000_000))
    var now: MonotonicTime { time.withLock { $0 } }
    func move(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

/// A drive on the made road: 20 m/s, a sample every two seconds, 3 m beside the road.
func drive(_ count: Int, from start: Double = 30) -> [TrackSample] {
    (0..<count).map { number in
        let place = MadeRoad.place(start + Double(number) * 40, left: 3)
        return TrackSample(
            index: number, time: 1_767_600_000_000 + Int64(number) * 2000,
            latitudeE7: Int32((place.latitude * 1e7).rounded()),
            longitudeE7: Int32((place.longitude * 1e7).rounded()), speed: 2000)
    }
}

extension RoadClient {
    func errand(_ owner: String = "1/van", _ mode: TravelMode = .driving) -> RoadErrand {
        RoadErrand(owner: owner, mode: mode, speedCap: 200 / 3.6, deadlines: deadlines(.usual))
    }

    /// The state after matching a drive.
    func state(_ count: Int = 100, _ owner: String = "1/van") async -> RoadsState {
        await match(drive(count), errand(owner)).state
    }
}
