import ArgumentParser
import FenceCommands
import JSON
import Terminal
import Varlink

/// `saker track`
struct TrackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Reads tracks from the server.",
        discussion: """
            Coordinates are WGS 84, as the receiver gave them. On a vehicle the command asks through the agent, about the
            agent's own entity, and needs no key.

            With --json each command prints the server's answer; history prints each page, and the first one has the sums.

            Examples:
              saker track latest
              saker track latest van_07 --server https://fleet.example:8443 --service-id 1 --ak-file key
              saker track history van_07 --from '2h ago'
              saker track history van_07 --from 2026-03-05 --to 2026-03-06 --json
              saker track distance --from '1 day ago' --processed
              saker track stays --from '1 day ago' --least 300
              saker track driving --from '2h ago' --speed-limit 80 --harsh-braking 2.5
              saker track stays --from '1 day ago' --process transport_mode=walking
              saker track gaps --from '1 day ago'
              saker track export --from '1 day ago' --output drive.gpx

            A file ~/.config/saker/client.toml replaces the options for the server:
              [server]
              url = "https://fleet.example:8443"
              service_id = 1
              ak_file = "ak"
              ca_file = "ca.pem"
            """,
        subcommands: [
            Latest.self, History.self, Distance.self, Stays.self, Trips.self, Driving.self, Gaps.self,
            Export.self,
        ])

    struct Latest: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows where an entity is.")

        @OptionGroup var server: ServerOptions

        @Argument(help: "The entity's name. On a vehicle, default: the agent's own entity.")
        var entity: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "Options of process_option by their names, joined by commas, as in need_mapmatch=1. Default: the point as it is.",
                valueName: "name=value"))
        var process: [String] = []

        func run() async throws {
            let options = try ProcessKey.pairs(process, for: "track/getlatestpoint")
            // What nobody asks for is off.
            let pairs =
                options
                + [(ProcessKey.denoiseGrade, "0"), (.needRoads, "0")].filter { pair in
                    !options.contains { $0.0 == pair.0 || ($0.0 == .needDenoise && pair.0 == .denoiseGrade) }
                }
            let option = pairs.map { "\($0.0.rawValue)=\($0.1)" }.joined(separator: ",")
            let (name, answer) = try await WebClient.with(server) { client in
                let name = try await client.entity(entity)
                let answer = try await client.call(
                    "track/getlatestpoint",
                    [
                        ("entity_name", name), ("coord_type_output", "wgs84"),
                        ("process_option", option),
                    ])
                return (name, answer)
            }
            if server.json { return Output.print(json: answer.description) }
            for line in TrackView.latest(answer, entity: name, now: LocalTime.now, width: TerminalSize.columns) {
                Output.print(line)
            }
            if options.contains(where: { $0 == (.needRoads, "1") }) { RoadsRemark(answer)?.show(inTable: true) }
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists an entity's points.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var range: TrackRangeOptions
        @OptionGroup var table: TableOptions
        @OptionGroup var process: ProcessOptions

        @Flag(name: .long, help: "After the points, tell why there are none for a while.")
        var gaps = false

        @Option(
            name: .long,
            help: ArgumentHelp(
                "Also tell what the processing left out: counts, or points for each of them.", valueName: "what"))
        var explain: Explanation?

        enum Explanation: String, CaseIterable, ExpressibleByArgument {
            case counts, points
        }

        func run() async throws {
            var parameters = try process.trackParameters()
            if let explain {
                guard parameters.contains(where: { $0 == ("is_processed", "1") }) else {
                    throw CommandFailure(
                        .usage, "--explain: a track as it was uploaded leaves nothing out; add --processed")
                }
                parameters.append(("explain", explain == .points ? "points" : "1"))
            }
            if gaps { parameters.append(("gap_content", "1")) }
            let isJSON = range.server.json
            let view = TrackView.Points(width: table.width)
            if !isJSON { Output.print(view.header) }
            var count = 0
            let answer = try await range.pages(parameters) { page in
                if isJSON { return Output.print(json: page.description) }
                let points = page["points"]?.arrayValue ?? []
                count += points.count
                let lines = points.flatMap(view.lines)
                if !lines.isEmpty { Output.print(text: lines.map(\.printable).joined(separator: "\n")) }
            }
            if !isJSON { show(answer, points: count) }
        }

        private func show(_ answer: JSONValue, points: Int) {
            Output.print("")
            Output.print(TrackView.summary(points: Int64(points), answer, process.slow))
            if let dropped = TrackView.dropped(answer, width: table.width) {
                Output.print("")
                for line in dropped { Output.print(line) }
            }
            RoadsRemark(answer)?.show(inTable: true)
            guard gaps else { return }
            Output.print("")
            for line in GapView.lines(answer["gaps"]?.arrayValue ?? [], width: table.width) { Output.print(line) }
        }
    }
}

