internal import AgentControl
internal import FenceJSON
internal import Geodesy
internal import Geofencing
internal import JSON
internal import LocalFences
internal import TrackModel

/// Fences in the words of the control interface.
enum FenceForms {
    /// The most bytes and values of JSON in one page of fences. A message has at most 1 MiB and 65,536 values.
    private static let pageBytes = 512 * 1024
    private static let pageValues = 40_000

    /// Reads a definition. `shape`: the shape when it has none.
    static func definition(
        _ value: JSONValue, shape: ShapeDraft? = nil, in method: AgentMethod
    ) throws(AgentControlError) -> FenceDefinition {
        do throws(FenceJSONError) {
            return try FenceDefinition(json: value, shape: shape)
        } catch {
            throw AgentControlError(.parameterError, in: method, reason: "\(error)", parameter: "fence")
        }
    }

    static func filter(_ selection: FenceSelection) -> FenceFilter {
        var filter = FenceFilter()
        filter.fences = selection.fences.map { Set($0.map { Int32(clamping: $0) }) }
        (filter.name, filter.group, filter.entity) = (selection.name, selection.group, selection.entity)
        (filter.file, filter.layer) = (selection.file, selection.layer)
        (filter.after, filter.limit) = (Int32(clamping: selection.after), Int(clamping: selection.limit))
        return filter
    }

    /// Every fence that matches, whatever the limit is.
    static func all(_ selection: FenceSelection, of machine: FenceMachine) -> [LocalFence] {
        var filter = filter(selection)
        (filter.after, filter.limit) = (0, .max)
        return machine.list(filter).fences
    }

    static func page(_ selection: FenceSelection, of machine: FenceMachine) -> FencesReply {
        let (found, isCut) = machine.list(filter(selection))
        return page(isCut: isCut, found) { fence in
            report(of: fence.fence, vertices: fence.vertexCount, trouble: machine.trouble(of: fence))
        }
    }

    static func page(_ selection: FenceSelection, of machine: ServerFenceMachine) -> FencesReply {
        let (found, isCut) = machine.list(filter(selection))
        return page(isCut: isCut, found) { fence in
            report(of: fence.fence, vertices: fence.vertexCount, trouble: machine.notJudged[fence.fence.id])
        }
    }

    private static func page<Kept>(
        isCut: Bool, _ found: [Kept], _ report: (Kept) -> LocalFenceReport
    ) -> FencesReply {
        var reply = FencesReply(fences: [], more: isCut)
        var (bytes, values) = (0, 0)
        for fence in found {
            let report = report(fence)
            bytes += report.fence.serialized().count
            values += count(report.fence)
            guard reply.fences.isEmpty || (bytes <= pageBytes && values <= pageValues) else {
                reply.more = true
                break
            }
            reply.fences.append(report)
        }
        return reply
    }

    private static func report(of fence: Fence, vertices: Int, trouble: String?) -> LocalFenceReport {
        let isSmall = vertices <= LocalFenceReport.mostVertices
        return LocalFenceReport(
            id: Int64(fence.id), revision: Int64(fence.revision), created: fence.created.milliseconds,
            modified: fence.modified.milliseconds, vertices: Int64(vertices), trouble: trouble,
            fence: isSmall ? fence.definition.json : .object(fence.definition.rules))
    }

    /// Values of JSON, arrays and objects included.
    private static func count(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): elements.reduce(1) { $0 + count($1) }
        case .object(let members): members.values.reduce(1) { $0 + count($1) }
        default: 1
        }
    }

    /// - Throws: for degrees that are no place.
    static func coordinate(of place: AssumedPlace) throws(AgentControlError) -> Coordinate {
        let degrees = DatumConversion.wgs84(
            Degrees(latitude: place.latitude, longitude: place.longitude), givenAs: place.coordinateType.datum
        ).place
        guard let coordinate = Coordinate(latitude: degrees.latitude, longitude: degrees.longitude) else {
            throw AgentControlError(
                .parameterError, in: .getFenceStatus,
                reason:
                    "latitude \(place.latitude), longitude \(place.longitude) is no place on earth: check coord_type",
                parameter: "place")
        }
        return coordinate
    }

    /// Where an entity is with regard to one fence.
    static func report(_ status: LocalFenceStatus) -> FenceStatusReport {
        let place: FenceStatusReport.Place =
            switch status.status.place {
            case .in: .inside
            case .out: .outside
            case .unknown: .unknown
            }
        return FenceStatusReport(
            fenceID: Int64(status.fence), name: status.name, status: place,
            since: status.status.since?.milliseconds,
            distance: status.status.signedDistance.map { ($0 * 1000).rounded() / 1000 },
            time: status.status.time?.milliseconds)
    }
}

extension AgentControlError {
    init(_ refusal: FenceRefusal, in method: AgentMethod) {
        let code: Code
        var parameter: String?
        switch refusal.reason {
        case .unknownFence: (code, parameter) = (.fenceNotFound, method == .updateFence ? "fence_id" : "fences")
        case .definition: (code, parameter) = (.parameterError, method == .importFences ? "text" : "fence")
        case .text: (code, parameter) = (.parameterError, method == .exportFences ? "position" : "text")
        case .tooMany: code = .tooManyFences
        case .unreadable: code = .internalError
        }
        self.init(code, in: method, reason: refusal.description, parameter: parameter)
    }
}
