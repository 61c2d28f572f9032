internal import TrackModel

/// How a vehicle was driven.
package struct DrivingBehaviour: Hashable, Sendable {
    /// The first and the last sample; nil for an empty track.
    package internal(set) var start: TrackSample?
    package internal(set) var end: TrackSample?
    /// Metres, without interruptions.
    package internal(set) var distance = 0.0
    /// The greatest plausible speed, km/h; where none was uploaded, that of the way between places. Nil when nothing
    /// tells it.
    package internal(set) var maximumSpeed: Double?
    /// Neighbours between which the vehicle cannot have driven.
    package internal(set) var breaks = 0
    package internal(set) var speeding: [SpeedingEpisode] = []
    package internal(set) var accelerations: [HarshEvent] = []
    package internal(set) var brakings: [HarshEvent] = []
    package internal(set) var steerings: [SteeringEvent] = []
    package internal(set) var rate = HarshRate()

    /// Whole seconds from the first sample to the last.
    package var duration: Int64 {
        guard let start, let end else { return 0 }
        return end.timestamp.seconds - start.timestamp.seconds
    }

    /// km/h; 0 for a track without duration.
    package var averageSpeed: Double { duration > 0 ? distance / Double(duration) * 3.6 : 0 }
}
