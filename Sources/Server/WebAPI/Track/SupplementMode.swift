import RoadMatching
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

    /// How whoever was on the way travelled; nil when no route is asked for.
    var travel: TravelMode? {
        switch self {
        case .none, .straight: nil
        case .driving: .driving
        case .riding: .riding
        case .walking: .walking
        }
    }

    /// Where no route is known, a route is as long as the straight line times the operator's factor.
    func supplement(_ routes: RoadRoutes?, _ analysis: AnalysisOptions) -> Supplement {
        switch self {
        case .none: .none
        case .straight: .straight
        case .driving, .riding, .walking:
            .routes(routes?.answers.map { $0?.metres } ?? [], factor: analysis.supplementFactor)
        }
    }

    /// Whether `supplement_content` asks for the points of routes.
    static func showsPoints(parsing text: String?) throws(APIFailure) -> Bool {
        switch text.map({ Parameters.trimmed($0).lowercased() }) {
        case nil, "only_distance": return false
        case "distance_and_points": return true
        default: throw APIFailure(.parameter, "supplement_content must be only_distance or distance_and_points")
        }
    }
}
