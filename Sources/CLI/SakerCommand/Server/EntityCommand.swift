import ArgumentParser
import FenceCommands
import Geodesy
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

/// What the searches of `saker entity` share.
struct EntitySearchOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions
    @OptionGroup var table: TableOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Sorted by entity_name, entity_desc, loc_time or an entity column; :desc behind it turns the order around.",
            valueName: "field"))
    var sort: String?

    /// Prints everything that a search finds.
    func run(_ call: String, _ parameters: [(String, String)], withDistances: Bool = false) async throws {
        let sorting = sort.map { [("sortby", $0)] } ?? []
        try await WebClient.with(server) { client in
            let listing = EntityListing(json: server.json, withDistances: withDistances, width: table.width)
            try await listing.run(nothing: "Nothing was found.") {
                try await client.call(
                    call, parameters + sorting + [("coord_type_output", "wgs84")] + $0,
                    allowed: [EntityListing.nothing])
            }
        }
    }
}

extension EntityCommand {
    struct Search: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds entities by a part of their names or descriptions.",
            discussion: "Capital and small letters are the same. \(EntityCommand.policy)")

        @OptionGroup var options: EntitySearchOptions

        @Argument(help: "The part.")
        var text: String

        func run() async throws { try await options.run("entity/search", [("query", text)]) }
    }

    struct Near: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds the entities around a place, the nearest first.",
            discussion: """
                The place is in WGS 84. Before a place in the south write --, as in: saker entity near --radius 500 -- -33.86,151.2.
                \(EntityCommand.policy)
                """)

        @OptionGroup var options: EntitySearchOptions

        @Option(name: .long, help: ArgumentHelp("How far around the place: 1 to 5000 metres.", valueName: "metres"))
        var radius: Int = 1000

        @Argument(help: ArgumentHelp("The place, as in 40.04,116.3.", valueName: "lat,lon"))
        var place: String

        func validate() throws {
            _ = try PlaceText.place(place, "the place")
            guard (1...5000).contains(radius) else {
                throw ValidationError("--radius is 1 to 5000 metres, not \(radius)")
            }
        }

        func run() async throws {
            let centre = try PlaceText.place(place, "the place")
            var parameters = [
                ("center", "\(centre.latitude),\(centre.longitude)"), ("radius", "\(radius)"),
                ("coord_type_input", "wgs84"),
            ]
            if options.sort == nil { parameters.append(("sortby", "distance")) }
            try await options.run("entity/aroundsearch", parameters, withDistances: true)
        }
    }

    struct Within: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds the entities in a box, in a polygon or in a district.",
            discussion: "Places are in WGS 84. \(EntityCommand.policy)")

        @OptionGroup var options: EntitySearchOptions

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "Two corners, the south-western one first, as in '39.8,116.2;40.1,116.6'.", valueName: "places"))
        var bounds: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Three or more corners with ; between them.", valueName: "places"))
        var polygon: String?

        @Option(name: .long, help: ArgumentHelp("A district that the server knows.", valueName: "name"))
        var district: String?

        func validate() throws { _ = try request() }

        /// The call and its parameters.
        private func request() throws -> (call: String, parameters: [(String, String)]) {
            switch (bounds, polygon, district) {
            case (let bounds?, nil, nil):
                return ("entity/boundsearch", [("bounds", try Self.places(bounds, "--bounds", 2...2)), Self.datum])
            case (nil, let polygon?, nil):
                return (
                    "entity/polygonsearch", [("vertexes", try Self.places(polygon, "--polygon", 3...1000)), Self.datum]
                )
            case (nil, nil, let district?): return ("entity/districtsearch", [("keyword", district)])
            default: throw ValidationError("give one of --bounds, --polygon and --district")
            }
        }

        private static let datum = ("coord_type_input", "wgs84")

        private static func places(_ text: String, _ option: String, _ counts: ClosedRange<Int>) throws -> String {
            let places = try PlaceText.places(text, option)
            guard counts.contains(places.count) else {
                let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
                throw ValidationError("\(option) '\(text.shortened)' has \(places.count) places: give \(wanted)")
            }
            return places.map { "\($0.latitude),\($0.longitude)" }.joined(separator: ";")
        }

        func run() async throws {
            let (call, parameters) = try request()
            try await options.run(call, parameters)
        }
    }

    static let policy =
        "On a vehicle whose agent may ask about its own entity alone, the server refuses searches (saker entity list shows the entity)."
}

/// Prints all pages of an answer that lists entities: as a table, or as the server gave them.
struct EntityListing {
    let json: Bool
    let withDistances: Bool
    /// Columns of the terminal; nil: no bound.
    let width: Int?

    private static let pageSize: Int64 = 1000
    private static let maximumPages: Int64 = 1000
    /// The status with which the server says that nothing matched.
    static let nothing: Int64 = 3003

    init(json: Bool, withDistances: Bool = false, width: Int? = nil) {
        self.json = json
        self.width = width
        self.withDistances = withDistances
    }

    /// `ask`: asks for a page with the parameters that it gets. `nothing`: what a person reads when there is no entity.
    func run(nothing: String, _ ask: ([(String, String)]) async throws -> JSONValue) async throws {
        var table = TextTable(
            [.text("ENTITY"), TextTable.Column("LAST POINT", rank: 2), "AGE", "PLACE"]
                + (withDistances ? [.number("DISTANCE")] : []) + [.text("DESCRIPTION", rank: 1)])
        var count: Int64 = 0
        for index in 1...Self.maximumPages {
            let answer = try await ask([("page_index", String(index)), ("page_size", String(Self.pageSize))])
            if json { Output.print(json: answer.description) }
            let entities = answer["entities"]?.arrayValue ?? []
            for entity in entities { table.add(row(entity, now: LocalTime.now)) }
            count += Int64(entities.count)
            guard !entities.isEmpty, count < answer["total"]?.integerValue ?? 0 else { break }
        }
        if json { return }
        for line in count == 0 ? [nothing] : table.lines(width: width) { Output.print(line) }
    }

    private func row(_ entity: JSONValue, now: Int64) -> [String] {
        let point = entity["latest_location"]
        let time = (point?["loc_time"]?.integerValue).flatMap {
            (1..<Int64.max / 1000).contains($0) ? $0 * 1000 : nil
        }
        var place = ""
        if time != nil, let latitude = point?["latitude"]?.doubleValue, let longitude = point?["longitude"]?.doubleValue
        {
            place = Quantity.place(latitude, longitude)
        }
        let distance = point?["distance"]?.doubleValue.map { Quantity.decimal($0, 0) + " m" } ?? ""
        return [
            entity["entity_name"]?.stringValue ?? "?", time.map(LocalTime.text) ?? "never",
            time.map { DurationText.relative($0, now: now) } ?? "", place,
        ] + (withDistances ? [distance] : []) + [entity["entity_desc"]?.stringValue ?? ""]
    }
}
