import ArgumentParser
import FenceCommands
import JSON
import ServerRuntime
import Terminal
import TrackStore

/// `saker-server fence`
struct Fences: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fence",
        abstract: "Makes, shows, changes and tries the fences of a service, and shows its alarms.",
        discussion: """
            Works while the server runs. Vehicles and judges hear of each change within seconds, as of the changes by the Web API.

            Examples:
            saker-server fence add circle 1 --at 40.0405,116.3008 --radius 50 --name depot --watch-all
            saker-server fence edit 1 depot --radius 80
            saker-server fence status 1 --entity van_07
            saker-server fence export 1 > fences.geojson
            """,
        subcommands: [
            List.self, Show.self, FenceAdd<ServiceFenceHolder>.self, FenceEditCommand<ServiceFenceHolder>.self,
            FenceDelete<ServiceFenceHolder>.self, FenceStatusCommand<ServiceFenceHolder>.self,
            FenceTest<ServiceFenceHolder>.self,
            ServiceFenceImportCommand.self, Export.self, Alarms.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List fences in the order of their numbers.")

        @OptionGroup var file: ConfigurationOption
        @Option(help: ArgumentHelp("Only those that watch this entity, by name or with everyone.", valueName: "name"))
        var entity: String?
        @Option(parsing: .unconditional, help: ArgumentHelp("At most so many.", valueName: "number"))
        var limit = 1000
        @OptionGroup var options: ListOptions
        @Argument(help: "The number of the service.")
        var service: Int64

        func run() async throws {
            guard limit > 0 else { throw ServerError(.usage, "--limit \(limit): give 1 or more") }
            let found = try await ServiceAdministration(try file.load())
                .fences(
                    of: service, matching: FenceFilter(watch: entity.map { .watching($0) } ?? .any), limit: limit)
            let columns = FenceView.columns
            Listing<ShownFence>([
                .init(columns[0], "id", { "\($0.number)" }, value: { .integer($0.number) }),
                .init(columns[1], "name", \.name), .init(columns[2], "shape", \.shape),
                .init(columns[3], "tells", \.tells), .init(columns[4], "watches", \.watches),
                .init(columns[5], "group", \.group),
                .init(TextTable.Column("CHANGED", rank: 4), "changed", { FenceReport.time($0.modified) }),
            ]).show(found.fences.map(\.shown), options)
            guard !options.json else { return }
            if found.total > found.fences.count {
                Output.print("\(found.total - found.fences.count) more: give a greater --limit")
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show everything of a fence, with its first vertices.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(help: "The number or the name of the fence.")
        var fence: String

        func run() async throws {
            let found = try await ServiceAdministration(try file.load()).fence(named: fence, of: service)
            let lines = FenceView.details(found.shown, width: TerminalSize.columns, time: FenceReport.time)
            for line in lines { Output.print(line) }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write fences as a GeoJSON FeatureCollection in WGS 84.",
            discussion:
                "Saker makes the same fences of the file again: saker fence import on a vehicle reads it, and fence import here."
        )

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @OptionGroup var selection: FenceSelectionOptions
        @Option(
            name: [.short, .long],
            help: ArgumentHelp("Write to this file. Default: standard output.", valueName: "file"))
        var output: String?

        func run() async throws {
            let found = try await ServiceAdministration(try file.load())
                .exportFences(ServiceFenceHolder.choice(selection, entity: selection.entity), of: service)
            let bytes = found.bytes + [UInt8(ascii: "\n")]
            guard let output else { return Output.content(bytes) }
            var file = try OutputFile(output)
            do {
                try file.write(bytes)
                try file.finish()
            } catch {
                file.discard()
                throw error
            }
            Output.print("\(counted(found.count, "fence")) in \(output.printable).")
        }
    }

    struct Alarms: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the alarms of a service that came last.",
            discussion: """
                States: stale (the vehicle judged by a revision of the fence that had been replaced or deleted before; such \
                an alarm does not go to the operator's URL), reported (the vehicle has told it, and the server did not find \
                it itself).
                """)

        @OptionGroup var file: ConfigurationOption
        @Option(help: ArgumentHelp("Only those of this entity.", valueName: "name"))
        var entity: String?
        @Option(
            parsing: .unconditional, help: ArgumentHelp("Those that came in so many hours.", valueName: "number"))
        var hours: Int64 = 24
        @Option(parsing: .unconditional, help: ArgumentHelp("At most so many, the newest.", valueName: "number"))
        var limit = 100
        @Flag(help: "Only those of fences that had been replaced or deleted before.")
        var stale = false
        @OptionGroup var options: ListOptions
        @Argument(help: "The number of the service.")
        var service: Int64

        func run() async throws {
            guard limit > 0 else { throw ServerError(.usage, "--limit \(limit): give 1 or more") }
            guard (1...8784).contains(hours) else { throw ServerError(.usage, "--hours \(hours): give 1 to 8784") }
            let found = try await ServiceAdministration(try file.load()).alarms(
                of: service, entity: entity, from: ServiceAdministration.time(hoursAgo: hours), isOnlyStale: stale,
                limit: limit)
            Listing<AlarmLine>([
                .init("HAPPENED", "happened", \.happened), .init(.text("ENTITY"), "entity", \.entity),
                .init("ACTION", "action", \.action), .init(.text("NAME", rank: 1), "name", \.name),
                .init("FENCE", "fence", \.fence), .init(.text("STATE", rank: 2), "state", \.state),
                .init(TextTable.Column("RECEIVED", rank: 3), "received", \.received),
            ]).show(found.alarms, options)
            guard !options.json else { return }
            if found.total > found.alarms.count {
                Output.print("\(found.total - found.alarms.count) earlier: give a greater --limit")
            }
        }
    }
}

