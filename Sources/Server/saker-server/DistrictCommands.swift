import ArgumentParser
import Glibc
import JSON
import ServerRuntime
import Terminal

/// `saker-server district`
struct Districts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "district",
        abstract: "The districts that fences can be made of by name: countries, provinces, cities.",
        discussion: """
            Works while the server runs, and is for all services. fence/createdistrictfence of the Web API finds a district \
            by its name. A fence keeps the outline with which it was made.

            Example: saker-server district import country.geojson provinces.geojson --name-property shapeName \
            --parent-property shapeGroup --id-property shapeGroup --source china
            """,
        subcommands: [Import.self, List.self, Remove.self])

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import districts from files, in the place of all districts of the same source.",
            discussion: """
                Files: GeoJSON, GeoPackage and KML. Name them from the outermost districts to the innermost ones. A parent is in \
                a file before, or in the same file. Each --…-property, --layer and --where is given once, or once for each \
                file; an empty --layer is for a file without layers. The same file may be named twice with two layers. Features that cannot be districts are \
                named with their reasons, and the others are imported.
                """)

        @OptionGroup var file: ConfigurationOption
        @Option(
            help: ArgumentHelp("The property with the name of a district. Default: name.", valueName: "property"))
        var nameProperty: [String] = []
        @Option(
            help: ArgumentHelp(
                "The property with the name or the id of a district's parent. Default: no district has one.",
                valueName: "property"))
        var parentProperty: [String] = []
        @Option(
            help: ArgumentHelp(
                "The property with the id that parent properties hold. Default: the id of the feature itself.",
                valueName: "property"))
        var idProperty: [String] = []
        @Option(help: ArgumentHelp("The layer of a GeoPackage that has several.", valueName: "name"))
        var layer: [String] = []
        @Option(
            name: .customLong("where"),
            help: ArgumentHelp(
                "Only features whose properties keep this condition, as in \"level = 2 AND kind <> 'lake'\".",
                valueName: "condition"))
        var condition: [String] = []
        @Option(
            help: ArgumentHelp(
                "What the import is called, for the next import and for removal. Default: the name of the first file.",
                valueName: "name"))
        var source: String?
        @Flag(help: "Read and check the files, and store nothing.")
        var dryRun = false
        @Argument(help: ArgumentHelp("Files in WGS 84.", valueName: "files"))
        var files: [String]

        func run() async throws {
            let properties = DistrictProperties(
                name: nameProperty.isEmpty ? ["name"] : nameProperty, parent: parentProperty, id: idProperty,
                layer: layer, condition: condition)
            let outcome = try await DistrictAdministration(try file.load())
                .importFiles(files, properties, source: source, isTrial: dryRun)
            for refusal in outcome.refusals.prefix(Self.mostRefusals) { Output.complain("refused: \(refusal)") }
            if outcome.refusals.count > Self.mostRefusals {
                Output.complain("refused: \(outcome.refusals.count - Self.mostRefusals) more")
            }
            Output.print(
                "Source \(outcome.source): \(outcome.imported) districts \(dryRun ? "can be" : "are") imported,"
                    + " \(outcome.refusals.count) features refused, \(outcome.replaced) earlier districts"
                    + " \(dryRun ? "would be " : "")replaced")
        }

        private static let mostRefusals = 50
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List districts with the names of all their parents.")

        @OptionGroup var file: ConfigurationOption
        @Option(help: ArgumentHelp("Only those of this source.", valueName: "name"))
        var source: String?
        @OptionGroup var options: ListOptions
        @Argument(
            help: "Only what the Web API finds by this keyword; several districts when the keyword is ambiguous.")
        var keyword: String?

        func run() async throws {
            let districts = try await DistrictAdministration(try file.load()).list(source: source, keyword: keyword)
            Listing<DistrictAdministration.Listing>([
                .init(.number("ID"), "id", { "\($0.id)" }, value: { .integer($0.id) }),
                .init(.text("SOURCE", rank: 1), "source", \.source), .init(.text("DISTRICT"), "district", \.fullName),
            ]).show(districts, options)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove all districts of a source. The fences that were made of them stay.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The name of the source, as district list shows it.")
        var source: String

        func run() async throws {
            let count = try await DistrictAdministration(try file.load()).remove(source)
            Output.print("Source \(source): \(count) districts are removed")
        }
    }
}
