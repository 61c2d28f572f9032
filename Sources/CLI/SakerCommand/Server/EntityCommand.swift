import ArgumentParser
import JSON
import Terminal
import TrackModel

/// `saker entity`
struct EntityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entity",
        abstract: "Lists, finds or adds the tracked things of a service.",
        discussion: """
            Examples:
              saker entity list
              saker entity list van_07
              saker entity search van --sort loc_time:desc
              saker entity near 40.04,116.3 --radius 500
              saker entity within --bounds '39.8,116.2;40.1,116.6'
              saker entity add van_07 --description 'blue van'
            """,
        subcommands: [List.self, Search.self, Near.self, Within.self, Add.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand, TakesNames {
        static let configuration = CommandConfiguration(
            abstract: "Lists the entities of the service with their latest positions.",
            discussion: "On a vehicle whose agent may ask about its own entity alone, the command lists that entity.")

        @OptionGroup var server: ServerOptions
        @OptionGroup var table: TableOptions

        @Argument(help: "Only these entities.")
        var entities: [String] = []

        /// The status with which the server says that an agent may ask about its own entity alone.
        private static let notAllowed: Int64 = 240

        func run() async throws {
            try await WebClient.with(server) { client in
                try await EntityListing(json: server.json, width: table.width).run(nothing: nothingFound) {
                    try await page($0, client)
                }
            }
        }

        private func page(_ page: [(String, String)], _ client: WebClient) async throws -> JSONValue {
            func ask(_ names: [String], allowed: Set<Int64>) async throws -> JSONValue {
                let filter = names.isEmpty ? [] : [("filter", "entity_names:" + names.joined(separator: ","))]
                return try await client.call(
                    "entity/list", [("coord_type_output", "wgs84")] + page + filter, allowed: allowed)
            }
            guard entities.isEmpty else { return try await ask(entities, allowed: [EntityListing.nothing]) }
            let answer = try await ask([], allowed: [EntityListing.nothing, Self.notAllowed])
            guard answer["status"]?.integerValue == Self.notAllowed else { return answer }
            guard let own = try await client.ownEntity() else { throw client.refusal(Self.notAllowed, answer) }
            return try await ask([own], allowed: [EntityListing.nothing])
        }

        private var nothingFound: String {
            entities.isEmpty ? "The service has no entity yet." : "There is no such entity."
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
            if let problem = EntityName.problem(withNew: name) { throw ValidationError(problem) }
        }

        func run() async throws {
            let answer = try await WebClient.with(server) { client in
                try await client.call(
                    "entity/add",
                    [("entity_name", name)] + (description.map { [("entity_desc", $0)] } ?? []), post: true)
            }
            if server.json { Output.print(json: answer.description) } else { Output.print("Added \(name).") }
        }
    }
}
