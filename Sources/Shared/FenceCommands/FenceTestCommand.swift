internal import AgentControl
package import ArgumentParser
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

/// The points of a recorded track, as fences see them.
enum TrackPoints {
    /// So many are judged; 23 days of one point a second.
    static let most = 2_000_000

    /// All points of the file, how many places of it are none, and what is to be told of them. `isUploaded`: a program made them, and no
    /// receiver.
    static func read(
        _ path: String, _ times: PointFileRules, isUploaded: Bool
    ) throws -> (points: [FencePoint], leftOut: Int64, remarks: [String]) {
        var (file, points) = (
            try PointFile(path, times: times, attributes: [FloorAttribute.key]), [FencePoint]()
        )
        while let point = try file.next() {
            guard points.count < most else {
                throw FenceCommandFailure(
                    .failed, "\(path.printable): more than \(Quantity.count(Int64(most))) points: take the file apart")
            }
            do throws(CustomPoint.Problem) {
                var judged = FencePoint(try CustomPoint.point(point.value))
                judged.isFromReceiver = !isUploaded
                points.append(judged)
            } catch {
                throw FenceCommandFailure(.failed, "\(path): \(point.place): \(error.detail)".printable)
            }
        }
        return (points, file.leftOut.count, file.leftOut.lines(path) + file.notes)
    }
}

/// The result of a trial for people and for programs.
enum TrialView {
    static func lines(_ trial: TrackTrial, fences: Int, width: Int? = nil) -> [String] {
        var lines: [String] = []
        if !trial.rows.isEmpty {
            var table = TextTable([
                "TIME", "ACTION", .number("FENCE"), .text("NAME"), TextTable.Column("PLACE", rank: 2),
                .text("DETAIL", rank: 1),
            ])
            for row in trial.rows {
                let place = row.crossing.place
                table.add(
                    LocalTime.text(row.crossing.time.milliseconds), row.action.rawValue, "\(row.fence)",
                    row.isGroup ? "group \(row.name)" : row.name, Quantity.place(place.latitude, place.longitude),
                    detail(row))
            }
            lines = table.lines(width: width) + [""]
        }
        let alarms = trial.rows.isEmpty ? "no alarm" : Quantity.count(Int64(trial.rows.count), "alarm")
        lines.append(
            "\(alarms.first?.uppercased() ?? "")\(alarms.dropFirst()) of \(Quantity.count(Int64(fences), "fence"))"
                + " along \(Quantity.count(Int64(trial.judged), "point")).")
        if trial.repeated > 0 {
            lines.append(
                "\(Quantity.count(Int64(trial.repeated), "point has", "points have")) the time of another one: the first counts."
            )
        }
        for fence in trial.notTried { lines.append("Fence \(fence.fence) was not tried: \(fence.reason).") }
        return lines.map(\.printable)
    }

    private static func detail(_ row: TrackTrial.Row) -> String {
        var parts: [String] = []
        if let inside = row.inside { parts.append("inside for \(DurationText.text(inside))") }
        if row.skipped > 0 { parts.append("\(Quantity.count(Int64(row.skipped), "stay")) before it not told") }
        let crossing = row.crossing
        if !crossing.isEstimated, crossing.earliest < crossing.latest, row.action != .stay {
            parts.append("not before \(LocalTime.text(crossing.earliest.milliseconds))")
        }
        return parts.joined(separator: ", ")
    }

    static func json(_ trial: TrackTrial) -> JSONValue {
        let alarms = trial.rows.map { row in
            let crossing = row.crossing
            var members: [String: JSONValue] = [
                "action": .string(row.action.rawValue), "fence_id": .integer(Int64(row.fence)),
                row.isGroup ? "group" : "fence_name": .string(row.name), "time": .integer(row.time.milliseconds),
                "crossing": [
                    "time": .integer(crossing.time.milliseconds), "latitude": .double(crossing.place.latitude),
                    "longitude": .double(crossing.place.longitude), "estimated": .bool(crossing.isEstimated),
                ],
            ]
            if let inside = row.inside { members["inside"] = .integer(inside) }
            if row.skipped > 0 { members["skipped"] = .integer(Int64(row.skipped)) }
            return JSONValue.object(members)
        }
        return [
            "alarms": .array(alarms), "points": .integer(Int64(trial.judged)),
            "repeated": .integer(Int64(trial.repeated)),
            "not_tried": .array(
                trial.notTried.map { ["fence_id": .integer(Int64($0.fence)), "reason": .string($0.reason)] }),
        ]
    }
}
