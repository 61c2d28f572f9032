import RoadMatching
import TrackAnalysis

/// How a track is to be corrected: `process_option` in both of its generations.
struct ProcessOption: Hashable, Sendable {
    /// 0 none ... 5 strictest; the grades above 1 also limit the radius.
    var denoiseGrade = 1
    /// Applies to the points that are shown, never to a distance.
    var thinning = ThinningGrade.off
    var mapMatch = false
    var travel = TravelMode.automatic
    /// `travel` is automatic, and the client wants to know where the entity walked or rode: an addition to the published
    /// API.
    var detectsTravel = false
    /// From `radius_threshold`, metres.
    private var givenRadiusLimit: Double?

    /// How the track is cleaned. The stricter radius limit of both generations counts.
    func cleaning(_ analysis: AnalysisOptions) -> CleaningOptions {
        CleaningOptions(
            denoiseGrade: denoiseGrade, radiusLimit: givenRadiusLimit,
            speedCap: travel.speedCap(driving: analysis.metresASecond), believesMotion: travel.isVehicle)
    }

    /// How a track is cleaned for an analysis: only the option of the means of travel counts there. `collapsing` takes
    /// the drift of stops out.
    func analysisCleaning(_ analysis: AnalysisOptions, collapsing: Bool) -> CleaningOptions {
        CleaningOptions(
            speedCap: travel.speedCap(driving: analysis.metresASecond), believesMotion: travel.isVehicle,
            collapsesStops: collapsing)
    }

    /// How the entity travelled at each sample of the cleaned track; nil when the client has said how it travels.
    func kinds(of samples: [TrackSample], _ analysis: AnalysisOptions) -> [TravelKind]? {
        guard travel == .automatic else { return nil }
        return TravelKind.kinds(of: samples, detecting: detectsTravel || analysis.detectsTravel)
    }

    /// Whether ``kinds(of:_:)`` needs more than the sample itself.
    func comparesSamples(_ analysis: AnalysisOptions) -> Bool {
        travel == .automatic && (detectsTravel || analysis.detectsTravel)
    }

    /// Unknown keys and values that cannot be read are as if not given. Of a key of the old generation and its newer form,
    /// the stricter counts.
    init(parsing text: String?) {
        var denoise = Generations()
        var thin = Generations()
        for pair in TextParts.split(text ?? "", at: ",") {
            let parts = TextParts.split(pair, at: "=", most: 1).map { Parameters.trimmed($0).lowercased() }
            guard parts.count == 2 else { continue }
            let (value, number) = (parts[1], Int(parts[1]))
            switch parts[0] {
            case "denoise_grade": if let number, (0...5).contains(number) { denoise.grade = number }
            case "need_denoise": if let number, (0...1).contains(number) { denoise.old = number }
            case "vacuate_grade": if let grade = number.flatMap(ThinningGrade.init) { thin.grade = grade.rawValue }
            case "need_vacuate":
                if let number, (0...1).contains(number) {
                    thin.old = (number == 1 ? ThinningGrade.fine : .off).rawValue
                }
            case "need_mapmatch": mapMatch = number == 1
            case "radius_threshold": givenRadiusLimit = number.flatMap { $0 > 0 ? Double($0) : nil }
            case "transport_mode":
                detectsTravel = value == "detect"
                switch value {
                case "driving", "1": travel = .driving
                case "riding", "2": travel = .riding
                case "walking", "3": travel = .walking
                default: travel = .automatic
                }
            default: break
            }
        }
        denoiseGrade = denoise.stricter ?? denoiseGrade
        thinning = thin.stricter.flatMap(ThinningGrade.init) ?? thinning
    }

    /// A grade as each generation of the API gives it.
    private struct Generations {
        var grade: Int?
        var old: Int?

        /// Nil when neither is given.
        var stricter: Int? { [grade, old].compactMap(\.self).max() }
    }
}

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
