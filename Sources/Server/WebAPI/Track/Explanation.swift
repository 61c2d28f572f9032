/// What a client wants to know of the points that a processed track leaves out: `explain`, an addition to the published
/// API.
enum Explanation: Hashable, Sendable {
    case none
    /// How many points each reason dropped.
    case counts
    /// The dropped points too.
    case points

    init(parsing text: String?) throws(APIFailure) {
        switch text.map({ Parameters.trimmed($0).lowercased() }) {
        case nil, "0": self = .none
        case "1": self = .counts
        case "points": self = .points
        default: throw APIFailure(.parameter, "explain must be 0, 1 or points")
        }
    }
}
