import Ingest
import Logging
import RoadMatching
import Systemd
import TrackModel
import TrackStore

/// One authenticated request, with everything that an endpoint may use except the store.
struct APICall: Sendable {
    /// Of the endpoint, as in `track/gettrack`.
    let path: String
    let caller: Caller
    /// The parameters that the endpoint takes.
    let parameters: Parameters
    /// Where uploaded points go.
    let ingest: IngestWriter
    let options: WebAPIOptions
    let pages: PageCache
    let tracks: TrackReadCache
    let districts: DistrictCache
    let checkCallback: CallbackChecking
    /// Nil when the operator has no road engine.
    let roads: (any Roads)?
    let changes: ChangeLimiter
    let now: Timestamp
    /// Where the client's links to this server begin; nil: with a path.
    let origin: String?
    let log: RequestLog
    let counters: APICounters

    var service: ServiceID { caller.service }

    var clock: WallClock { WallClock(zoneMinutes: options.zoneMinutes) }

    /// The entity that the call is about.
    func entityName() throws(APIFailure) -> String {
        guard let name = parameters["entity_name"] ?? caller.entity else {
            throw APIFailure(.parameter, "entity_name is required")
        }
        return name
    }

    /// Writes points in the datum that the client asked for, with the service's columns.
    func pointWriter(_ store: any ColumnStore) async throws -> PointWriter {
        let type = try outputType()
        return PointWriter(
            coordinateType: type, clock: clock, schema: try await store.columns(of: .track, in: service).schema)
    }

    /// Writes times and places of points in the datum that the client asked for.
    func positionWriter() throws(APIFailure) -> PointWriter {
        PointWriter(coordinateType: try outputType(), clock: clock, schema: AttributeSchema())
    }

    /// The datum that the client asked for.
    func outputType() throws(APIFailure) -> CoordinateType {
        guard let name = parameters["coord_type_output"] else { return .bd09ll }
        guard let type = CoordinateType(parsing: name) else {
            throw APIFailure(.parameter, "coord_type_output must be wgs84, gcj02 or bd09ll")
        }
        return type
    }

    /// Checks the name of something. `former`: what it has been; it may stay.
    func checkName(
        _ name: String, _ parameter: String, maximumBytes: Int, former: String? = nil
    ) throws(APIFailure) {
        if let problem = ParameterLengths.problem(with: name, of: parameter, most: maximumBytes) {
            throw APIFailure(.parameter, problem)
        }
        guard former.map({ !$0.utf8.elementsEqual(name.utf8) }) ?? true else { return }
        if let problem = NameRules.problem(with: name, parameter) { throw APIFailure(.parameter, problem) }
    }

    /// Checks a text that is for people: whatever shows it shows it safely.
    func checkText(_ text: String, _ name: String, maximumBytes: Int) throws(APIFailure) {
        if let problem = ParameterLengths.problem(with: text, of: name, most: maximumBytes) {
            throw APIFailure(.parameter, problem)
        }
        guard !text.unicodeScalars.contains(where: \.isControl) else {
            throw APIFailure(
                .parameter,
                "\(name) must not hold control or direction characters, such as a line break: leave them out")
        }
    }

    /// Logs what is gone, and who asked for it.
    func noteRemoval(_ event: String, of what: String, _ count: Int = 1) {
        log.write(
            .notice, "\(event)", of: service,
            ["by": "\(caller.logName)", "removed": "\(what)", "count": "\(count)"], isCertain: true)
    }

    /// Counts and logs a reading that met points which the store cannot read.
    func note(_ holes: [TrackHole]) {
        guard let first = holes.first else { return }
        counters.metHoles()
        log.write(
            .error, "stored points cannot be read: the answer leaves them out", of: service,
            [
                "reason": "\(first.reason)", "chunks": "\(holes.count)", "call": "\(path)",
                "service": "\(service.rawValue)",
                "message_id": "\(MessageID.pointsUnreadable)",
            ])
    }

    /// Logs that fences are missing in an answer, because the store cannot read them.
    func note(_ unreadable: [String]) {
        guard let first = unreadable.first else { return }
        log.write(
            .error, "stored fences cannot be read: the answer leaves them out", of: service,
            ["reason": "\(first)", "fences": "\(unreadable.count)", "call": "\(path)"])
    }

    /// Does the work of a call. Tracks of any length take much memory, so one of them is worked on at a time, and those who ask
    /// for them have turns.
    func inTurn<Value>(_ work: () async throws -> Value) async throws -> Value {
        guard parameters[TrackRange.long] != nil, try parameters.flag(TrackRange.long) else { return try await work() }
        let owner = WorkOwner.current
        await tracks.long.enter(owner)
        defer { tracks.long.leave(owner) }
        return try await work()
    }

    /// The API's failure for an error of the store, of the room Ingest or of the endpoint itself.
    func failure(_ error: any Error) -> APIFailure { APIFailure(error, of: path, in: service, log: log) }
}

/// Whose data a request reads or changes, as far as its parameters say.
enum CallSubject: Hashable, Sendable {
    /// These, and no others.
    case entities([String])
    case wholeService
    /// Fences that the asking vehicle did not make; one of them, and how many there are.
    case fencesOfOthers(first: Int32, count: Int)
}

extension APICall {
    /// Of a request with `entity_name`. Nobody when it is missing: then the request fails for that.
    var namedEntity: CallSubject { .entities([parameters["entity_name"] ?? caller.entity].compactMap(\.self)) }
}

extension DevicePolicy {
    /// Nil when a session of `entity` may ask about `subject`; otherwise a sentence that says what to do.
    func problem(with subject: CallSubject, by entity: String) -> String? {
        switch subject {
        case .entities(let names): problem(naming: names, by: entity)
        case .wholeService: problemWithWholeService(by: entity)
        case .fencesOfOthers(let first, let count): problemWithFences(first: first, count: count, by: entity)
        }
    }
}

/// Whose data a request may be about. The key of the request decides it, or the session that the request came through.
struct Caller: Sendable {
    let service: ServiceID
    /// The entity of the session; it stands in for a missing `entity_name`.
    var entity: String?
    /// What a session may do; nil: a key made the request.
    var policy: DevicePolicy?

    /// The vehicle that may change only what it made; nil for whoever acts for the operator.
    var limitedVehicle: String? { policy == .entity ? entity : nil }

    /// For the log.
    var logName: String { entity.map { "vehicle \($0)" } ?? "an access key" }
}
