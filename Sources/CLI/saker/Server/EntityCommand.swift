import ArgumentParser
import JSON
import TrackModel

/// `saker entity`
struct EntityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entity",
        abstract: "Lists or adds the tracked things of a service.",
        discussion: """
            Examples:
              saker entity list
              saker entity list van_07
              saker entity add van_07 --description 'blue van'
            """,
        subcommands: [List.self, Add.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the entities of the service with their latest positions.",
            discussion: "On a vehicle whose agent may ask about its own entity alone, the command lists that entity.")

        @OptionGroup var server: ServerOptions

        @Argument(help: "Only these entities.")
        var entities: [String] = []

        private static let pageSize: Int64 = 1000
        private static let maximumPages: Int64 = 1000
        /// The status with which the server says that nothing matched.
        private static let nothing: Int64 = 3003
        /// The status with which the server says that an agent may ask about its own entity alone.
        private static let notAllowed: Int64 = 240

        func run() async throws {
            try await WebClient.with(server) { client in
                var table = TextTable(
                    [], header: ["ENTITY", "LAST POINT", "AGE", "PLACE", "DESCRIPTION"])
                var count: Int64 = 0
                for index in 1...Self.maximumPages {
                    let answer = try await page(index, client)
                    if server.json { Console.print(answer.description) }
                    let entities = answer["entities"]?.arrayValue ?? []
                    for entity in entities { table.add(Self.row(entity, now: TimeText.now)) }
                    count += Int64(entities.count)
                    guard !entities.isEmpty, count < answer["total"]?.integerValue ?? 0 else { break }
                }
                if server.json { return }
                for line in count == 0 ? [nothingFound] : table.lines { Console.print(line) }
            }
        }

        private func page(_ index: Int64, _ client: WebClient) async throws -> JSONValue {
            func ask(_ names: [String], allowed: Set<Int64>) async throws -> JSONValue {
                let filter = names.isEmpty ? [] : [("filter", "entity_names:" + names.joined(separator: ","))]
                return try await client.call(
                    "entity/list",
                    [
                        ("coord_type_output", "wgs84"), ("page_index", String(index)),
                        ("page_size", String(Self.pageSize)),
                    ] + filter, allowed: allowed)
            }
            guard entities.isEmpty else { return try await ask(entities, allowed: [Self.nothing]) }
            let answer = try await ask([], allowed: [Self.nothing, Self.notAllowed])
            guard answer["status"]?.integerValue == Self.notAllowed else { return answer }
            guard let own = try await client.ownEntity() else { throw client.refusal(Self.notAllowed, answer) }
            return try await ask([own], allowed: [Self.nothing])
        }

        private var nothingFound: String {
            entities.isEmpty ? "The service has no entity yet." : "There is no such entity."
        }

        static func row(_ entity: JSONValue, now: Int64) -> [String] {
            let point = entity["latest_location"]
            let time = (point?["loc_time"]?.integerValue).flatMap {
                (1..<Int64.max / 1000).contains($0) ? $0 * 1000 : nil
            }
            var place = ""
            if time != nil, let latitude = point?["latitude"]?.doubleValue,
                let longitude = point?["longitude"]?.doubleValue
            {
                place = Quantity.place(latitude, longitude)
            }
            return [
                entity["entity_name"]?.stringValue ?? "?", time.map(TimeText.local) ?? "never",
                time.map { TimeText.relative($0, now: now) } ?? "", place, entity["entity_desc"]?.stringValue ?? "",
            ]
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Adds an entity. (The server also adds an entity when an agent logs in or uploads a point for it.)"
        )

        @OptionGroup var server: ServerOptions

        @Argument(help: "The name: unique in the service, and never changed.")
        var name: String

        @Option(name: .long, help: ArgumentHelp("What people read, at most 128 bytes.", valueName: "text"))
        var description: String?

        func validate() throws {
            if let problem = EntityName.problem(with: name) { throw ValidationError(problem) }
        }

        func run() async throws {
            let answer = try await WebClient.with(server) { client in
                try await client.call(
                    "entity/add",
                    [("entity_name", name)] + (description.map { [("entity_desc", $0)] } ?? []), post: true)
            }
            Console.print(server.json ? answer.description : "Added \(name).")
        }
    }
}
