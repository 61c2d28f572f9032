package import Geodesy

/// A stay: samples within reach of their common mean.
package struct StayRun: Hashable, Sendable {
    package let first: TrackSample
    package private(set) var last: TrackSample
    /// Samples inside.
    package private(set) var count: Int
    /// The mean of the samples inside, on the ground.
    package internal(set) var mean: EarthVector
    /// Milliseconds of the longest silence between samples inside.
    package private(set) var longestSilence: Int64

    init(first: TrackSample) {
        self.first = first
        last = first
        count = 0
        mean = first.position
        longestSilence = 0
    }

    mutating func extend(by sample: TrackSample) {
        longestSilence = max(longestSilence, sample.milliseconds(since: last))
        last = sample
        count += 1
    }
}
