import AgentControl
import ArgumentParser
import FenceCommands
import FenceFiles
import FenceJSON
import Geofencing
import JSON
import NIOCore
import Terminal
import TrackModel

/// `saker fence export`
struct FenceExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes fences of this vehicle as GeoJSON.",
        discussion: """
            Maps show it, and saker fence import makes the same fences of it. Coordinates are WGS 84; a fence that was given in
            another datum keeps its numbers beside them.

            Examples:
              saker fence export > fences.geojson
              saker fence export --group yard --output yard.geojson
            """)

    @OptionGroup var agent: AgentOptions
    @OptionGroup var selection: FenceSelectionOptions

    @Option(name: [.short, .long], help: ArgumentHelp("Write to this file.", valueName: "file"))
    var output: String?

    func run() async throws {
        // All of them before the first is written: a file is whole, or not there.
        let fences = try await ExportedFences.all(try await selection.parameters(agent), agent)
        var file = try OutputFile(output)
        do {
            try file.write("{\"type\":\"FeatureCollection\",\"features\":[")
            for (index, fence) in fences.enumerated() {
                try file.write(index == 0 ? "\n" : ",\n")
                try file.write(FenceGeoJSON.feature(fence))
            }
            try file.write("\n]}\n")
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
        if let output { Output.print("\(Quantity.count(Int64(fences.count), "fence")) in \(output.printable).") }
    }
}

/// The fences of the agent with shapes of any size.
enum ExportedFences {
    /// How often it begins anew when a fence changes meanwhile.
    private static let tries = 3

    static func all(_ filter: [String: JSONValue?], _ agent: AgentOptions) async throws -> [Fence] {
        var attempt = 1
        while true {
            do {
                return try await once(filter, agent)
            } catch let error as AgentControlError where error.parameter == "position" && attempt < tries {
                attempt += 1
            } catch {
                throw agent.failure(error)
            }
        }
    }

    private static func once(_ filter: [String: JSONValue?], _ agent: AgentOptions) async throws -> [Fence] {
        var (fences, rest, position): ([Fence], [UInt8], String?) = ([], [], nil)
        repeat {
            let value = try await agent.client.call(
                .exportFences, parameters: filter.merging(["position": position.map(JSONValue.string)]) { $1 },
                timeout: .seconds(60))
            let reply: ExportFencesReply = try AgentOptions.decoded(value)
            rest += reply.text.utf8
            var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
            // The last piece ends with a line feed.
            let unfinished = Array(lines.popLast() ?? [])
            for line in lines where !line.isEmpty { fences.append(try fence(Array(line))) }
            rest = unfinished
            position = reply.position
        } while position != nil
        if !rest.isEmpty { fences.append(try fence(rest)) }
        return fences
    }

    private static func fence(_ line: [UInt8]) throws -> Fence {
        let rules = JSONRules(maximumBytes: .max, maximumValues: 1_000_000)
        guard let value = try? JSONReader.value(of: line, rules),
            let id = value["id"]?.integerValue.flatMap(Int32.init(exactly:)),
            let revision = value["revision"]?.integerValue.flatMap(Int32.init(exactly:)), let given = value["fence"],
            let definition = try? FenceDefinition(json: given)
        else {
            throw CommandFailure(
                .failed,
                "saker does not understand a fence of the agent, because the two have different versions: update saker")
        }
        let created = Timestamp(milliseconds: value["created"]?.integerValue ?? 0)
        do throws(FenceError) {
            return try Fence(
                id: id, revision: revision, areaRevision: 1, definition, created: created,
                modified: Timestamp(milliseconds: value["modified"]?.integerValue ?? 0), revisedAt: created)
        } catch {
            throw CommandFailure(.failed, "fence \(id) of the agent: \(error)".printable)
        }
    }
}
