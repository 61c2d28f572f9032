package import Geodesy
package import TrackModel

/// A harsh acceleration or braking.
package struct HarshEvent: Hashable, Sendable {
    /// The sample at which it begins.
    package let index: Int
    package let time: Timestamp
    /// WGS 84.
    package let place: Degrees
    /// km/h.
    package let initialSpeed: Double
    package let endSpeed: Double
    /// Seconds from the first sample to the last.
    package let seconds: Double
    /// m/s²: the mean from the first sample to the last; negative when braking.
    package let acceleration: Double

    init?(from start: TrackSample, to end: TrackSample) {
        guard let first = start.kilometresAnHour, let last = end.kilometresAnHour,
            let acceleration = SpeedPair.acceleration(from: start, to: end)
        else { return nil }
        index = start.index
        time = Timestamp(milliseconds: start.time)
        place = start.place
        initialSpeed = first
        endSpeed = last
        seconds = end.seconds(since: start)
        self.acceleration = acceleration
    }
}
