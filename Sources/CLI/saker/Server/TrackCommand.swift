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

            A file ~/.config/saker/client.toml replaces the options for the server:
              [server]
              url = "https://fleet.example:8443"
              service_id = 1
              ak_file = "ak"
              ca_file = "ca.pem"
            """,
        subcommands: [Latest.self, History.self])

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

        @OptionGroup var server: ServerOptions

        @Argument(help: "The entity's name. On a vehicle, default: the agent's own entity.")
        var entity: String?

        @Option(name: .long, help: ArgumentHelp("From this time on.", valueName: "time"))
        var from: String

        @Option(name: .long, help: ArgumentHelp("Up to this time.", valueName: "time"))
        var to: String = "now"

        func run() async throws {
            let now = TimeText.now
            let start = try TimeArgument.parse(from, "--from", now: now)
            let end = try min(TimeArgument.parse(to, "--to", now: now), now)
            let windows = try Self.windows(from: start, to: end)
            try await WebClient.with(server) { client in
                let name = try await client.entity(entity)
                var view = TrackView.History()
                if !server.json { Console.print(TrackView.header) }
                for window in windows {
                    try await page(client, name, window, &view)
                }
                if !server.json {
                    Console.print("")
                    Console.print(view.summary)
                }
            }
        }

        /// Pages of one window: a point a second makes 18, or 87 through the agent.
        private static let maximumPages: Int64 = 1000

        private func page(
            _ client: WebClient, _ entity: String, _ window: ClosedRange<Int64>, _ view: inout TrackView.History
        ) async throws {
            var index: Int64 = 1
            while true {
                let answer = try await client.call(
                    "track/gettrack",
                    [
                        ("entity_name", entity), ("start_time", String(window.lowerBound)),
                        ("end_time", String(window.upperBound)), ("is_processed", "0"),
                        ("coord_type_output", "wgs84"), ("page_index", String(index)),
                        ("page_size", String(client.pagePoints)),
                    ])
                if server.json {
                    Console.print(answer.description)
                } else {
                    let lines = view.add(answer, isFirstPage: index == 1)
                    if !lines.isEmpty { Console.print(lines.joined(separator: "\n")) }
                }
                let total = answer["total"]?.integerValue ?? 0
                guard index < Self.maximumPages, index * client.pagePoints < total else { return }
                index += 1
            }
        }

        /// Splits a range into whole seconds of at most a day each: the server does not answer longer ranges.
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
    }
}
