import AgentControl
import ArgumentParser
import FenceArguments
import FenceFiles
import FenceJSON
import GeoPackageFile
import Geodesy
import Geofencing
import JSON
import NIOCore
import TrackModel

/// `saker fence add`
struct FenceAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Makes a fence on this vehicle.",
        discussion: """
            A place is LAT,LON. Several places stand with blanks or semicolons between them in one --at, or in several.
            Times: \(TimeExpression.examples).

            Examples:
              saker fence add circle --at 40.0405,116.3008 --radius 50 --name depot --action enter='{"gate":3}'
              saker fence add circle --at -54.8,-68.3 --radius 200 --stay 300 --window 'mon-fri 18:00-06:00'
              saker fence add polygon --at '40.0,116.0 40.0,116.01 40.01,116.01' --hole '40.001,116.004 40.001,116.006 40.003,116.006'
              saker fence add corridor --at '40.0,116.0 40.0,116.02' --offset 50 --rule exit --settle 30
              saker fence add district Berlin --districts states.geojson --name-property name
            """,
        subcommands: [Circle.self, Polygon.self, Corridor.self, District.self])

    struct Circle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Makes a circle.")

        @OptionGroup var agent: AgentOptions
        @OptionGroup var new: NewFenceOptions
        @OptionGroup(title: "What it tells") var rules: FenceRuleOptions

        @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("The centre.", valueName: "lat,lon"))
        var at: String

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("The radius, above 0 and at most 1000000.", valueName: "m"))
        var radius: Double

        func validate() throws { _ = try PlaceText.place(at, "--at") }

        func run() async throws {
            try await new.make(.circle(centre: try PlaceText.place(at, "--at"), radius: radius), rules, agent)
        }
    }

    struct Polygon: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a polygon.",
            discussion: "Edges are straight in latitude and longitude. The last vertex is joined to the first.")

        @OptionGroup var agent: AgentOptions
        @OptionGroup var new: NewFenceOptions
        @OptionGroup(title: "What it tells") var rules: FenceRuleOptions

        @Option(
            name: .long, parsing: .unconditionalSingleValue,
            help: ArgumentHelp("The vertices, three or more; may be given again.", valueName: "lat,lon"))
        var at: [String]

        @Option(
            name: .long, parsing: .unconditionalSingleValue,
            help: ArgumentHelp("The vertices of a hole; each --hole is one.", valueName: "lat,lon"))
        var hole: [String] = []

        func validate() throws {
            for text in at { _ = try PlaceText.places(text, "--at") }
            for text in hole { _ = try PlaceText.places(text, "--hole") }
        }

        func run() async throws {
            let shell = try at.flatMap { try PlaceText.places($0, "--at") }
            let holes = try hole.map { try PlaceText.places($0, "--hole") }
            try await new.make(.polygon([[shell] + holes]), rules, agent)
        }
    }

    struct Corridor: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a corridor: everything near a line.",
            discussion: "saker fence import makes corridors of the routes of GPX and KML files.")

        @OptionGroup var agent: AgentOptions
        @OptionGroup var new: NewFenceOptions
        @OptionGroup(title: "What it tells") var rules: FenceRuleOptions

        @Option(
            name: .long, parsing: .unconditionalSingleValue,
            help: ArgumentHelp("The vertices, two or more; may be given again.", valueName: "lat,lon"))
        var at: [String]

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Metres on each side of the line, above 0 and at most 10000.", valueName: "m"))
        var offset: Double

        func validate() throws { for text in at { _ = try PlaceText.places(text, "--at") } }

        func run() async throws {
            let line = try at.flatMap { try PlaceText.places($0, "--at") }
            try await new.make(.corridor(line, offset: offset), rules, agent)
        }
    }

    struct District: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a fence of a district: a polygon of a file that a name finds.",
            discussion: """
                A name may be a path, as in 'Bavaria, Munich' or 湖南省长沙市, and may leave out endings such as 市. Files with
                districts: geoBoundaries, Natural Earth, or any GeoJSON or GeoPackage with names.
                """)

        @OptionGroup var agent: AgentOptions
        @OptionGroup var new: NewFenceOptions
        @OptionGroup(title: "What it tells") var rules: FenceRuleOptions

        @Argument(help: "The name of the district.")
        var district: String

        @Option(name: .long, help: ArgumentHelp("The file with districts.", valueName: "file"))
        var districts: String

        @Option(name: .long, help: ArgumentHelp("The layer of a GeoPackage that has several.", valueName: "name"))
        var layer: String?

        @Option(name: .long, help: ArgumentHelp("The attribute with the name.", valueName: "column"))
        var nameProperty = "name"

        @Option(name: .long, help: ArgumentHelp("The attribute with the parent's name or id.", valueName: "column"))
        var parentProperty: String?

        @Option(name: .long, help: ArgumentHelp("The attribute with the id.", valueName: "column"))
        var idProperty: String?

        func run() async throws {
            let found = try Self.find(district, in: districts, layer, nameProperty, parentProperty, idProperty)
            try await new.make(found.shape.outline, rules, agent, district: found.name)
        }

        static func find(
            _ name: String, in path: String, _ layer: String?, _ nameColumn: String, _ parentColumn: String?,
            _ idColumn: String?
        ) throws -> (name: String, shape: ShapeDraft) {
            var source = try FenceSource.opened(path, layer: layer)
            var work = DistrictImport(nameColumn: nameColumn, parentColumn: parentColumn, idColumn: idColumn)
            do throws(FenceFileError) {
                while let outcome = try source.next() { work.add(outcome) }
            } catch {
                throw FenceSource.failure(path, error)
            }
            let result = work.finished()
            let names = result.names
            switch names.resolve(name) {
            case .found(let number): return (names.fullName(of: number), result.districts[number].shape)
            case .ambiguous(let candidates):
                throw CommandFailure(
                    .failed,
                    "'\(name.shortened)' may be any of \(candidates.count): \(candidates.prefix(10).joined(separator: "; ")). Give more of the path"
                        .printable)
            case .unknown:
                let refused = result.refusals.first.map { "; \(result.refusals.count) features are none: \($0)" } ?? ""
                throw CommandFailure(
                    .failed,
                    "\(path): none of its \(result.districts.count) districts is '\(name.shortened)'\(refused)"
                        .printable)
            }
        }
    }
}

