import Terminal

/// A key of the Web API's `process_option`, and which calls read it.
enum ProcessKey: String, CaseIterable {
    case denoiseGrade = "denoise_grade"
    case needDenoise = "need_denoise"
    case radiusThreshold = "radius_threshold"
    case thinningGrade = "vacuate_grade"
    case needThinning = "need_vacuate"
    case needRoads = "need_mapmatch"
    case travel = "transport_mode"

    /// The keys that a call reads. The server passes over the others without a word.
    static func keys(of call: String) -> [ProcessKey] {
        switch call {
        case "track/gettrack": allCases
        case "track/getdistance", "track/getlatestpoint":
            allCases.filter { $0 != .thinningGrade && $0 != .needThinning }
        case "analysis/drivingbehavior": [.needRoads, .travel]
        default: [.travel]
        }
    }

    /// What its value may be.
    private var rule: String {
        switch self {
        case .denoiseGrade, .thinningGrade: "a grade from 0 to 5"
        case .needDenoise, .needThinning, .needRoads: "0 or 1"
        case .radiusThreshold: "a number of metres from 0 to 1000000, 0 for no limit"
        case .travel: "auto, driving, riding or walking"
        }
    }

    private func takes(_ value: String) -> Bool {
        switch self {
        case .denoiseGrade, .thinningGrade: Int(value).map { (0...5).contains($0) } ?? false
        case .needDenoise, .needThinning, .needRoads: ["0", "1"].contains(value)
        case .radiusThreshold: Int(value).map { (0...1_000_000).contains($0) } ?? false
        case .travel: ["auto", "driving", "riding", "walking"].contains(value)
        }
    }

    /// The pairs of `--process`, each `name=value`, several joined by commas.
    static func pairs(_ texts: [String], for call: String) throws(CommandFailure) -> [(ProcessKey, String)] {
        let known = keys(of: call)
        var pairs: [(ProcessKey, String)] = []
        for text in texts.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let parts = text.split(separator: "=", maxSplits: 1).map { String($0).trimmed.lowercased() }
            guard parts.count == 2 else {
                throw CommandFailure(
                    .usage, "--process '\(String(text).printable)': give it as name=value, as in \(known[0].rawValue)=1"
                )
            }
            guard let key = ProcessKey(rawValue: parts[0]), known.contains(key) else {
                let names = known.map(\.rawValue).joined(separator: ", ")
                let problem =
                    ProcessKey(rawValue: parts[0]) == nil ? "there is no such option" : "this command has no use for it"
                throw CommandFailure(.usage, "--process \(parts[0].printable): \(problem); it takes \(names)")
            }
            guard key.takes(parts[1]) else {
                throw CommandFailure(
                    .usage, "--process \(key.rawValue)=\(parts[1].printable): \(key.rawValue) is \(key.rule)")
            }
            guard !pairs.contains(where: { $0.0 == key }) else {
                throw CommandFailure(.usage, "--process \(key.rawValue) is given twice")
            }
            pairs.append((key, parts[1]))
        }
        return pairs
    }
}