/// Whose track, and of which time: the arguments of every command that reads a range.
struct TrackRangeOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Argument(help: "The entity's name. On a vehicle, default: the agent's own entity.")
    var entity: String?

    @Option(name: .long, help: ArgumentHelp("From this time on.", valueName: "time"))
    var from: String

    @Option(name: .long, help: ArgumentHelp("Up to this time.", valueName: "time"))
    var to: String = "now"

    /// The range in whole seconds.
    func seconds(now: Int64) throws -> ClosedRange<Int64> {
        let start = try TimeExpression.milliseconds(from, "--from", now: now)
        let end = try min(TimeExpression.milliseconds(to, "--to", now: now), now)
        return try Self.seconds(from: start, to: end)
    }

    /// Milliseconds since 1970.
    static func seconds(from start: Int64, to end: Int64) throws(CommandFailure) -> ClosedRange<Int64> {
        guard start <= end else {
            throw CommandFailure(
                .usage, "--from (\(LocalTime.text(start))) lies after --to (\(LocalTime.text(end)))")
        }
        return max(start / 1000, 0)...max(end / 1000, 0)
    }

    /// The answer of a call about the range.
    func answer(_ path: String, _ parameters: [(String, String)]) async throws -> JSONValue {
        let range = try seconds(now: LocalTime.now)
        return try await WebClient.with(server) { client in
            try await answer(path, parameters, range, of: client.entity(entity), client)
        }
    }

    /// Hands on each page of the track, and returns the first one, which has the sums. `begin` gets the entity's name before.
    func pages(
        _ parameters: [(String, String)], begin: (String) throws -> Void = { _ in }, _ take: (JSONValue) throws -> Void
    ) async throws -> JSONValue {
        let range = try seconds(now: LocalTime.now)
        return try await WebClient.with(server) { client in
            let name = try await client.entity(entity)
            try begin(name)
            func page(_ index: Int64) async throws -> JSONValue {
                let page = [("page_index", String(index)), ("page_size", String(client.pagePoints))]
                return try await answer("track/gettrack", page + parameters, range, of: name, client)
            }
            let first = try await page(1)
            try take(first)
            var index: Int64 = 1
            while index * client.pagePoints < first["total"]?.integerValue ?? 0 {
                index += 1
                let next = try await page(index)
                guard next["points"]?.arrayValue?.isEmpty == false else { break }
                try take(next)
            }
            return first
        }
    }

    private func answer(
        _ path: String, _ parameters: [(String, String)], _ range: ClosedRange<Int64>, of name: String,
        _ client: WebClient
    ) async throws -> JSONValue {
        try await client.call(
            path,
            [
                ("entity_name", name), ("start_time", String(range.lowerBound)),
                ("end_time", String(range.upperBound)), ("long_range", "1"), ("coord_type_output", "wgs84"),
            ] + parameters)
    }

    /// Prints an answer with --json; else hands it on, and what it says of roads.
    func show(_ answer: JSONValue, inTable: Bool = true, _ lines: (JSONValue) -> [String]) {
        guard !server.json else { return Output.print(json: answer.description) }
        for line in lines(answer) { Output.print(line) }
        RoadsRemark(answer)?.show(inTable: inTable)
    }
}
