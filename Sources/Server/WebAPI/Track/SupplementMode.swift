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
}
