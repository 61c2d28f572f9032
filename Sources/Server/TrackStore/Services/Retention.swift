/// How long a service keeps its points.
package enum Retention: Hashable, Sendable, CustomStringConvertible {
    /// As long as the server's configuration says.
    case standard
    case forever
    /// 1 ... ``mostDays``.
    case days(Int)

    package static let mostDays = 36_500

    /// `days`, `forever` or `default`. Nil for any other text, and for a number out of range.
    package init?(_ text: String) {
        switch text {
        case "default": self = .standard
        case "forever": self = .forever
        default:
            guard let days = Int(text), (1...Self.mostDays).contains(days) else { return nil }
            self = .days(days)
        }
    }

    /// As ``init(_:)`` reads it.
    package var description: String {
        switch self {
        case .standard: "default"
        case .forever: "forever"
        case .days(let days): "\(days)"
        }
    }

    /// Days for which points are kept; nil: for ever. `standard`: what the configuration says.
    package func days(standard: Int?) -> Int? {
        switch self {
        case .standard: standard
        case .forever: nil
        case .days(let days): days
        }
    }
}
