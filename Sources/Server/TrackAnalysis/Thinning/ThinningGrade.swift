/// How strongly a track is thinned for display.
package enum ThinningGrade: Int, Hashable, Sendable, CaseIterable {
    case off = 0
    case finest
    case fine
    case middle
    case coarse
    case coarsest

    /// Metres by which a dropped point may be off the line between its kept neighbours, at its time.
    package var tolerance: Double {
        switch self {
        case .off: 0
        case .finest: 3
        case .fine: 5
        case .middle: 10
        case .coarse: 20
        case .coarsest: 50
        }
    }
}
