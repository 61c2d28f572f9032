import Ingest
import JSON
import Logging
import RoadMatching
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
        store: any TrackStore = TestStore(), limits: IngestLimits = IngestLimits(),
        clock: ClockRule = ClockRule(made: Timestamp(milliseconds: .min)),
        log: any LogHandler = SwiftLogNoOpLogHandler(),
        checkCallback: @escaping CallbackChecking = { _, _ in nil }, roads: (any Roads)? = nil
    ) async throws {
        self.store = store
        running = RunningIngest(store, limits: limits, clock: clock)
        service = try await store.createService(named: "demo", at: Self.now).id
        try await store.addKey(AccessKey(Self.key).hash, secret: secret, to: service, replacing: false, at: Self.now)
        router = APIRouter(
            store: store, ingest: running.writer, options: options,
            logger: Logger(label: "test") { _ in log }, checkCallback: checkCallback, roads: roads, now: { Self.now })
    }

    /// `ak` and `service_id` are added.
    func get(_ path: String, _ query: String = "") async throws -> JSONValue { try Self.value(await text(path, query)) }

    /// The answer as it is sent.
    func text(_ path: String, _ query: String = "") async -> String {
        let query = "ak=\(Self.key)&service_id=\(service.rawValue)" + (query.isEmpty ? "" : "&\(query)")
        return await text(APIRequest(method: "GET", target: "/api/v3/\(path)?\(query)"))
    }

    func post(_ path: String, _ body: String) async throws -> JSONValue {
        let body = "ak=\(Self.key)&service_id=\(service.rawValue)&\(body)"
        return try await send(
            APIRequest(
                method: "POST", target: "/api/v3/\(path)", contentType: "application/x-www-form-urlencoded",
                body: Array(body.utf8)))
    }

    func send(_ request: APIRequest) async throws -> JSONValue { try Self.value(await text(request)) }

    private func text(_ request: APIRequest) async -> String {
        String(decoding: await router.respond(to: request).body, as: UTF8.self)
    }

    private static func value(_ text: String) throws -> JSONValue {
        #expect(text.firstMatch(of: /^{"status":\d+,"message":"/) != nil, "\(text)")
        return try JSONReader.value(of: Array(text.utf8), .requests)
    }

    func upload(_ entity: String, _ points: [TrackPoint]) async throws {
        let outcome = await store.ingest([
            IngestBatch(
                service: service, entity: entity, position: nil, points: points, sequences: [], payload: nil,
                received: Self.now)
        ])
        try #require(outcome.map(\.withoutVersion) == [.stored(through: 0)])
    }
}

extension JSONValue {
    var status: Int64? { self["status"]?.integerValue }
    var items: [JSONValue] { arrayValue ?? [] }
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
