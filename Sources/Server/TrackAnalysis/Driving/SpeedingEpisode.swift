package import Geodesy
package import TrackModel

/// Two or more samples in a row over the limit.
package struct SpeedingEpisode: Hashable, Sendable {
    package struct End: Hashable, Sendable {
        package let index: Int
        package let time: Timestamp
        /// WGS 84.
        package let place: Degrees
        /// km/h.
        package let actualSpeed: Double
        package let limit: Double
    }

    package let start: End
    package let end: End
    /// Metres from the first sample to the last.
    package let distance: Double
}
