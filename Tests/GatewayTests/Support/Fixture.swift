import Ingest
import Logging
import NIOCore
import NIOSSL
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

/// A gateway on a port of the kernel's choice over a store in memory, with one service and its key.
struct Fixture {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)
    static let key = AccessKey("a key of the test")

    let store: any TrackStore
    let server: GatewayServer
    let ingest: IngestWriter
    let service: ServiceID
    let certificate: TestCertificate
    let port: Int

    /// Runs `body` against a started gateway, and stops it in the end.
    static func run(
        wrapping wrap: (any EngineStore) -> any TrackStore = { $0 },
        configure: (inout GatewayConfiguration) -> Void = { _ in },
        limits: (inout IngestLimits) -> Void = { _ in },
        callHandler: GatewayCallHandler? = nil,
        clock: @escaping @Sendable () -> Timestamp = { now },
        log: any LogHandler = SwiftLogNoOpLogHandler(),
        _ body: (Fixture) async throws -> Void
    ) async throws {
        let memory: any EngineStore = TestStore()
        let service = try await memory.createService(named: "test", at: now)
        try await memory.addKey(key.hash, secret: nil, to: service.id, replacing: false, at: now)

        let certificate = try TestCertificate()
        var configuration = GatewayConfiguration(
            host: "127.0.0.1", port: 0, identity: try certificate.server())
        // On a busy machine a login may take long. What ends in its time is for the tests that set one.
        configuration.deadlines.handshake = .seconds(120)
        configuration.deadlines.login = .seconds(120)
        configuration.deadlines.call = .seconds(120)
        configuration.deadlines.drain = .seconds(120)
        configuration.deadlines.close = .seconds(60)
        configuration.limits.devicePolicy = .service
        configure(&configuration)
        var bounds = IngestLimits()
        bounds.retries = [.zero, .zero]
        limits(&bounds)
        let store = wrap(memory)
        let quiet = Logger(label: "test") { _ in log }
        let ingest = IngestWriter(store: store, limits: bounds, logger: quiet)
        // Ends with the writer; a store that hangs keeps nobody waiting.
        let writing = Task { await ingest.run() }
        defer {
            ingest.finish()
            writing.cancel()
        }
        let server = GatewayServer(
            configuration: configuration, store: store, ingest: ingest, logger: quiet, now: clock,
            callHandler: callHandler)
        try await server.start()
        let fixture = Fixture(
            store: memory, server: server, ingest: ingest, service: service.id, certificate: certificate,
            port: server.localPort ?? 0)
        do {
            try await body(fixture)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    func connect() async throws -> TestAgent {
        try await TestAgent.connect(port: port, tls: try certificate.client())
    }

    /// A connected agent that has been welcomed.
    func login(stream: StreamID = .test, entity: String = "car") async throws -> TestAgent {
        let agent = try await connect()
        let answer = await agent.hello(hello(stream: stream, entity: entity))
        guard answer?.welcome != nil else { throw Unexpected(message: "\(answer as Any)") }
        return agent
    }

    func hello(stream: StreamID = .test, entity: String = "car") -> Hello {
        var hello = Hello()
        hello.protocol = 1
        hello.serviceID = service.rawValue
        hello.ak = Self.key.revealed
        hello.entity = entity
        hello.agentVersion = "test"
        hello.streamID = stream
        hello.firstSequence = 1
        hello.nextSequence = 1
        return hello
    }

    /// What a new session of the stream would be told; ends the present one.
    func storedThrough(of entity: String = "car") async throws -> UInt64 {
        try await store.openStream(.test, of: entity, in: service, at: Self.now).storedThrough
    }

    func storedTimes(of entity: String = "car") async throws -> [Int64] {
        try await store.points(
            of: entity, in: service, from: Timestamp(milliseconds: .min), through: Timestamp(milliseconds: .max),
            limit: 100_000
        ).map(\.point.fix.time.milliseconds)
    }
}

struct Unexpected: Error {
    var message: String
}

extension StreamID {
    static let test = StreamID(high: 7, low: 9)
}

/// Points whose times are the milliseconds given, after 2026.
func points(_ numbers: some Sequence<Int64>) -> [TrackPoint] {
    numbers.compactMap { number in
        Coordinate(latitudeE7: Int32(truncatingIfNeeded: number), longitudeE7: 1).map {
            TrackPoint(Fix(time: Timestamp(milliseconds: time(number)), coordinate: $0, speed: 100))
        }
    }
}

func time(_ number: Int64) -> Int64 { 1_790_000_000_000 + number * 1000 }

/// A batch whose points' times say their sequences.
func upload(_ sequences: ClosedRange<Int64>) -> Upload {
    Upload(BatchCodec.encode(points(sequences)), firstSequence: UInt64(sequences.lowerBound))
}