/// What every new fence may have.
struct NewFenceOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The name of the fence.", valueName: "text"))
    var name: String?

    @Option(name: .long, help: ArgumentHelp("The floor on which it counts.", valueName: "text"))
    var floor: String?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Metres around the shape.", valueName: "m"))
    var buffer: Double?

    @Option(help: "The datum of the coordinates.")
    var datum: DatumArgument = .wgs84

    func make(
        _ outline: ShapeDraft.Outline, _ rules: FenceRuleOptions, _ agent: AgentOptions, district: String? = nil
    ) async throws {
        let now = TimeText.now
        var definition = FenceDefinition(ShapeDraft(outline, datum: datum.datum, buffer: buffer ?? 0))
        definition.watch = .everyone
        try rules.settings(of: nil, now: now).apply(to: &definition)
        (definition.name, definition.floor, definition.district) = (name ?? district ?? "", floor, district)
        try Self.check(definition, now)
        try await agent.call(.createFence, ["fence": definition.json], timeout: .seconds(60)) { (reply: FenceReply) in
            ["Made fence \(reply.fenceID)\(definition.name.isEmpty ? "" : " '\(definition.name)'").".printable]
        }
    }

    /// The rules of fences, before anybody is asked.
    static func check(_ definition: FenceDefinition, _ now: Int64) throws(CommandFailure) {
        do throws(FenceError) {
            _ = try Fence(id: 1, definition, at: Timestamp(milliseconds: now))
        } catch {
            throw CommandFailure(.usage, error.description.printable)
        }
    }
}
