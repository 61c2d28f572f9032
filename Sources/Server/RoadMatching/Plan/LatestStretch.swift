package import TrackAnalysis

/// What is matched to tell the road of the latest point.
package enum LatestStretch {
    /// Samples, and milliseconds before the last of them: the call is polled, so little is sent.
    static let most = 30
    static let span: Int64 = 120_000

    /// The end of a denoised track; empty when the vehicle is parked, because car parks have no roads.
    package static func samples(of track: [TrackSample]) -> [TrackSample] {
        guard let last = track.last, !last.isParked, !last.isInStop else { return [] }
        return Array(track.suffix(most).drop { last.milliseconds(since: $0) > span })
    }
}
