package import ArgumentParser
internal import FenceFiles
internal import GeoPackageFile
internal import Geodesy
internal import Geofencing
internal import Terminal
internal import TrackModel

/// `fence add`
package struct FenceAdd<Holder: FenceHolder>: ParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "add",
            abstract: "Makes a fence \(Holder.place).",
            discussion: """
                A place is LAT,LON. Several places stand with blanks or semicolons between them in one --at, or in several.
                Times: \(TimeExpression.examples).

                Examples:
                  \(Holder.typed("add circle", "--at 40.0405,116.3008 --radius 50 --name depot --action enter='{\"gate\":3}'"))
                  \(Holder.typed("add circle", "--at -54.8,-68.3 --radius 200 --stay 300 --window 'mon-fri 18:00-06:00'"))
                  \(Holder.typed("add polygon", "--at '40.0,116.0 40.0,116.01 40.01,116.01' --hole '40.001,116.004 40.001,116.006 40.003,116.006'"))
                  \(Holder.typed("add corridor", "--at '40.0,116.0 40.0,116.02' --offset 50 --rule exit --settle 30"))
                  \(Holder.typed("add district", "Berlin --districts states.geojson --name-property name"))
                """,
            subcommands: [Circle.self, Polygon.self, Corridor.self, District.self])
    }

    package init() {}

    package struct Circle: AsyncParsableCommand {
        package static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "circle", abstract: "Makes a circle.")
        }

        @OptionGroup var holder: Holder
        @OptionGroup var new: NewFenceOptions
        @OptionGroup(title: "What it tells") var rules: FenceRuleOptions

        @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("The centre.", valueName: "lat,lon"))
        var at: String

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("The radius, above 0 and at most 1000000.", valueName: "m"))
        var radius: Double

        package init() {}

        package func validate() throws { _ = try PlaceText.place(at, "--at") }

        package func run() async throws {
            try await new.make(.circle(centre: try PlaceText.place(at, "--at"), radius: radius), rules, holder)
        }
    }

    package struct Polygon: AsyncParsableCommand {
        package static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "polygon", abstract: "Makes a polygon.",
                discussion: "Edges are straight in latitude and longitude. The last vertex is joined to the first.")
        }

        @OptionGroup var holder: Holder
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

        package init() {}

        package func validate() throws {
            for text in at { _ = try PlaceText.places(text, "--at") }
            for text in hole { _ = try PlaceText.places(text, "--hole") }
        }

        package func run() async throws {
            let shell = try at.flatMap { try PlaceText.places($0, "--at") }
            let holes = try hole.map { try PlaceText.places($0, "--hole") }
            try await new.make(.polygon([[shell] + holes]), rules, holder)
        }
    }

    package struct Corridor: AsyncParsableCommand {
        package static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "corridor", abstract: "Makes a corridor: everything near a line.",
                discussion: "\(Holder.program) import makes corridors of the routes of GPX and KML files.")
        }

        @OptionGroup var holder: Holder
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

        package init() {}

        package func validate() throws { for text in at { _ = try PlaceText.places(text, "--at") } }

        package func run() async throws {
            let line = try at.flatMap { try PlaceText.places($0, "--at") }
            try await new.make(.corridor(line, offset: offset), rules, holder)
        }
    }

    package struct District: AsyncParsableCommand {
        package static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "district",
                abstract: "Makes a fence of a district: a polygon that a name finds.",
                discussion: """
                    A name may be a path, as in 'Bavaria, Munich' or 湖南省长沙市, and may leave out endings such as 市. Files with
                    districts: geoBoundaries, Natural Earth, or any GeoJSON or GeoPackage with names.
                    """)
        }

        @OptionGroup var holder: Holder
        @OptionGroup var new: NewFenceOptions
        @OptionGroup(title: "What it tells") var rules: FenceRuleOptions

        @Argument(help: "The name of the district.")
        var district: String

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The file with districts. A server without it takes the districts that were imported there.",
                valueName: "file"))
        var districts: String?

        @Option(name: .long, help: ArgumentHelp("The layer of a GeoPackage that has several.", valueName: "name"))
        var layer: String?

        @Option(name: .long, help: ArgumentHelp("The attribute with the name.", valueName: "column"))
        var nameProperty = "name"

        @Option(name: .long, help: ArgumentHelp("The attribute with the parent's name or id.", valueName: "column"))
        var parentProperty: String?

        @Option(name: .long, help: ArgumentHelp("The attribute with the id.", valueName: "column"))
        var idProperty: String?

        package init() {}

        package func run() async throws {
            let found: (name: String, shape: ShapeDraft)
            if let districts {
                found = try find(in: districts)
            } else {
                guard let own = try await holder.district(district) else {
                    throw FenceCommandFailure(.usage, "--districts is missing: give the file with the districts")
                }
                found = own
            }
            try await new.make(found.shape.outline, rules, holder, district: found.name)
        }

        private func find(in path: String) throws -> (name: String, shape: ShapeDraft) {
            var source = try FenceSource.opened(path, layer: layer)
            var work = DistrictImport(nameColumn: nameProperty, parentColumn: parentProperty, idColumn: idProperty)
            do throws(FenceFileError) {
                while let outcome = try source.next() { work.add(outcome) }
            } catch {
                throw FenceSource.failure(path, error)
            }
            let result = work.finished()
            let names = result.names
            switch names.resolve(district) {
            case .found(let number): return (names.fullName(of: number), result.districts[number].shape)
            case .ambiguous(let candidates):
                throw FenceCommandFailure(
                    .failed,
                    TerminalText.safe(
                        "'\(district.shortened)' may be any of \(candidates.count): \(candidates.prefix(10).joined(separator: "; ")). Give more of the path"
                    ))
            case .unknown:
                let refused = result.refusals.first.map { "; \(result.refusals.count) features are none: \($0)" } ?? ""
                throw FenceCommandFailure(
                    .failed,
                    TerminalText.safe(
                        "\(path): none of its \(result.districts.count) districts is '\(district.shortened)'\(refused)")
                )
            }
        }
    }
}

