/// How interruptions count in a distance.
package enum Supplement: Hashable, Sendable {
    /// Not at all.
    case none
    /// As the straight line.
    case straight
    /// As the length of a route, metres, in the order of the interruptions; where there is none, as the straight line
    /// times the factor.
    case routes([Double?], factor: Double)

    func length(of interruption: Interruption, at position: Int) -> Double? {
        switch self {
        case .none: nil
        case .straight: interruption.straight
        case .routes(let routes, let factor):
            (position < routes.count ? routes[position] : nil) ?? interruption.straight * factor
        }
    }
}
