import JSON
import NIOCore
package import TrackModel
import Varlink

// The vehicle's own fences.
extension AgentControlService {
    func createFence(_ parameters: inout CallParameters) throws -> EventLoopFuture<FenceReply> {
        let fence = try parameters.requiredObject("fence")
        try parameters.finish()
        return handler.createFence(.object(fence))
    }

    func updateFence(_ parameters: inout CallParameters) throws -> EventLoopFuture<FenceReply> {
        let number = try parameters.requiredInteger("fence_id")
        let fence = try parameters.requiredObject("fence")
        try parameters.finish()
        try checkFences([number], "fence_id", .updateFence)
        return handler.updateFence(number, .object(fence))
    }

    func deleteFences(_ parameters: inout CallParameters) throws -> EventLoopFuture<DeleteFencesReply> {
        let selection = try self.selection(&parameters, .deleteFences, hasPages: false)
        let isAll = try parameters.bool("all") ?? false
        try parameters.finish()
        guard isAll == selection.hasNoCondition else {
            throw AgentControlError(
                .parameterError, in: .deleteFences,
                reason: "give either conditions, such as 'fences', or 'all': true", parameter: "all")
        }
        return handler.deleteFences(selection)
    }

    func listFences(_ parameters: inout CallParameters) throws -> EventLoopFuture<FencesReply> {
        let selection = try self.selection(&parameters, .listFences, hasPages: true)
        try parameters.finish()
        return handler.fences(selection)
    }

    func exportFences(_ parameters: inout CallParameters) throws -> EventLoopFuture<ExportFencesReply> {
        let selection = try self.selection(&parameters, .exportFences, hasPages: false)
        let position = try parameters.string("position")
        try parameters.finish()
        return handler.exportFences(selection, position: position)
    }

    func fenceStatus(_ parameters: inout CallParameters) throws -> EventLoopFuture<FenceStatusReply> {
        var selection = try self.selection(&parameters, .getFenceStatus, hasPages: true)
        // Here it says whose status is asked for, and is no condition.
        let entity = selection.entity
        selection.entity = nil
        let place = try parameters.object("place").map { try Self.place($0) }
        try parameters.finish()
        return handler.fenceStatus(of: entity, at: place, selection)
    }

    func importFences(_ parameters: inout CallParameters) throws -> EventLoopFuture<ImportFencesReply> {
        let part = FenceImportPart(
            file: try parameters.requiredString("file"), layer: try parameters.string("layer"),
            text: try parameters.requiredString("text"), importID: try parameters.string("import_id"),
            part: try parameters.integer("part") ?? 0, isLast: try parameters.bool("last") ?? true)
        try parameters.finish()
        try check(part)
        return handler.importFences(part)
    }

    // MARK: - Rules

    private func selection(
        _ parameters: inout CallParameters, _ method: AgentMethod, hasPages: Bool
    ) throws -> FenceSelection {
        var selection = FenceSelection(
            fences: try parameters.integers("fences"), name: try parameters.string("name"),
            group: try parameters.string("group"), entity: try parameters.string("entity"),
            file: try parameters.string("file"), layer: try parameters.string("layer"))
        if hasPages {
            selection.source = try source(&parameters, method)
            selection.after = try parameters.integer("after") ?? 0
            selection.limit = try parameters.integer("limit") ?? selection.limit
        }
        try check(selection.entity, method)
        try checkFences(selection.fences ?? [], "fences", method)
        guard (1...FenceSelection.maximumCount).contains(selection.limit) else {
            throw AgentControlError(
                .parameterError, in: method,
                reason: "a limit of \(selection.limit) is out of range: give 1 to \(FenceSelection.maximumCount)",
                parameter: "limit")
        }
        guard (0...Int64(Int32.max)).contains(selection.after) else {
            throw AgentControlError(
                .parameterError, in: method,
                reason: "'after' is \(selection.after): give the number of a fence, or 0", parameter: "after")
        }
        return selection
    }

    private func source(
        _ parameters: inout CallParameters, _ method: AgentMethod
    ) throws -> FenceSelection.Source {
        guard let text = try parameters.string("source") else { return .local }
        guard let source = FenceSelection.Source(rawValue: text) else {
            throw AgentControlError(
                .parameterError, in: method, reason: "source '\(text.prefix(64))' is none: give local or server",
                parameter: "source")
        }
        return source
    }

    func checkFences(_ numbers: [Int64], _ name: String, _ method: AgentMethod) throws(AgentControlError) {
        guard let wrong = numbers.first(where: { !(1...Int64(Int32.max)).contains($0) }) else { return }
        throw AgentControlError(
            .parameterError, in: method,
            reason: "'\(name)' has \(wrong): the number of a fence is 1 to \(Int32.max)", parameter: name)
    }

