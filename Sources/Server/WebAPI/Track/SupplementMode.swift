import TrackAnalysis

/// How an interruption of a track counts.
enum SupplementMode: String, CaseIterable, Sendable {
    case none = "no_supplement"
    case straight
    case driving
    case riding
    case walking

    init(parsing text: String?) throws(APIFailure) {
        guard let text else {
            self = .none
            return
        }
        guard let mode = SupplementMode(rawValue: Parameters.trimmed(text).lowercased()) else {
            throw APIFailure(.parameter, "supplement_mode must be no_supplement, straight, driving, riding or walking")
        }
        self = mode
    }

    /// There is no road engine, so that no route is known: every route is as long as the straight line.
    var supplement: Supplement {
        switch self {
        case .none: .none
        case .straight: .straight
        case .driving, .riding, .walking: .routes([], factor: 1)
        }
    }

    /// Checks `supplement_content`. Its points come from routes, so that both of its values add none.
    static func checkContent(_ text: String?) throws(APIFailure) {
        switch text.map({ Parameters.trimmed($0).lowercased() }) {
        case nil, "only_distance", "distance_and_points": return
        default: throw APIFailure(.parameter, "supplement_content must be only_distance or distance_and_points")
        }
    }
}
