/// Two neighbours of a track with five minutes or more between them.
package struct Interruption: Hashable, Sendable {
    package let start: TrackSample
    package let end: TrackSample
    /// Metres of the straight line along the ground.
    package let straight: Double

    /// Milliseconds between neighbours that are an interruption.
    package static let span: Int64 = 300_000

    /// Seconds.
    package var seconds: Double { end.seconds(since: start) }
}
