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

            The server answers a day at once. For more than a day the command asks several times and joins the answers. With
            --json it then prints one answer; of history the pages, and at last the sums.

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
            for line in TrackView.latest(answer, entity: name, now: TimeText.now, width: TerminalSize.columns) {
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
            try await range.asking { _, range, client, ask in
                var track = JoinedTrack(ask, parameters: parameters, pagePoints: client.pagePoints)
                var dropped: [JSONValue] = []
                let view = TrackView.Points(width: table.width)
                if !isJSON { Output.print(view.header) }
                let isLong = range.upperBound - range.lowerBound > RangeRule().longest
                try await track.read(range) { answer in
                    if isJSON { return Output.print(json: (isLong ? TrackView.page(answer) : answer).description) }
                    dropped += answer["dropped_points"]?.arrayValue ?? []
                    let lines = (answer["points"]?.arrayValue ?? []).flatMap(view.lines)
                    if !lines.isEmpty { Output.print(text: lines.map(\.printable).joined(separator: "\n")) }
                }
                guard !isJSON else { return isLong ? Output.print(json: track.summary.description) : () }
                show(track, dropped)
            }
        }

        private func show(_ track: JoinedTrack, _ dropped: [JSONValue]) {
            Output.print("")
            Output.print(TrackView.summary(points: track.points, track.sums, process.slow))
            if track.sums.isExplained {
                Output.print("")
                for line in TrackView.dropped(track.sums.reasons, dropped, width: table.width) { Output.print(line) }
            }
            track.remarks.roads?.show(inTable: true)
            guard gaps else { return }
            Output.print("")
            for line in GapView.lines(track.gaps, width: table.width) { Output.print(line) }
        }
    }
}
