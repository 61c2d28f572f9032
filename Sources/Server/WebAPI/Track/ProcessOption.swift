/// How a track is to be corrected: `process_option` in both of its generations.
struct ProcessOption: Hashable, Sendable {
    enum TransportMode: Sendable {
        case automatic
        case driving
        case riding
        case walking
    }

    /// 0 none ... 5 strictest; the grades above 1 also limit the radius.
    var denoiseGrade = 1
    /// 0 none ... 5 strongest.
    var vacuateGrade = 0
    var mapMatch = false
    var transportMode = TransportMode.automatic
    /// From `radius_threshold`, metres.
    private var givenRadiusLimit: Int?

    /// Points with a larger radius are left out, metres; nil for no limit. The stricter of both generations counts.
    var radiusLimit: Int? {
        let ofGrade: Int? =
            switch denoiseGrade {
            case 2: 500
            case 3: 100
            case 4: 50
            case 5: 20
            default: nil
            }
        guard let ofGrade, let givenRadiusLimit else { return ofGrade ?? givenRadiusLimit }
        return min(ofGrade, givenRadiusLimit)
    }

    /// Unknown keys and values that cannot be read are as if not given.
    init(parsing text: String?) {
        for pair in (text ?? "").split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1).map { Parameters.trimmed($0).lowercased() }
            guard parts.count == 2 else { continue }
            let (value, number) = (parts[1], Int(parts[1]))
            switch parts[0] {
            case "denoise_grade": if let number, (0...5).contains(number) { denoiseGrade = number }
            case "need_denoise": if let number, (0...1).contains(number) { denoiseGrade = number }
            case "vacuate_grade": if let number, (0...5).contains(number) { vacuateGrade = number }
            case "need_vacuate": if let number, (0...1).contains(number) { vacuateGrade = number }
            case "need_mapmatch": mapMatch = number == 1
            case "radius_threshold": givenRadiusLimit = number.flatMap { $0 > 0 ? $0 : nil }
            case "transport_mode":
                switch value {
                case "driving", "1": transportMode = .driving
                case "riding", "2": transportMode = .riding
                case "walking", "3": transportMode = .walking
                default: transportMode = .automatic
                }
            default: break
            }
        }
    }
}
