package import Geodesy
package import TrackModel

/// A place at which the vehicle stayed.
package struct StayPoint: Hashable, Sendable {
    /// Of the first and the last sample inside.
    package let start: Timestamp
    package let end: Timestamp
    /// The mean place of the samples inside, WGS 84.
    package let place: Degrees
    /// Samples inside.
    package let count: Int
    /// Milliseconds of the longest silence between samples inside.
    package let longestSilence: Int64
    /// The stay begins with the first sample of the track: it may have begun before.
    package let isOpenAtStart: Bool
    /// The track ends with the stay: it may go on.
    package let isOpenAtEnd: Bool

    init(_ run: StayRun, isOpenAtStart: Bool, isOpenAtEnd: Bool) {
        start = Timestamp(milliseconds: run.first.time)
        end = Timestamp(milliseconds: run.last.time)
        place = run.mean.degrees
        count = run.count
        longestSilence = run.longestSilence
        self.isOpenAtStart = isOpenAtStart
        self.isOpenAtEnd = isOpenAtEnd
    }

    /// Seconds between the whole seconds of both ends, as the Web API tells it.
    package var duration: Int64 { end.seconds - start.seconds }
}
