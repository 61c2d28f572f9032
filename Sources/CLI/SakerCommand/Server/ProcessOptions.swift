import ArgumentParser
import Terminal

/// How whoever was on the way travelled.
enum Travel: String, CaseIterable, ExpressibleByArgument {
    case auto, driving, riding, walking
}

/// How a track is to be corrected before it is shown or measured.
struct ProcessOptions: ParsableArguments {
    @Flag(name: .long, help: "Leave out points where the vehicle cannot have been, and the drift of stops.")
    var processed = false

    @Option(
        name: .long,
        help: ArgumentHelp("Denoising, 0 (none) to 5 (strictest). Implies --processed.", valueName: "grade"))
    var denoise: Int?

    @Option(
        name: .long, help: ArgumentHelp("Thinning, 0 (none) to 5 (strongest). Implies --processed.", valueName: "grade")
    )
    var thin: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("Leave out points whose radius is larger. Implies --processed.", valueName: "metres"))
    var radius: Int?

    @Option(name: .long, help: "auto, driving, riding or walking. Implies --processed.")
    var travel: Travel?

    @Flag(name: .long, help: "Bring the track to roads, if the server knows them. Implies --processed.")
    var roads = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Options of process_option by their names, joined by commas, as in need_denoise=1. Implies --processed.",
            valueName: "name=value"))
    var process: [String] = []

    @Option(
        name: .long,
        help: "How an interruption counts: no_supplement (default), straight, driving, riding or walking.")
    var supplement: Supplement?

    enum Supplement: String, CaseIterable, ExpressibleByArgument {
        case none = "no_supplement"
        case straight, driving, riding, walking
    }

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Also tell how much of the distance was slower than this.", valueName: "km/h"))
    var lowSpeed: Double?

    mutating func validate() throws {
        for (name, value) in [("--denoise", denoise), ("--thin", thin)] {
            guard (0...5).contains(value ?? 0) else { throw ValidationError("\(name) is a grade from 0 to 5") }
        }
        guard radius ?? 1 > 0 else { throw ValidationError("--radius is a number of metres above 0") }
        if let lowSpeed, !(lowSpeed > 0 && lowSpeed.isFinite) {
            throw ValidationError("--low-speed is a number of km/h above 0")
        }
    }

    /// What the distance below ``lowSpeed`` is called.
    var slow: String { "slower than \(Quantity.decimal(lowSpeed ?? 0, 1, trimmed: true)) km/h" }

    /// The answer says what roads did.
    var asksForRoads: Bool {
        roads || [.driving, .riding, .walking].contains(supplement) || process.contains { $0.contains("need_mapmatch") }
    }

    /// For `track/gettrack` and `track/getdistance`.
    func parameters(for call: String) throws(CommandFailure) -> [(String, String)] {
        var own: [(ProcessKey, String)] = []
        if let denoise { own.append((.denoiseGrade, String(denoise))) }
        if let thin { own.append((.thinningGrade, String(thin))) }
        if let radius { own.append((.radiusThreshold, String(radius))) }
        if let travel { own.append((.travel, travel.rawValue)) }
        if roads { own.append((.needRoads, "1")) }
        let option = try Self.option(own, process, for: call)
        let isProcessed = processed || option != nil
        return [("is_processed", isProcessed ? "1" : "0")] + (option.map { [("process_option", $0)] } ?? [])
            + (supplement.map { [("supplement_mode", $0.rawValue)] } ?? [])
            + (lowSpeed.map { [("low_speed_threshold", Quantity.decimal($0, 6, trimmed: true))] } ?? [])
    }

    /// For `track/gettrack`: with the points of the routes across interruptions.
    func trackParameters() throws(CommandFailure) -> [(String, String)] {
        let hasRoutes = [.driving, .riding, .walking].contains(supplement)
        return try parameters(for: "track/gettrack")
            + (hasRoutes ? [("supplement_content", "distance_and_points")] : [])
    }

    /// The text of `process_option`; nil without options.
    static func option(
        _ own: [(ProcessKey, String)], _ texts: [String], for call: String
    ) throws(CommandFailure) -> String? {
        let named = try ProcessKey.pairs(texts, for: call)
        if let twice = named.first(where: { pair in own.contains { $0.0 == pair.0 } }) {
            throw CommandFailure(
                .usage, "--process \(twice.0.rawValue)=\(twice.1): an option of this command says it already")
        }
        let pairs = own + named
        return pairs.isEmpty ? nil : pairs.map { "\($0.0.rawValue)=\($0.1)" }.joined(separator: ",")
    }
}

/// How a track is to be corrected before stays and trips are looked for.
struct ProcessingArguments: ParsableArguments {
    @Option(name: .long, help: "auto, driving, riding or walking: how fast it can have been.")
    var travel: Travel?

    @Option(
        name: .long,
        help: ArgumentHelp("Options of process_option by their names: transport_mode.", valueName: "name=value"))
    var process: [String] = []

    func parameters(for call: String, roads: Bool = false) throws(CommandFailure) -> [(String, String)] {
        let own =
            (travel.map { [(ProcessKey.travel, $0.rawValue)] } ?? []) + (roads ? [(ProcessKey.needRoads, "1")] : [])
        return try ProcessOptions.option(own, process, for: call).map { [("process_option", $0)] } ?? []
    }
}

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