    private func check(_ part: FenceImportPart) throws(AgentControlError) {
        let problem: (reason: String, parameter: String)?
        if part.file.isEmpty {
            problem = ("'file' is empty: give the name under which the fences are found again", "file")
        } else if let id = part.importID, !(1...64).contains(id.utf8.count) {
            problem = ("'import_id' has \(id.utf8.count) bytes: it has 1 to 64", "import_id")
        } else if part.part < 0 {
            problem = ("'part' is \(part.part): parts are counted from 0", "part")
        } else if part.importID == nil, part.part > 0 || !part.isLast {
            problem = ("an import in parts needs 'import_id': choose one, and give it with each part", "import_id")
        } else {
            problem = nil
        }
        guard let problem else { return }
        throw AgentControlError(
            .parameterError, in: .importFences, reason: problem.reason, parameter: problem.parameter)
    }

    private static func place(_ given: [String: JSONValue]) throws(AgentControlError) -> AssumedPlace {
        func error(_ reason: String, _ member: String) -> AgentControlError {
            AgentControlError(.parameterError, in: .getFenceStatus, reason: reason, parameter: "place.\(member)")
        }
        func degrees(_ member: String, _ range: ClosedRange<Double>) throws(AgentControlError) -> Double {
            guard let number = given[member]?.doubleValue, range.contains(number) else {
                let found = given[member].map { "\($0.description.prefix(64))" } ?? "missing"
                throw error(
                    "\(member) is \(found): a number from \(Int(range.lowerBound)) to \(Int(range.upperBound)) is needed",
                    member)
            }
            return number
        }
        if let unknown = given.keys.filter({ !["latitude", "longitude", "coord_type"].contains($0) }).min() {
            throw error("a place has no member '\(unknown.prefix(64))'", "\(unknown.prefix(64))")
        }
        var type = CoordinateType.wgs84
        if let value = given["coord_type"], value != .null {
            guard let known = value.stringValue.flatMap(CoordinateType.init) else {
                throw error(
                    "coord_type \(value.description.prefix(64)) must be wgs84, gcj02 or bd09ll", "coord_type")
            }
            type = known
        }
        return AssumedPlace(
            latitude: try degrees("latitude", -90...90), longitude: try degrees("longitude", -180...180),
            coordinateType: type)
    }
}

/// Which fences a call concerns. A fence must match all conditions.
package struct FenceSelection: Hashable, Sendable {
    /// Whose fences.
    package enum Source: String, Hashable, Sendable, CaseIterable {
        /// The vehicle's own.
        case local
        /// The server's.
        case server
    }

    package var source = Source.local
    package var fences: [Int64]?
    package var name: String?
    package var group: String?
    /// Watched by the fence. `DeleteFences`: by nobody else.
    package var entity: String?
    /// The name of the file from which it was imported, and of the layer.
    package var file: String?
    package var layer: String?
    /// Only greater numbers.
    package var after: Int64
    /// 1 to ``maximumCount``.
    package var limit: Int64

    package static let maximumCount: Int64 = 1000

    package init(
        fences: [Int64]? = nil, name: String? = nil, group: String? = nil, entity: String? = nil, file: String? = nil,
        layer: String? = nil, after: Int64 = 0, limit: Int64 = 100
    ) {
        self.fences = fences
        self.name = name
        self.group = group
        self.entity = entity
        self.file = file
        self.layer = layer
        self.after = after
        self.limit = limit
    }

    /// Every fence matches, but for its number.
    package var hasNoCondition: Bool {
        fences == nil && name == nil && group == nil && entity == nil && file == nil && layer == nil
    }
}

/// One part of an import: see docs/control.md.
package struct FenceImportPart: Hashable, Sendable {
    package var file: String
    package var layer: String?
    package var text: String
    /// The caller's name for an import in several parts.
    package var importID: String?
    /// From 0.
    package var part: Int64
    package var isLast: Bool

    package init(
        file: String, layer: String? = nil, text: String, importID: String? = nil, part: Int64 = 0, isLast: Bool = true
    ) {
        self.file = file
        self.layer = layer
        self.text = text
        self.importID = importID
        self.part = part
        self.isLast = isLast
    }
}

/// A place to ask about, as it was given.
package struct AssumedPlace: Hashable, Sendable {
    /// Degrees.
    package var latitude: Double
    package var longitude: Double
    package var coordinateType: CoordinateType

    package init(latitude: Double, longitude: Double, coordinateType: CoordinateType = .wgs84) {
        self.latitude = latitude
        self.longitude = longitude
        self.coordinateType = coordinateType
    }
}
