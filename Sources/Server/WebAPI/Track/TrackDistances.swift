import JSON
import TrackAnalysis

/// The lengths of one track side by side, without its interruptions: an addition to the published API that says where a
/// difference comes from.
struct TrackDistances: Sendable {
    /// Metres between the points as they were uploaded.
    let raw: Double
    /// Metres of the cleaned track; nil when it was not cleaned.
    let cleaned: Double?
    /// Metres along roads; nil when the track is not on roads.
    let roads: Double?
}

extension TrackDistances {
    /// The member `distances`. `total`: the `distance` of the answer. `supplement`: the part of it that interruptions add.
    func write(total: Double, supplement: Double, to object: inout JSONWriter) {
        object.object("distances") {
            for (name, metres) in [("raw", raw), ("cleaned", cleaned), ("roads", roads), ("supplement", supplement)] {
                guard let metres else { continue }
                $0.name(name)
                $0.rounded(metres, digits: 4)
            }
            $0.name("supplement_share")
            $0.rounded(total > 0 ? supplement / total : 0, digits: 4)
        }
    }
}
