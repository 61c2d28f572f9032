import ArgumentParser
import FenceCommands
import Geodesy
import JSON
import Terminal

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
