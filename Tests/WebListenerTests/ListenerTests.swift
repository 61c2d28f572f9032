import Foundation
import Logging
import NIOCore
import NIOPosix
import ServerIdentity
import ServiceLifecycle
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import WebAPI

@testable import WebListener

private let accessKey = "demo-ak"

/// The API of service 1, which one key opens and which has no entity.
private func router(_ logger: Logger) async throws -> (router: APIRouter, ingest: RunningIngest) {
    let (store, now) = (ReferenceTrackStore(), Timestamp(seconds: 1_772_677_900))
    let service = try await store.createService(named: "demo", at: now).id
    try await store.addKey(AccessKey(accessKey).hash, secret: nil, to: service, replacing: false, at: now)
    let ingest = RunningIngest(store)
    let router = APIRouter(
        store: store, ingest: ingest.writer, options: WebAPIOptions(), logger: logger, now: { now })
    return (router, ingest)
}

/// A listener on a port of the kernel's choice.
private func withListener(
    limits: WebListener.Limits = WebListener.Limits(), identity: ServerIdentity? = nil,
    _ body: @Sendable (Int) async throws -> Void
) async throws {
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let (router, ingest) = try await router(logger)
    defer { withExtendedLifetime(ingest) {} }
    let listener = WebListener(
        router: router, host: "127.0.0.1", port: 0, identity: identity, limits: limits,
        group: MultiThreadedEventLoopGroup.singleton, logger: logger, onBound: { continuation.yield($0) })
    let services = ServiceGroup(services: [listener], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await services.run() }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        do {
            try await body(port)
        } catch {
            await services.triggerGracefulShutdown()
            throw error
        }
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
    }
}

@Suite("The listener", .serialized, .timeLimit(.minutes(5)))
struct ListenerTests {
    @Test func curlUploadsAndReadsOverHTTP() async throws {
        try await withListener { port in
            let base = "http://127.0.0.1:\(port)/api/v3"
            let point = "entity_name=van_07&latitude=39.9&longitude=116.4&loc_time=1772677800&coord_type_input=wgs84"
            let added = try await curl("-d", "ak=\(accessKey)&service_id=1&\(point)", "\(base)/track/addpoint")
            #expect(added == "{\"status\":0,\"message\":\"成功\"}")
            let form = ["-F", "ak=\(accessKey)", "-F", "service_id=1", "-F", "entity_name=bus", "\(base)/entity/add"]
            #expect(try await curl(form) == "{\"status\":0,\"message\":\"成功\"}")
            let query = "ak=\(accessKey)&service_id=1&entity_name=van_07&coord_type_output=wgs84"
            let latest = try await curl("\(base)/track/getlatestpoint?\(query)")
            #expect(latest.contains("\"longitude\":116.4,\"latitude\":39.9"))
            // As a client whose host is a constant sends it through a proxy.
            let proxied = try await curl(
                "-x", "http://127.0.0.1:\(port)", "http://yingyan.baidu.com/api/v3/track/getlatestpoint?\(query)")
            #expect(proxied == latest)
            let head = try await curl("-I", "\(base)/entity/list?ak=\(accessKey)&service_id=1")
            #expect(head.hasPrefix("HTTP/1.1 200 OK"))
            #expect(try await curl("-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(port)/") == "404")
        }
    }

