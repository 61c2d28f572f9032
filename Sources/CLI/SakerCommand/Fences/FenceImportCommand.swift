import AgentControl
import ArgumentParser
import FenceCommands
import FenceFiles
import FenceJSON
import Geofencing
import JSON
import NIOCore
import Terminal

/// `saker fence import`
struct FenceImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes the fences of a file on this vehicle: one fence for each feature.",
        discussion: """
            Files: GeoJSON, GeoPackage, GPX and KML. A line, such as a route of GPX, becomes a corridor. A feature may say more
            in its attributes name, radius, offset and buffer.

            A second import of the same file changes, adds and removes fences, so that they are what the file says. It knows a
            fence by the file's name and the feature's id. What the options do not say stays as it is with a fence that is
            there. All is done, or nothing.

            Examples:
              saker fence import yards.geojson --where "kind = 'depot' AND size > 2" --buffer 20 --dry-run
              saker fence import site.gpkg --layer rooms --id-column nr --floor-column level
              saker fence import route.gpx --buffer 50 --rule exit --settle 30
              saker fence import fences.geojson --within '39.9,116.2 40.1,116.5' --watch van_07
            """)

    @OptionGroup var agent: AgentOptions

    @Argument(help: "The file.")
    var file: String

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The name by which a second import finds the fences (default: the file's name).", valueName: "name"))
    var alias: String?

    @Flag(name: .long, help: "Only show what would be done.")
    var dryRun = false

    @OptionGroup(title: "Which features become fences, and how") var files: FenceFileOptions
    @OptionGroup(title: "What the fences tell") var rules: FenceRuleOptions

    func run() async throws {
        let now = LocalTime.now
        let name = alias ?? String(file.split(separator: "/").last ?? "")
        guard !name.isEmpty, name.utf8.count <= FenceOrigin.mostNameBytes else {
            throw CommandFailure(.usage, "'\(name.shortened)' is no name for the file: give one with --as".printable)
        }
        let (plan, layer, known) = try await FenceSource.plan(
            file, files, rules, named: name, isReportable: true,
            // All of them: a file that this vehicle has exported changes its own fences.
            existing: { _ in try await ExportedFences.all([:], agent) }, now: now)
        for line in RefusedFeatures.lines(plan, of: file) { Output.complain("saker: \(line)") }
        if !agent.json { for line in ImportView.lines(plan) { Output.print(line) } }
        if dryRun {
            if !agent.json { Output.print("Nothing was changed, because of --dry-run.") }
        } else {
            let reply = try await send(FenceImportText(plan, known, file: name, layer: layer), name, layer)
            if agent.json { Output.print(json: reply.description) }
            try await agent.demandRemembered(reply, of: .importFences)
        }
        guard plan.refused == 0 else {
            throw CommandFailure(
                .failed,
                "\(Quantity.count(Int64(plan.refused), "feature")) of \(file.printable) refused; the others \(dryRun ? "would be" : "are") imported"
            )
        }
    }

    private func send(_ text: FenceImportText, _ name: String, _ layer: String?) async throws -> JSONValue {
        let parts = text.parts
        let id = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        var reply: JSONValue = [:]
        for (number, part) in parts.enumerated() {
            var parameters: [String: JSONValue?] = [
                "file": .string(name), "layer": layer.map(JSONValue.string), "text": .string(part),
            ]
            if parts.count > 1 {
                parameters["import_id"] = .string(id)
                parameters["part"] = .integer(Int64(number))
                parameters["last"] = .bool(number == parts.count - 1)
            }
            reply = try await agent.reply(.importFences, parameters, timeout: .seconds(120))
        }
        return reply
    }
}

/// The lines of an import, and the pieces in which they are sent.
struct FenceImportText {
    /// The agent takes messages of 1 MiB. Quotes and backslashes take two bytes there.
    static let mostPartBytes = 512 * 1024
    private static let mostEscapedBytes = 900 * 1024

    let parts: [String]

    /// Fences of the file that the plan does not name are kept by name.
    init(_ plan: ImportPlan, _ known: [Fence], file: String, layer: String?) {
        let gone = Set(plan.removals)
        let changed = Set(plan.updates.map(\.fence.id))
        var writer = PartWriter()
        for definition in plan.additions { writer.add(definition.json) }
        for update in plan.updates {
            let definition = update.fence.definition
            let isOfFile = definition.origin?.file == file && definition.origin?.layer == layer
            writer.add(
                isOfFile
                    ? definition.json
                    : ["change": .integer(Int64(update.fence.id)), "fence": definition.json])
        }
        for fence in known where !gone.contains(fence.id) && !changed.contains(fence.id) {
            guard let origin = fence.definition.origin, origin.file == file, origin.layer == layer else { continue }
            writer.add(["keep": .string(origin.feature)])
        }
        parts = writer.finished()
    }

    /// Cuts between two characters.
    private struct PartWriter {
        private var parts: [String] = []
        private var bytes: [UInt8] = []
        private var escaped = 0

        mutating func add(_ value: JSONValue) {
            for byte in value.serialized() + [UInt8(ascii: "\n")] {
                let isContinued = byte & 0xC0 == 0x80
                if !isContinued,
                    bytes.count >= FenceImportText.mostPartBytes || escaped >= FenceImportText.mostEscapedBytes
                {
                    cut()
                }
                bytes.append(byte)
                escaped += byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1
            }
        }

        private mutating func cut() {
            parts.append(String(decoding: bytes, as: UTF8.self))
            (bytes, escaped) = ([], 0)
        }

        /// One part at least.
        consuming func finished() -> [String] {
            if !bytes.isEmpty || parts.isEmpty { cut() }
            return parts
        }
    }
}

/// What an import does, for people.
enum ImportView {
    /// What happens to the features of the file, and to the fences that are there.
    static func lines(_ plan: ImportPlan) -> [String] {
        func part(_ count: Int, _ text: String) -> String? {
            count == 0 ? nil : "\(Quantity.count(Int64(count))) \(text)"
        }
        let fences = [
            part(plan.additions.count, "new"), part(plan.updates.count, "changed"),
            part(plan.unchanged, "unchanged"), part(plan.removals.count, "removed"),
            part(plan.held, "kept without a feature"),
        ].compactMap(\.self)
        var lines = ["Fences: \(fences.isEmpty ? "none" : fences.joined(separator: ", "))."]
        let features = [
            part(plan.notChosen, "not chosen by --where"), part(plan.outside, "not in --within"),
            part(plan.refused, "refused"),
        ].compactMap(\.self)
        if !features.isEmpty { lines.append("Other features: \(features.joined(separator: ", ")).") }
        if plan.withoutID > 0 {
            lines.append(
                "\(Quantity.count(Int64(plan.withoutID), "feature has", "features have")) no id, so the number in the file"
                    + " counts: if the order of the file changes, give --id-column.")
        }
        if plan.unreported > 0 {
            lines.append(
                "\(Quantity.count(Int64(plan.unreported), "fence tells", "fences tell")) an action to others (remote), who hear of it"
                    + " through the server alone: give --report.")
        }
        if plan.unheard > 0 {
            lines.append(
                "\(Quantity.count(Int64(plan.unheard), "fence tells", "fences tell")) an action to others (remote), and nobody hears of"
                    + " it: only entities that a fence names are told, at most \(FenceReaction.mostRemote): give --watch NAME."
            )
        }
        return lines
    }
}