/// `saker-server fence import`
struct ServiceFenceImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make the fences of a file in a service: one fence for each feature.",
        discussion: """
            Files: GeoJSON, GeoPackage, GPX and KML. The member fence in the properties of a GeoJSON feature has the rules of the \
            fence, also those that the Web API does not know: speed limits, stays, groups, hours, floors, actions. A polygon \
            is an area; a line with the property offset is a corridor, and a point with the property radius a circle, in metres; \
            with --buffer all lines and points are.

            A second import of the same file changes, adds and removes fences, so that they are what the file says. It knows a \
            fence by the file's name, its layer and the feature's id. Other fences stay as they are. Vehicles get the fences within seconds.

            Examples:
            saker-server fence import 1 yards.geojson --watch-all --dry-run
            saker-server fence import 1 yards.geojson --watch van_07 --watch van_08
            saker-server fence import 1 site.gpkg --layer rooms --where "kind = 'depot'" --buffer 20 --watch-all
            """)

    @OptionGroup var file: ConfigurationOption
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The name by which a second import finds the fences. Default: the file's.", valueName: "name"))
    var alias: String?
    @Option(
        help: ArgumentHelp(
            "All fences of the file watch this entity, whatever the file says; repeat for more.", valueName: "name"))
    var watch: [String] = []
    @Flag(
        name: [.customLong("watch-all"), .customLong("watch-everyone")],
        help: "All fences of the file watch every entity, whatever the file says.")
    var watchEveryone = false
    @Flag(help: "Only show what would be done.")
    var dryRun = false
    @OptionGroup(title: "Which features become fences, and how") var features: FenceFileOptions
    @Argument(help: "The number of the service.")
    var service: Int64
    @Argument(help: "The file.")
    var path: String

    func validate() throws {
        guard watch.isEmpty || !watchEveryone else {
            throw ValidationError("--watch and --watch-all exclude each other")
        }
    }

    func run() async throws {
        var wish = ServiceAdministration.FenceImportOptions(path: path)
        (wish.name, wish.watchesEveryone, wish.isTrial) = (alias, watchEveryone, dryRun)
        wish.watch = watch.isEmpty ? nil : watch
        wish.options = try features.options(file: path, layer: features.layer)
        let outcome = try await ServiceAdministration(try file.load()).importFences(wish, into: service)
        for refusal in outcome.refusals.prefix(Self.mostRefusals) { Output.complain("refused: \(refusal)") }
        if outcome.refused > Self.mostRefusals {
            Output.complain("refused: \(outcome.refused - Self.mostRefusals) more")
        }
        if outcome.idle > 0 {
            Output.complain(
                "\(counted(outcome.idle, "fence")) of them \(outcome.idle == 1 ? "watches" : "watch") nobody: give --watch or --watch-all, or the member watch"
            )
        }
        Output.print(
            "Fences: \(outcome.added) new, \(outcome.changed) changed, \(outcome.unchanged) unchanged, "
                + "\(outcome.removed) removed" + (dryRun ? " (nothing is stored)" : ""))
        if outcome.notChosen + outcome.outside > 0 {
            Output.print(
                "Other features: \(outcome.notChosen) not chosen by --where, \(outcome.outside) not in --within")
        }
        if outcome.held > 0 {
            Output.print("Fences that stay, because refused features may be theirs: \(outcome.held)")
        }
        if outcome.refused > 0 { throw ExitCode.failure }
    }

    private static let mostRefusals = 50
}
