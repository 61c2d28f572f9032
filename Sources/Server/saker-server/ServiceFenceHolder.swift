import ArgumentParser
import FenceCommands
import Geodesy
import Geofencing
import JSON
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

/// The fences of a service, for the commands that the vehicle's command line has, too.
struct ServiceFenceHolder: FenceHolder, FenceStatusHolder {
    static let program = "saker-server fence"
    static let subject = "1"
    static let place = "in a service"
    static let moreExamples = ["--entity van_07", "--entity van_07 --inside"]
    /// A fence of a fleet alarms many: whom it watches must be said.
    static let usualWatch: FenceSubjects? = nil
    static let takesReports = false

    @OptionGroup var file: ConfigurationOption
    @Flag(help: "Print JSON.")
    var json = false
    @Argument(help: "The number of the service.")
    var service: Int64

    var printsJSON: Bool { json }

    private var administration: ServiceAdministration {
        get async throws { try await ServiceAdministration(try file.load()) }
    }

    static func choice(
        _ selection: FenceSelectionOptions, entity: String?
    ) -> ServiceAdministration.FenceChoice {
        var choice = ServiceAdministration.FenceChoice()
        (choice.fences, choice.group, choice.entity) = (selection.fences, selection.group, entity)
        (choice.file, choice.layer) = (selection.file, selection.layer)
        return choice
    }

    // MARK: Changes

    func add(_ definition: FenceDefinition) async throws {
        let made = try await administration.addFence(definition, to: service)
        let name = made.name.isEmpty ? "" : " '\(made.name)'"
        tell(["fence_id": .integer(Int64(made.number))], "Made fence \(made.number)\(name).")
    }

    func fence(_ text: String) async throws -> ServiceFence {
        .read(try await administration.fence(named: text, of: service))
    }

    func change(_ held: ServiceFence, to definition: FenceDefinition, hasNewShape: Bool) async throws {
        guard case .read(let fence) = held else { return }
        let changed = try await administration.changeFence(fence, to: definition, of: service)
        let revision = changed.revision == fence.revision ? "" : ", now revision \(changed.revision)"
        tell(
            ["fence_id": .integer(Int64(changed.number)), "revision": .integer(Int64(changed.revision))],
            "Changed fence \(changed.number)\(revision).")
    }

    func fences(_ selection: FenceSelectionOptions) async throws -> [ServiceFence] {
        let found = try await administration.fencesToDelete(
            Self.choice(selection, entity: selection.entity), of: service)
        let all = found.fences.map(ServiceFence.read) + found.unreadable.map { .unreadable($0.fence, $0.reason) }
        return all.sorted { $0.id < $1.id }
    }

    func table(_ fences: [ServiceFence]) -> [String] {
        FenceView.table(fences.map(\.shown), width: TerminalSize.columns)
    }

    func delete(_ fences: [ServiceFence], isAll: Bool) async throws {
        let deleted =
            fences.isEmpty
            ? [] : try await administration.deleteFences(isAll ? nil : fences.map { Int32($0.id) }, of: service)
        let text =
            switch deleted.count {
            case 0: "There are no fences."
            case 1: "Deleted fence \(deleted[0])."
            default: "Deleted \(Quantity.count(Int64(deleted.count), "fence"))."
            }
        tell(["deleted": .array(deleted.map { .integer(Int64($0)) })], text)
    }

    private func tell(_ answer: JSONValue, _ text: String) {
        if json { Output.print(json: answer.description) } else { Output.print(text) }
    }

    // MARK: Reading

    func copies(_ texts: [String]) async throws -> [Fence] {
        var choice = ServiceAdministration.FenceChoice()
        choice.fences = texts
        return try await administration.fences(choice, of: service).map(\.fence)
    }

    func district(_ name: String) async throws -> (name: String, shape: ShapeDraft)? {
        try await administration.district(named: name)
    }

    func noFence(of entity: String) -> String { "No fence watches \(entity)." }

    func relations(
        _ selection: FenceSelectionOptions, at place: (degrees: Degrees, datum: DatumArgument)?
    ) async throws -> (entity: String, relations: [FenceRelation]) {
        let administration = try await administration
        let found: [ServiceAdministration.FenceRelation]
        if let place {
            let wgs84 = DatumConversion.wgs84(place.degrees, givenAs: place.datum.datum).place
            found = try await administration.relations(
                of: wgs84, to: Self.choice(selection, entity: selection.entity), of: service)
        } else {
            guard let entity = selection.entity else {
                throw FenceCommandFailure(.usage, "where is what? Give --entity NAME, or a place with --at")
            }
            found = try await administration.relations(
                of: entity, to: Self.choice(selection, entity: nil), of: service)
        }
        let relations = found.map(FenceRelation.init)
        if json { Output.print(json: JSONValue.array(relations.map(\.json)).description) }
        return (selection.entity ?? "", relations)
    }
}

/// A fence of a service. One that cannot be read can be deleted.
enum ServiceFence: HeldFence {
    case read(FenceReport)
    /// Its number, and why.
    case unreadable(Int32, String)

    var id: Int64 {
        switch self {
        case .read(let fence): Int64(fence.number)
        case .unreadable(let number, _): Int64(number)
        }
    }
    var definition: FenceDefinition? {
        guard case .read(let fence) = self else { return nil }
        return fence.fence.definition
    }
    var hasShape: Bool { definition != nil }

    /// For people.
    var shown: ShownFence {
        switch self {
        case .read(let fence): return fence.shown
        case .unreadable(let number, let reason):
            var shown = ShownFence(
                number: Int64(number), revision: 0, definition: nil, vertices: 0, created: 0, modified: 0)
            shown.trouble = "it cannot be read: \(reason)"
            return shown
        }
    }
}

extension FenceReport {
    /// For people.
    var shown: ShownFence {
        var shown = ShownFence(
            number: Int64(number), revision: Int64(revision), definition: fence.definition,
            vertices: Int64(fence.definition.shape.vertexCount), created: fence.created.milliseconds,
            modified: fence.modified.milliseconds)
        shown.since = everyoneSince?.milliseconds
        return shown
    }

    /// From milliseconds since 1970, in universal time.
    static func time(_ milliseconds: Int64) -> String {
        TimeText.universal(Timestamp(milliseconds: milliseconds))
    }
}

extension FenceRelation {
    fileprivate init(_ relation: ServiceAdministration.FenceRelation) {
        let status = relation.status
        let side: Side =
            switch status.place {
            case .in: .inside
            case .out: .outside
            case .unknown: .unknown
            }
        self.init(
            fence: Int64(relation.fence), name: relation.name, side: side, distance: status.signedDistance,
            since: status.since?.milliseconds, time: status.time?.milliseconds)
    }

    fileprivate var json: JSONValue {
        let members: [String: JSONValue?] = [
            "fence_id": .integer(fence), "fence_name": .string(name), "status": .string(side.rawValue),
            "distance": distance.flatMap { $0.isFinite ? .double($0) : nil }, "since": since.map(JSONValue.integer),
            "time": time.map(JSONValue.integer),
        ]
        return .object(members.compactMapValues(\.self))
    }
}
