import ArgumentParser
import JSON
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

extension AttributeType: ExpressibleByArgument {}
extension ColumnKind: ExpressibleByArgument {}

struct Columns: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "column",
        abstract: "The custom columns of a service: additional values of points and entities.",
        discussion: """
            Works while the server runs. A vehicle learns new columns with its next login (saker reconnect).

            Example: saker-server column add 1 fuel double --description litres
            """,
        subcommands: [Add.self, Delete.self, List.self])

    struct Place: ParsableArguments {
        @OptionGroup var file: ConfigurationOption
        @Option(help: "Whose column: each point's (track) or each entity's (entity).")
        var kind = ColumnKind.track
        @Argument(help: "The number of the service.")
        var service: Int64

        func administration() async throws -> ServiceAdministration {
            try await ServiceAdministration(try file.load())
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a column.")

        @OptionGroup var place: Place
        @Argument(help: "Its key: ASCII letters, digits, '_' and '-'.")
        var key: String
        @Argument(help: "Its type; entity columns are strings.")
        var type: AttributeType?
        @Option(help: ArgumentHelp("For people.", valueName: "text"))
        var description = ""
        @Flag(help: "Entities can be selected by it (entity columns only).")
        var search = false

        func run() async throws {
            guard let type = type ?? (place.kind == .entity ? .string : nil) else {
                throw ServerError(.usage, "give the type of the column: int, double or string")
            }
            try await place.administration().addColumn(
                key, type: type, kind: place.kind, description: description, isSearchable: search, to: place.service)
            Output.print("Service \(place.service): \(place.kind.rawValue) column \(key), \(type.rawValue)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a column. The column's values of entities are deleted, those of points are hidden.")

        @OptionGroup var place: Place
        @Argument(help: "Its key.")
        var key: String

        func run() async throws {
            try await place.administration().deleteColumn(key, kind: place.kind, of: place.service)
            Output.print("Service \(place.service): \(place.kind.rawValue) column \(key) is deleted")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all columns of a kind.")

        @OptionGroup var place: Place
        @OptionGroup var options: ListOptions

        func run() async throws {
            let columns = try await place.administration().columns(of: place.service, kind: place.kind)
            Listing<ColumnRecord>([
                .init(.text("KEY"), "key", \.key), .init("TYPE", "type", \.type.rawValue),
                .init(
                    "SEARCH", "searchable", { $0.isSearchable ? "yes" : "" }, value: { .bool($0.isSearchable) }),
                .init(.text("DESCRIPTION"), "description", \.description),
            ]).show(columns, options)
        }
    }
}
