import ArgumentParser
import JSON

/// Whose track, and of which time: the arguments of every command that reads a range.
struct TrackRangeOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Argument(help: "The entity's name. On a vehicle, default: the agent's own entity.")
    var entity: String?

    @Option(name: .long, help: ArgumentHelp("From this time on.", valueName: "time"))
    var from: String

    @Option(name: .long, help: ArgumentHelp("Up to this time.", valueName: "time"))
    var to: String = "now"

    /// The range in whole seconds, cut into pieces of at most a day: the server does not answer longer ranges.
    func windows(now: Int64) throws -> [ClosedRange<Int64>] {
        let start = try TimeArgument.parse(from, "--from", now: now)
        let end = try min(TimeArgument.parse(to, "--to", now: now), now)
        return try Self.windows(from: start, to: end)
    }

    /// Milliseconds since 1970.
    static func windows(from start: Int64, to end: Int64) throws(CommandFailure) -> [ClosedRange<Int64>] {
        guard start <= end else {
            throw CommandFailure(
                .usage, "--from (\(TimeText.local(start))) lies after --to (\(TimeText.local(end)))")
        }
        let (first, last) = (max(start / 1000, 0), max(end / 1000, 0))
        guard last - first <= 366 * 86_400 else {
            throw CommandFailure(.usage, "a range of more than 366 days: ask for it in pieces")
        }
        return stride(from: first, through: last, by: 86_400).map { $0...min($0 + 86_399, last) }
    }

    /// Asks `path` about each piece of the range. Prints the answers as they are with --json, else hands them on.
    func each(
        _ path: String, _ parameters: [(String, String)] = [], _ show: (JSONValue) -> Void
    ) async throws {
        let windows = try windows(now: TimeText.now)
        try await WebClient.with(server) { client in
            let name = try await client.entity(entity)
            for window in windows {
                let answer = try await client.call(
                    path,
                    [
                        ("entity_name", name), ("start_time", String(window.lowerBound)),
                        ("end_time", String(window.upperBound)), ("coord_type_output", "wgs84"),
                    ] + parameters)
                if server.json { Console.print(answer.description) } else { show(answer) }
            }
        }
    }
}

extension TrackRangeOptions {
    /// Pages of one window: a point a second makes 18, or 87 through the agent.
    private static let maximumPages: Int64 = 1000

    /// Asks for all points of the range, page by page. `show` gets the entity, each answer, and whether it is the first of
    /// its window.
    func eachAnswer(
        _ process: ProcessOptions, withGaps: Bool = false, _ show: (String, JSONValue, Bool) throws -> Void
    ) async throws {
        let windows = try windows(now: TimeText.now)
        try await WebClient.with(server) { client in
            let name = try await client.entity(entity)
            for window in windows {
                var index: Int64 = 1
                while true {
                    let answer = try await client.call(
                        "track/gettrack",
                        [
                            ("entity_name", name), ("start_time", String(window.lowerBound)),
                            ("end_time", String(window.upperBound)), ("coord_type_output", "wgs84"),
                            ("page_index", String(index)), ("page_size", String(client.pagePoints)),
                        ] + process.trackParameters + (withGaps && index == 1 ? [("gap_content", "1")] : []))
                    try show(name, answer, index == 1)
                    let total = answer["total"]?.integerValue ?? 0
                    guard index < Self.maximumPages, index * client.pagePoints < total else { break }
                    index += 1
                }
            }
        }
    }

    /// The entity, and the points and gaps of each page, in the order of their times.
    func eachPage(
        _ process: ProcessOptions, withGaps: Bool = false,
        _ take: (String, [JSONValue], _ gaps: [JSONValue]) throws -> Void
    ) async throws {
        try await eachAnswer(process, withGaps: withGaps) { name, answer, _ in
            try take(name, answer["points"]?.arrayValue ?? [], answer["gaps"]?.arrayValue ?? [])
        }
    }
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

    enum Travel: String, CaseIterable, ExpressibleByArgument {
        case auto, driving, riding, walking
    }

    @Flag(name: .long, help: "Bring the track to roads, if the server knows them. Implies --processed.")
    var roads = false

    @Option(
        name: .long,
        help: "How an interruption counts: no_supplement (default), straight, driving, riding or walking.")
    var supplement: Supplement?

    enum Supplement: String, CaseIterable, ExpressibleByArgument {
        case none = "no_supplement"
        case straight, driving, riding, walking
    }

    mutating func validate() throws {
        for (name, value) in [("--denoise", denoise), ("--thin", thin)] {
            guard (0...5).contains(value ?? 0) else { throw ValidationError("\(name) is a grade from 0 to 5") }
        }
        guard radius ?? 1 > 0 else { throw ValidationError("--radius is a number of metres above 0") }
    }

    /// For `track/gettrack` and `track/getdistance`.
    var parameters: [(String, String)] {
        var options: [String] = []
        if let denoise { options.append("denoise_grade=\(denoise)") }
        if let thin { options.append("vacuate_grade=\(thin)") }
        if let radius { options.append("radius_threshold=\(radius)") }
        if let travel { options.append("transport_mode=\(travel.rawValue)") }
        if roads { options.append("need_mapmatch=1") }
        let gaps = supplement.map { [("supplement_mode", $0.rawValue)] } ?? []
        guard processed || !options.isEmpty else { return [("is_processed", "0")] + gaps }
        return [("is_processed", "1")]
            + (options.isEmpty ? [] : [("process_option", options.joined(separator: ","))]) + gaps
    }

    /// For `track/gettrack`: with the points of the routes across interruptions.
    var trackParameters: [(String, String)] {
        let hasRoutes = [.driving, .riding, .walking].contains(supplement)
        return parameters + (hasRoutes ? [("supplement_content", "distance_and_points")] : [])
    }
}
