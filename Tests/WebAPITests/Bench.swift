import Ingest
import Logging
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

/// A service with one key, an empty store, and a clock that stands still: what a client sees of it.
struct Bench: Sendable {
    static let key = "demo-ak"
    /// 2026-03-05 10:31:40 in Beijing.
    static let now = Timestamp(seconds: 1_772_677_900)

    let store: any TrackStore
    let service: ServiceID
    let router: APIRouter
    private let running: RunningIngest
    var ingest: IngestWriter { running.writer }

    init(
        _ options: WebAPIOptions = WebAPIOptions(), secret: String? = nil,
        store: any TrackStore = ReferenceTrackStore(), limits: IngestLimits = IngestLimits()
    ) async throws {
        self.store = store
        running = RunningIngest(store, limits: limits)
        service = try await store.createService(named: "demo", at: Self.now).id
        try await store.addKey(AccessKey(Self.key).hash, secret: secret, to: service, replacing: false, at: Self.now)
        router = APIRouter(
            store: store, ingest: running.writer, options: options,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: { Self.now })
    }

    /// `ak` and `service_id` are added.
    func get(_ path: String, _ query: String = "") async throws -> JSON {
        let query = "ak=\(Self.key)&service_id=\(service.rawValue)" + (query.isEmpty ? "" : "&\(query)")
        return try await send(APIRequest(method: "GET", target: "/api/v3/\(path)?\(query)"))
    }

    func post(_ path: String, _ body: String) async throws -> JSON {
        let body = "ak=\(Self.key)&service_id=\(service.rawValue)&\(body)"
        return try await send(
            APIRequest(
                method: "POST", target: "/api/v3/\(path)", contentType: "application/x-www-form-urlencoded",
                body: Array(body.utf8)))
    }

    func send(_ request: APIRequest) async throws -> JSON {
        let response = await router.respond(to: request)
        let answer = try JSONReader.read(response.body)
        guard case .object(let members) = answer else {
            Issue.record("the answer is no object")
            return answer
        }
        #expect(members.prefix(2).map(\.name) == ["status", "message"])
        return answer
    }

    func upload(_ entity: String, _ points: [TrackPoint]) async throws {
        let outcome = try await store.ingest([
            IngestBatch(
                service: service, entity: entity, position: nil, points: points, sequences: [], payload: nil,
                received: Self.now)
        ])
        try #require(outcome == [.stored(through: 0)])
    }
}

extension JSON {
    var status: Int64? {
        if case .integer(let value) = self["status"] { value } else { nil }
    }

    var text: String? {
        if case .string(let value) = self { value } else { nil }
    }

    var items: [JSON] {
        if case .array(let items) = self { items } else { [] }
    }

    var names: [String] {
        if case .object(let members) = self { members.map(\.name) } else { [] }
    }

    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
}

func point(
    _ seconds: Int64, _ latitude: Double, _ longitude: Double, type: CoordinateType = .wgs84, speed: Int32? = nil,
    accuracy: Int32? = nil
) throws -> TrackPoint {
    let coordinate = try #require(Coordinate(latitude: latitude, longitude: longitude))
    return TrackPoint(
        Fix(time: Timestamp(seconds: seconds), coordinate: coordinate, speed: speed, accuracy: accuracy),
        coordinateType: type)
}
