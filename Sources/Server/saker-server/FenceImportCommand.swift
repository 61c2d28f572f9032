import ArgumentParser
import FenceCommands
import ServerRuntime
import Terminal

/// `saker-server fence import`
struct FenceImports: AsyncParsableCommand {
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
        var wish = ServiceAdministration.FenceImportWish(path: path)
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
                "\(counted(outcome.idle, "fence")) of them watch nobody: give --watch or --watch-all, or the member watch"
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
