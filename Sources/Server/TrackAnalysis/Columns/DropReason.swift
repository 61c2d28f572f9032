/// Why a point of the raw track is not in the processed one.
package enum DropReason: UInt8, Hashable, Sendable, CaseIterable {
    /// Its radius is over the limit.
    case radius = 1
    /// It stands at exactly 0° N 0° E, where no other point is.
    case zero
    /// The vehicle cannot have been there between the points that are kept.
    case excursion
    /// It is one of many of a stop.
    case stop
    /// It is on the way between its neighbours, at its time.
    case thinned

    /// The word for it in answers.
    package var name: String {
        switch self {
        case .radius: "radius"
        case .zero: "zero"
        case .excursion: "excursion"
        case .stop: "stop"
        case .thinned: "thinned"
        }
    }
}
