/// The length of a track: between neighbours, and apart from it across interruptions.
///
/// How an interruption counts is decided afterwards. So one reading of a track answers every supplement mode.
package struct TrackLength: Hashable, Sendable {
    /// km/h.
    private let threshold: Double?
    /// Metres between neighbours that are no interruption.
    package private(set) var driven = 0.0
    /// The part of ``driven`` below the threshold, metres.
    private var slow = 0.0
    package private(set) var interruptions: [Interruption] = []
    /// Neighbours between which the vehicle cannot have driven. What lies between them counts in no distance.
    package private(set) var breaks = 0

    init(threshold: Double?) { self.threshold = threshold }

    /// Adds the way between neighbours; the speed is that which was uploaded, km/h.
    mutating func add(_ metres: Double, seconds: Double, speed: Double?) {
        driven += metres
        if let threshold, (speed ?? Self.speed(metres, seconds)) < threshold { slow += metres }
    }

    mutating func addBreak() { breaks += 1 }

    mutating func add(_ interruption: Interruption) { interruptions.append(interruption) }

    /// Metres of the whole track, and the part of it below the threshold.
    package func total(_ supplement: Supplement) -> (metres: Double, slow: Double) {
        var (metres, slow) = (driven, slow)
        for (position, interruption) in interruptions.enumerated() {
            guard let length = supplement.length(of: interruption, at: position) else { continue }
            metres += length
            // The uploaded speed of the end says nothing of the way: only the way's own speed does.
            if let threshold, Self.speed(length, interruption.seconds) < threshold { slow += length }
        }
        return (metres, slow)
    }

    /// km/h.
    private static func speed(_ metres: Double, _ seconds: Double) -> Double {
        seconds > 0 ? metres / seconds * 3.6 : 0
    }
}
