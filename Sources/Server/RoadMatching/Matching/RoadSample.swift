package import TrackAnalysis

/// A sample of the cleaned track with what is known of its road.
package struct RoadSample: Hashable, Sendable {
    /// On the road, when it is matched.
    package internal(set) var sample: TrackSample
    /// Nil when the sample is not matched: it stays where it was.
    package internal(set) var edge: RoadEdge?
    /// Metres along the road from the sample before; nil when no road is known on this way.
    package internal(set) var path: Double?
    /// Metres of ``path`` on toll roads.
    package internal(set) var toll = 0.0
    /// The corners of the road on the way from the sample before.
    package internal(set) var corners: [RoadVertex] = []

    init(_ sample: TrackSample) { self.sample = sample }
}
