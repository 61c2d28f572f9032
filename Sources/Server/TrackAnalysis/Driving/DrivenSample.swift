/// A sample with what is known of it besides.
struct DrivenSample: Sendable {
    let sample: TrackSample
    /// The road's speed limit, km/h.
    let limit: Double?
    /// Metres of the way from the sample before, when it is known better than by the straight line.
    let path: Double?
    /// The uploaded speed agrees with the places around it.
    var isPlausible = true

    /// km/h, when it is known and plausible.
    var plausibleSpeed: Double? { isPlausible ? sample.shownSpeed : nil }
}
