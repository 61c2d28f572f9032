import Ingest
import Logging
import TrackModel
import TrackStore

/// One call of the API: a name, its documented method, and what it does.
struct Endpoint: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    let method: Method
    /// Whom it is about, for callers that may not ask about everyone.
    var subject: @Sendable (APICall) -> CallSubject = { _ in .wholeService }
    /// The members of the answer after `status` and `message`.
    let run: @Sendable (APICall) async throws(APIFailure) -> [JSON.Member]

    /// By `module/action`, all lower case.
    static let all: [String: Endpoint] = [
        "entity/add": Endpoint(method: .post, subject: \.namedEntity) { call throws(APIFailure) in
            try await call.addEntity()
        },
        "entity/addcolumn": Endpoint(method: .post) { call throws(APIFailure) in
            try await call.addColumn(.entity)
        },
        "entity/deletecolumn": Endpoint(method: .post) { call throws(APIFailure) in
            try await call.deleteColumn(.entity)
        },
        "entity/list": Endpoint(method: .get, subject: \.filteredEntities) { call throws(APIFailure) in
            try await call.listEntities()
        },
        "entity/listcolumn": Endpoint(method: .get) { call throws(APIFailure) in
            try await call.listColumns(.entity)
        },
        "entity/update": Endpoint(method: .post, subject: \.namedEntity) { call throws(APIFailure) in
            try await call.updateEntity()
        },
        "track/addcolumn": Endpoint(method: .post) { call throws(APIFailure) in
            try await call.addColumn(.track)
        },
        "track/addpoint": Endpoint(method: .post, subject: \.namedEntity) { call throws(APIFailure) in
            try await call.addPoint()
        },
        "track/addpoints": Endpoint(method: .post, subject: \.entitiesOfPointList) { call throws(APIFailure) in
            try await call.addPoints()
        },
        "track/deletecolumn": Endpoint(method: .post) { call throws(APIFailure) in
            try await call.deleteColumn(.track)
        },
        "track/getdistance": Endpoint(method: .get, subject: \.namedEntity) { call throws(APIFailure) in
            try await call.distance()
        },
        "track/getlatestpoint": Endpoint(method: .get, subject: \.namedEntity) { call throws(APIFailure) in
            try await call.latestPoint()
        },
        "track/gettrack": Endpoint(method: .get, subject: \.namedEntity) { call throws(APIFailure) in
            try await call.track()
        },
        "track/listcolumn": Endpoint(method: .get) { call throws(APIFailure) in
            try await call.listColumns(.track)
        },
    ]
}

/// One request that has been authenticated, with everything it may use.
struct APICall: Sendable {
    let caller: Caller
    let parameters: Parameters
    let store: any TrackStore
    let ingest: IngestWriter
    let options: WebAPIOptions
    let readings: TrackReadings
    let now: Timestamp
    let logger: Logger

    var clock: WallClock { WallClock(zoneMinutes: options.zoneMinutes) }

    /// The entity the call is about.
    func entityName() throws(APIFailure) -> String {
        guard let name = parameters["entity_name"] ?? caller.entity else {
            throw APIFailure(.parameter, "entity_name is required")
        }
        return name
    }

    /// The datum of the answer, and the custom columns that it shows.
    func pointJSON() async throws(APIFailure) -> PointJSON {
        let type = try outputType()
        return PointJSON(coordinateType: type, clock: clock, columns: try await columns(of: .track).types)
    }

    /// The service's columns.
    func columns(of kind: ColumnKind) async throws(APIFailure) -> [ColumnRecord] {
        do throws(TrackStoreError) {
            return try await store.columns(of: kind, in: caller.service)
        } catch {
            throw failure(error)
        }
    }

    /// Why points were not stored, as the API says it. The log has the store's reason.
    func failure(_ failure: IngestFailure) -> APIFailure {
        switch failure {
        case .unknownService: APIFailure(.unknownService)
        case .busy: APIFailure(.internalError, "the store cannot take points now: try again")
        case .failed: APIFailure(.internalError)
        }
    }

    private func outputType() throws(APIFailure) -> CoordinateType {
        guard let name = parameters["coord_type_output"] else { return .bd09ll }
        guard let type = CoordinateType(rawValue: Parameters.trimmed(name).lowercased()) else {
            throw APIFailure(.parameter, "coord_type_output must be wgs84, gcj02 or bd09ll")
        }
        return type
    }

    /// The store's failure as the API says it; what an operator must know is logged.
    func failure(_ error: TrackStoreError) -> APIFailure {
        switch error.code {
        case .unknownService: return APIFailure(.unknownService)
        case .entityExists: return APIFailure(.entityExists)
        case .unknownEntity: return APIFailure(.noEntity)
        case .columnExists: return APIFailure(.trackColumnExists)
        case .unknownColumn: return APIFailure(.noEntityColumn)
        case .tooManyColumns: return APIFailure(.tooManyTrackColumns)
        case .tooManyPoints: return APIFailure(.tooManyPointsInRange)
        case .newerSchema, .full, .busy, .corrupt, .failed:
            logger.error("The store failed a request", metadata: ["reason": "\(error.detail)"])
            return APIFailure(.internalError)
        }
    }
}
