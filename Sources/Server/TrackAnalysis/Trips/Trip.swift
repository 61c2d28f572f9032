internal import TrackModel

/// A movement from one stay to the next.
package struct Trip: Hashable, Sendable {
    /// The last sample of the stay before it, or the first sample after a long silence or of the track.
    package let start: TrackSample
    /// The first sample of the stay after it, or the last sample before a long silence or of the track.
    package let end: TrackSample
    /// Metres between samples, without interruptions.
    package let distance: Double
    /// Metres of straight lines across interruptions.
    package let unrecorded: Double
    /// The greatest uploaded speed, km/h; where none was uploaded, that of the way between places. Nil when nothing tells
    /// it.
    package let maximumSpeed: Double?
    /// The track begins with the trip: it may have begun before.
    package let isOpenAtStart: Bool
    /// The track ends with the trip: it may go on.
    package let isOpenAtEnd: Bool

    /// Seconds between the whole seconds of both ends.
    package var duration: Int64 { end.timestamp.seconds - start.timestamp.seconds }
}
