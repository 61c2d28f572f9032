import ArgumentParser
import JSON
import Varlink

/// `saker track`
struct TrackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Reads tracks from the server.",
        discussion: """
            Coordinates are WGS 84, as the receiver gave them. On a vehicle the command asks through the agent, about the
            agent's own entity, and needs no key.

            Examples:
              saker track latest
              saker track latest van_07 --server https://fleet.example:8443 --service-id 1 --ak-file key
              saker track history van_07 --from '2h ago'
              saker track history van_07 --from 2026-03-05 --to 2026-03-06 --json
              saker track distance --from '1 day ago' --processed
              saker track stays --from '1 day ago' --least 300
              saker track driving --from '2h ago' --speed-limit 80
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

        func run() async throws {
            let (name, answer) = try await WebClient.with(server) { client in
                let name = try await client.entity(entity)
                let answer = try await client.call(
                    "track/getlatestpoint",
                    [
                        ("entity_name", name), ("coord_type_output", "wgs84"),
                        ("process_option", "denoise_grade=0,need_mapmatch=0"),
                    ])
                return (name, answer)
            }
            if server.json { return Console.print(answer.description) }
            for line in TrackView.latest(answer["latest_point"], entity: name, now: TimeText.now) {
                Console.print(line)
            }
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists an entity's points.", discussion: "Times: \(TimeExpression.examples).")

        @OptionGroup var range: TrackRangeOptions
        @OptionGroup var process: ProcessOptions

        @Flag(name: .long, help: "After the points, tell why there are none for a while.")
        var gaps = false

        private var server: ServerOptions { range.server }

        func run() async throws {
            var view = TrackView.History()
            if !server.json { Console.print(TrackView.header) }
            var found: [JSONValue] = []
            try await range.eachAnswer(process, withGaps: gaps) { _, answer, isFirstPage in
                if server.json { return Console.print(answer.description) }
                found += answer["gaps"]?.arrayValue ?? []
                let lines = view.add(answer, isFirstPage: isFirstPage)
                if !lines.isEmpty { Console.print(lines.joined(separator: "\n")) }
            }
            guard !server.json else { return }
            Console.print("")
            Console.print(view.summary)
            guard gaps else { return }
            Console.print("")
            for line in GapView.lines(found) { Console.print(line) }
        }
    }
}