/// What every new fence may have.
package struct NewFenceOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The name of the fence.", valueName: "text"))
    var name: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("The floor on which it counts, such as 2, B1 or -1.", valueName: "text"))
    var floor: String?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Metres around the shape.", valueName: "m"))
    var buffer: Double?

    @Option(help: "The datum of the coordinates.")
    var datum: DatumArgument = .wgs84

    package init() {}

    func make<Holder: FenceHolder>(
        _ outline: ShapeDraft.Outline, _ rules: FenceRuleOptions, _ holder: Holder, district: String? = nil
    ) async throws {
        let now = LocalTime.now
        var definition = FenceDefinition(ShapeDraft(outline, datum: datum.datum, buffer: buffer ?? 0))
        let settings = try rules.changes(of: nil, now: now, isReportable: Holder.takesReports)
        guard let watch = settings.watch ?? Holder.usualWatch else {
            throw FenceCommandFailure(
                .usage, "whom does the fence watch? Give --watch NAME, or --watch-all for every entity")
        }
        definition.watch = watch
        settings.apply(to: &definition)
        (definition.name, definition.floor, definition.district) = (name ?? district ?? "", floor, district)
        try Self.check(definition, now)
        try Self.checkRemote(definition)
        try await holder.add(definition)
    }

    /// Whether anybody hears of what the fence tells to others. `former`: the fence before a change.
    static func checkRemote(_ definition: FenceDefinition, _ former: FenceDefinition? = nil) throws(FenceCommandFailure)
    {
        guard former?.unheardRemote == nil || former?.reactions != definition.reactions,
            let action = definition.unheardRemote
        else { return }
        let count = definition.watch.entities.count
        throw FenceCommandFailure(
            .usage,
            "--remote tells its \(action.rawValue) to the entities that --watch names, at most \(FenceReaction.mostRemote), and this "
                + "fence names \(count == 0 ? "none" : "\(count)"): give --watch NAME for each of them")
    }

    /// The rules of fences, before anybody is asked.
    static func check(_ definition: FenceDefinition, _ now: Int64) throws(FenceCommandFailure) {
        do throws(FenceError) {
            _ = try Fence(id: 1, definition, at: Timestamp(milliseconds: now))
        } catch {
            throw FenceCommandFailure(.usage, TerminalText.safe(error.description))
        }
    }
}
