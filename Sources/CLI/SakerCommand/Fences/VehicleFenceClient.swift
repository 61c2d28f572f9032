package import AgentControl
import ArgumentParser
import FenceCommands
import FenceFiles
import FenceJSON
import Geodesy
package import Geofencing
import JSON
import NIOCore
import Terminal

/// The fences of this vehicle, which the agent has.
struct VehicleFenceClient: FenceHolder {
    static let program = "saker fence"
    static let subject = ""
    static let place = "on this vehicle"
    static let usualWatch: FenceSubjects? = .everyone
    static let takesReports = true

    @OptionGroup var agent: AgentOptions

    var printsJSON: Bool { agent.json }

    func add(_ definition: FenceDefinition) async throws {
        try await agent.call(.createFence, ["fence": definition.json], timeout: .seconds(60)) { (reply: FenceReply) in
            ["Made fence \(reply.fenceID)\(definition.name.isEmpty ? "" : " '\(definition.name)'").".printable]
        }
    }

    func fence(_ text: String) async throws -> LocalFenceReport { try await FenceCalls.one(text, agent) }

    func change(_ fence: LocalFenceReport, to definition: FenceDefinition, hasNewShape: Bool) async throws {
        var json = definition.json
        // The agent keeps the shape that it has.
        if !hasNewShape, case .object(var members) = json {
            members["shape"] = nil
            json = .object(members)
        }
        try await agent.call(
            .updateFence, ["fence_id": .integer(fence.id), "fence": json], timeout: .seconds(60)
        ) { (reply: FenceReply) in
            let revision = reply.revision == fence.revision ? "" : ", now revision \(reply.revision)"
            return ["Changed fence \(reply.fenceID)\(revision)."]
        }
    }

    func fences(_ selection: FenceSelectionOptions) async throws -> [LocalFenceReport] {
        try await FenceCalls.list(try await selection.parameters(agent), agent)
    }

    func table(_ fences: [LocalFenceReport]) -> [String] {
        FenceView.table(fences.map(\.shown), width: TerminalSize.columns)
    }

    func delete(_ fences: [LocalFenceReport], isAll: Bool) async throws {
        guard !fences.isEmpty else {
            return agent.json
                ? Output.print(json: "{\"code\":0,\"deleted\":[],\"durable\":true}")
                : Output.print("There are no fences.")
        }
        let chosen: [String: JSONValue?] =
            isAll ? ["all": true] : ["fences": .array(fences.map { .integer($0.id) })]
        try await agent.call(.deleteFences, chosen, timeout: .seconds(60)) { (reply: DeleteFencesReply) in
            let numbers = reply.deleted.map { "\($0)" }
            return [
                numbers.count == 1
                    ? "Deleted fence \(numbers[0])."
                    : "Deleted \(Quantity.count(Int64(numbers.count), "fence"))."
            ]
        }
    }

    func copies(_ texts: [String]) async throws -> [Fence] {
        try await ExportedFences.all(["fences": try await FenceCalls.numbers(of: texts, agent)], agent)
    }

    func district(_ name: String) async throws -> (name: String, shape: ShapeDraft)? { nil }
}

/// Where the vehicle is with regard to its own fences, or to those of the server.
struct VehiclePlaces: FenceStatusHolder {
    static let program = "saker fence"
    static let subject = ""
    static let moreExamples = ["", "--inside", "--server"]

    @OptionGroup var agent: AgentOptions
    @OptionGroup var whose: FenceSourceOptions

    var printsJSON: Bool { agent.json }

    func noFence(of entity: String) -> String {
        whose.server
            ? "The vehicle has no fence of the server that watches \(entity)." : "No fence watches \(entity)."
    }

    func relations(
        _ selection: FenceSelectionOptions, at place: (degrees: Degrees, datum: DatumArgument)?
    ) async throws -> (entity: String, relations: [FenceRelation]) {
        var parameters = try await selection.parameters(agent, source: whose.source)
        if let (degrees, datum) = place {
            var members: [String: JSONValue] = [
                "latitude": .double(degrees.latitude), "longitude": .double(degrees.longitude),
            ]
            if datum != .wgs84 { members["coord_type"] = .string(datum == .bd09 ? "bd09ll" : "gcj02") }
            parameters["place"] = .object(members)
        }
        var (entity, relations): (String, [FenceRelation]) = ("", [])
        try await FenceCalls.pages(.getFenceStatus, parameters, agent, isPrinted: true) { (page: FenceStatusReply) in
            entity = page.entity
            relations += page.statuses.map(FenceRelation.init)
            return page.more ? page.statuses.last?.fenceID : nil
        }
        return (entity, relations)
    }
}

extension FenceRelation {
    init(_ report: FenceStatusReport) {
        let side: Side =
            switch report.status {
            case .inside: .inside
            case .outside: .outside
            case .unknown: .unknown
            }
        self.init(
            fence: report.fenceID, name: report.name, side: side, distance: report.distance, since: report.since,
            time: report.time)
    }
}

extension LocalFenceReport: HeldFence {
    /// Nil for a fence of a version that this program does not know.
    package var definition: FenceDefinition? {
        // A large shape is left out of lists.
        let none = ShapeDraft(.point(Degrees(latitude: 0, longitude: 0)))
        return try? FenceDefinition(json: fence, shape: none)
    }

    package var hasShape: Bool { fence["shape"] != nil }

    /// For people.
    var shown: ShownFence {
        var shown = ShownFence(
            number: id, revision: revision, definition: definition, vertices: vertices, created: created,
            modified: modified)
        (shown.hasShape, shown.trouble) = (hasShape, trouble)
        return shown
    }
}
