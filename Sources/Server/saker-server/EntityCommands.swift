import ArgumentParser
import JSON
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

/// `saker-server entity`
struct Entities: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entity",
        abstract: "Shows the tracked things of the services, where they are, and which are online.",
        discussion: """
            Works while the server runs, and needs no key: it reads the server's own store.

            Examples:
              saker-server entity list
              saker-server entity list 1 --entity van_07
              saker-server entity list --json | jq -r '.[] | select(.online | not) | .entity'
            """,
        subcommands: [List.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List entities with their latest positions, and say whether their vehicles are online.",
            discussion: """
                A vehicle is online while it has a session with this server. Places are WGS 84. The point of an entity is the \
                newest one that the server has: an offline vehicle may be elsewhere by now.
                """)

        @OptionGroup var file: ConfigurationOption
        @Option(help: ArgumentHelp("Only this entity; repeat for more.", valueName: "name"))
        var entity: [String] = []
        @OptionGroup var options: ListOptions
        @Argument(help: "The number of the service; default: all services.")
        var service: Int64?

        func run() async throws {
            let configuration = try file.load()
            let lines = try await ServiceAdministration(configuration)
                .entities(of: service, named: entity, configuration)
            let now = ServiceAdministration.now
            if lines.isEmpty, !options.json {
                return Output.print(
                    "There is no entity yet. A vehicle becomes one with its first login: saker-server token create")
            }
            let several = Set(lines.map(\.service)).count > 1
            Listing<EntityLine>(Self.columns(now, withServices: several || options.json)).show(lines, options)
            guard !options.json else { return }
            let online = lines.count { $0.presence.isOnline }
            Output.print()
            Output.print("\(online) of \(counted(lines.count, "entity", many: "entities")) online")
        }

        private static func columns(_ now: Timestamp, withServices: Bool) -> [Listing<EntityLine>.Column] {
            func ago(_ time: Timestamp?) -> String {
                time.map { DurationText.relative($0.milliseconds, now: now.milliseconds) } ?? "never"
            }
            return [
                .init(.text("ENTITY"), "entity", \.entity.name)
            ] + (withServices ? [service] : []) + [
                .init(
                    "LINK", "online", { $0.presence.isOnline ? "online" : "offline" },
                    value: { .bool($0.presence.isOnline) }),
                .init(
                    TextTable.Column("HEARD", rank: 2), "heard", { ago($0.presence.heard) },
                    value: { $0.presence.heard.map { .string(TimeText.universal($0)) } }),
                .init(
                    "LAST POINT", "last_point", { ago($0.entity.latest?.point.fix.time) },
                    value: { $0.entity.latest.map { .string(TimeText.universal($0.point.fix.time)) } }),
                .init(
                    "PLACE", "place",
                    { $0.place.map { "\(decimal($0.latitude, 6)), \(decimal($0.longitude, 6))" } ?? "-" },
                    value: { line in
                        line.place.map { ["latitude": .double($0.latitude), "longitude": .double($0.longitude)] }
                    }),
                .init(
                    .number("KM/H", rank: 1), "speed", { $0.speed.map { decimal($0, 0) } ?? "" },
                    value: { $0.speed.map(JSONValue.double) }),
                .init(.text("DESCRIPTION", rank: 3), "description", \.entity.description),
            ]
        }

        private static var service: Listing<EntityLine>.Column {
            .init(
                .number("SERVICE", rank: 1), "service", { "\($0.service.rawValue)" },
                value: { .integer($0.service.rawValue) })
        }
    }
}

/// With so many digits behind the point.
private func decimal(_ value: Double, _ digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { value, _ in value * 10 }
    let units = Int64((value.magnitude * scale).rounded())
    let (whole, rest) = units.quotientAndRemainder(dividingBy: Int64(scale))
    let sign = value < 0 && units > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(whole)" }
    let text = String(rest)
    return "\(sign)\(whole).\(String(repeating: "0", count: digits - text.count))\(text)"
}