    @Test func curlReadsOverHTTPSAndSeesANewCertificateAfterAReload() async throws {
        let directory = try TemporaryDirectory()
        let (first, second) = (try TestCertificate("first"), try TestCertificate("second"))
        let (certificate, key) = (directory.path + "/cert.pem", directory.path + "/key.pem")
        let (firstFile, secondFile) = (directory.path + "/first.pem", directory.path + "/second.pem")
        try first.certificate.write(toFile: firstFile, atomically: true, encoding: .utf8)
        try second.certificate.write(toFile: secondFile, atomically: true, encoding: .utf8)
        try first.certificate.write(toFile: certificate, atomically: true, encoding: .utf8)
        try first.key.write(toFile: key, atomically: true, encoding: .utf8)
        let identity = try ServerIdentity(
            files: .init(certificateChain: certificate, key: key), minimumTLS: .v12,
            applicationProtocols: WebListener.applicationProtocols)
        try await withListener(identity: identity) { port in
            let url = "https://localhost:\(port)/api/v3/entity/list?ak=\(accessKey)&service_id=1"
            #expect(try await curl("--cacert", firstFile, url).hasPrefix("{\"status\":3003"))
            try second.certificate.write(toFile: certificate, atomically: true, encoding: .utf8)
            // Certificate and key do not belong together yet: the old ones stay in use.
            #expect(throws: ServerIdentityError.self) { try identity.reload() }
            #expect(try await curl("--cacert", firstFile, url).hasPrefix("{\"status\":3003"))
            try second.key.write(toFile: key, atomically: true, encoding: .utf8)
            try identity.reload()
            #expect(try await curl("--cacert", secondFile, url).hasPrefix("{\"status\":3003"))
            // By its address too, where a client sends no server name.
            let address = url.replacingOccurrences(of: "localhost", with: "127.0.0.1")
            #expect(try await curl("--cacert", secondFile, address).hasPrefix("{\"status\":3003"))
            #expect(try await curl("--cacert", firstFile, "-w", "%{ssl_verify_result}", url) == "18")
        }
    }

    @Test func aClientThatDripsItsRequestIsCutOff() async throws {
        try await withListener(limits: WebListener.Limits(timeout: 1)) { port in
            let client = try await RawClient(port: port)
            client.drip("GET /api/v3/entity/list HTTP/1.1\r\nX-A: ", every: .milliseconds(50))
            let began = ContinuousClock.now
            _ = try await client.untilClosed()
            let took = ContinuousClock.now - began
            #expect(took > .milliseconds(500) && took < .seconds(10))
        }
    }

    @Test func aClientThatSaysNothingAfterItsAnswerIsCutOff() async throws {
        try await withListener(limits: WebListener.Limits(timeout: 1)) { port in
            let client = try await RawClient(port: port)
            client.send("GET /api/v3/entity/list HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await client.untilClosed().contains("\"status\":101"))
        }
    }

    @Test func tooManyHeadersAndBadRequestsAreRefusedAndClosed() async throws {
        try await withListener(limits: WebListener.Limits(maximumHeaderBytes: 4096)) { port in
            for text in [
                "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 100_000) + "\r\n\r\n",
                "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 1000) + "\r\n", "\u{1}\u{2}\r\n\r\n",
                "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            ] {
                let client = try await RawClient(port: port)
                client.send(text)
                let answer = try await client.untilClosed()
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
            }
        }
    }

    @Test func aBodyOverTheLimitIsAnAnswerNotACut() async throws {
        try await withListener { port in
            let client = try await RawClient(port: port)
            client.send("POST /api/v3/track/addpoints HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n")
            client.send(String(repeating: "a", count: 9_000_000))
            try await client.untilReceived("\"status\":10,")
            #expect(client.received.hasPrefix("HTTP/1.1 200 OK"))
            // The connection is still good for another request.
            client.send("GET /api/v3/entity/list HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.untilReceived("\"status\":101,")
        }
    }

    @Test func aConnectionOverTheLimitWaitsForItsTurn() async throws {
        try await withListener(limits: WebListener.Limits(timeout: 60, maximumConnections: 1)) { port in
            let first = try await RawClient(port: port)
            first.send("GET /api/v3/entity/list HTTP/1.1\r\nHost: x\r\n\r\n")
            try await first.untilReceived("\"status\":101")
            let second = try await RawClient(port: port)
            second.send("GET /api/v3/entity/list HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            // While the listener answers the first once more, it could have taken the second.
            first.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
            try await first.untilReceived("404")
            #expect(second.received.isEmpty)
            first.close()
            #expect(try await second.untilClosed().contains("\"status\":101"))
        }
    }
}
