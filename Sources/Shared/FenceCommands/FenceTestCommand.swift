package import ArgumentParser
internal import FenceArguments
internal import FenceFiles
internal import Geofencing
internal import JSON
internal import Terminal
internal import TimeZones
internal import TrackModel

/// `fence test`
package struct FenceTest<Holder: FenceHolder>: AsyncParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "test",
            abstract: "Shows which alarms a recorded track would have made.",
            discussion: """
                The track is a CSV, GPX, KML or GeoJSON file, as saker point import takes it. An attribute floor counts. The fences
                are those of a file, or those \(Holder.place). It does not matter whom they watch, and nobody is told.

                Examples:
                  \(Holder.typed("test", "drive.gpx --fences fences.geojson"))
                  \(Holder.typed("test", "drive.csv --fences routes.gpx --buffer 50 --output map.geojson"))
                """)
    }

    @OptionGroup var holder: Holder
    @OptionGroup var table: TableOptions

    @Argument(help: "The track.")
    var track: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A GeoJSON, GPX, KML or GeoPackage file with fences (default: those of the vehicle, or of the service).",
            valueName: "file"))
    var fences: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only this fence of the vehicle, or of the service; may be given again.", valueName: "number or name"))
    var fence: [String] = []

    @Option(name: .long, help: ArgumentHelp("Write track, fences and crossings as GeoJSON.", valueName: "file"))
    var output: String?

    @Flag(name: .long, help: "A program made the points, and no receiver: an unknown accuracy is 0 m, and not 10 m.")
    var uploaded = false

    @OptionGroup(title: "How the track is read") var times: PointFileOptions
    @OptionGroup(title: "How a file becomes fences") var files: FenceFileOptions
    @OptionGroup(title: "What the fences of a file tell") var rules: FenceRuleOptions

    package init() {}

    package func validate() throws {
        guard fences == nil || fence.isEmpty else {
            throw ValidationError("--fence chooses fences that are there already: leave out --fences or --fence")
        }
        guard fences != nil || (!files.isGiven && !rules.isGiven) else {
            throw ValidationError(
                "fences that are there already are tried as they are: leave out the options for files, or give a file with --fences"
            )
        }
    }

    package func run() async throws {
        let now = LocalTime.now
        let found = try await found(now)
        let (points, leftOut, remarks) = try TrackPoints.read(track, try times.rules(), isUploaded: uploaded)
        for line in remarks { complain(line) }
        guard !points.isEmpty else {
            throw FenceCommandFailure(.failed, "\(track.printable): there is no point with a time in it")
        }
        let trial = TrackTrial(of: points, entity: "track", by: found, zones: Self.zones(of: found, points))
        if let output {
            var file = try OutputFile(output)
            do {
                try file.write(trial.geoJSON)
                try file.finish()
            } catch {
                file.discard()
                throw error
            }
        }
        if holder.printsJSON {
            Output.print(json: TrialView.json(trial).description)
        } else {
            for line in TrialView.lines(trial, fences: found.count, width: table.width) { Output.print(line) }
            if let output { Output.print("The map is in \(output.printable).") }
        }
        guard leftOut == 0 else {
            throw FenceCommandFailure(
                .failed, "\(track.printable): \(Quantity.count(leftOut, "point")) left out; the others are judged")
        }
    }

    private func found(_ now: Int64) async throws -> [Fence] {
        if let fences { return try await found(in: fences, now) }
        let found = try await holder.copies(fence)
        guard !found.isEmpty else {
            throw FenceCommandFailure(.failed, "there is no such fence: give a file with fences with --fences")
        }
        return found
    }

    private func found(in fences: String, _ now: Int64) async throws -> [Fence] {
        let plan = try await FenceSource.plan(
            fences, files, rules, named: "test", existing: { _ in [] }, now: now
        ).plan
        for line in RefusedFeatures.lines(plan, of: fences) { complain(line) }
        var (made, next): ([Fence], Int32) = ([], 1)
        var taken: Set<Int32> = []
        for definition in plan.additions {
            // An exported fence keeps its number.
            var id = definition.origin.flatMap { Int32($0.feature) } ?? 0
            if id <= 0 || taken.contains(id) {
                while taken.contains(next) { next += 1 }
                id = next
            }
            taken.insert(id)
            do throws(FenceError) {
                made.append(try Fence(id: id, definition, at: Timestamp(milliseconds: now)))
            } catch {
                throw FenceCommandFailure(.failed, "\(fences): \(error)".printable)
            }
        }
        guard !made.isEmpty else {
            throw FenceCommandFailure(
                .failed, "\(fences.printable): no feature became a fence: there is nothing to try")
        }
        return made
    }

    private func complain(_ line: String) {
        Output.complain("\(Holder.program.prefix { $0 != " " }): \(line)")
    }

    /// The zones that the windows of the fences name, for the time of the track.
    private static func zones(of fences: [Fence], _ points: [FencePoint]) -> [String: ZoneOffsets] {
        guard let first = points.map(\.time).min(), let last = points.map(\.time).max() else { return [:] }
        let system = SystemZones(span: first...last)
        var zones: [String: ZoneOffsets] = [:]
        for fence in fences {
            guard case .named(let name)? = fence.definition.validity?.zone, zones[name] == nil else { continue }
            zones[name] = system.offsets(name)
        }
        return zones
    }
}
