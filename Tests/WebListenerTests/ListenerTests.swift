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

let accessKey = "demo-ak"

/// The API of service 1, which one key opens and which has no entity.
private func router(_ logger: Logger, _ counters: APICounters, _ store: any TrackStore) async throws -> (
    router: APIRouter, ingest: RunningIngest
) {
    let now = Timestamp(seconds: 1_772_677_900)
    let service = try await store.createService(named: "demo", at: now).id
    try await store.addKey(AccessKey(accessKey).hash, secret: nil, to: service, replacing: false, at: now)
    let ingest = RunningIngest(store)
    let router = APIRouter(
        store: store, ingest: ingest.writer, options: WebAPIOptions(), logger: logger, counters: counters, now: { now })
    return (router, ingest)
}

/// A listener on a port of the kernel's choice.
func withListener(
    limits: WebListener.Limits = WebListener.Limits(timeout: 120), identity: ServerIdentity? = nil,
    memory: RequestMemoryLimit = RequestMemoryLimit(), counters: WebCounters = WebCounters(),
    api: APICounters = APICounters(),
    store: any TrackStore = TestStore(), files: String = "/nowhere",
    _ body: @Sendable (Int) async throws -> Void
) async throws {
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let (router, ingest) = try await router(logger, api, store)
    defer { withExtendedLifetime(ingest) {} }
    let listener = WebListener(
        router: router, files: { "\(files)/\($0).zip" }, host: "127.0.0.1", port: 0, identity: identity, limits: limits,
        memory: memory,
        counters: counters, group: MultiThreadedEventLoopGroup.singleton, logger: logger,
        onBound: { continuation.yield($0) })
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

    /// Through a proxy as without one: a | that is not encoded changes nothing of what is.
    @Test func anAddressWithAHostMeansWhatItMeansWithoutOne() async throws {
        try await withListener { port in
            let account = "ak=\(accessKey)&service_id=1"
            let name = "%E4%BA%ACA"
            _ = try await curl("-d", "\(account)&entity_name=\(name)", "http://127.0.0.1:\(port)/api/v3/entity/add")
            let list = "/api/v3/entity/list?\(account)&filter=entity_names:\(name)|inactive_time:1"
            for arguments in [
                ["http://127.0.0.1:\(port)\(list)"],
                ["-x", "http://127.0.0.1:\(port)", "http://yingyan.baidu.com\(list)"],
            ] {
                let answer = try await curl(arguments)
                #expect(answer.contains("\"total\":1,"), "\(answer)")
            }
        }
    }

    /// As programs in PHP and Go do, which put an address together without encoding it. Both requests are on one connection,
    /// and the second comes with a body.
    @Test func aQueryMayHaveTextThatIsNotEncoded() async throws {
        try await withListener { port in
            let client = try await RawClient(port: port)
            let account = "ak=\(accessKey)&service_id=1"
            client.send("GET /api/v3/entity/add?\(account)&entity_name=京A HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.untilReceived("\"status\":0")
            let body = "entity_desc=蓝色"
            client.send(
                "POST /api/v3/entity/update?\(account)&entity_name=京A HTTP/1.1\r\nHost: x\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n")
            client.send(body)
            try await client.untilReceived("\"status\":0", times: 2)
            let list = "/api/v3/entity/list?\(account)&filter=entity_names:京A"
            client.send("GET \(list) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let answers = try await client.untilClosed()
            #expect(answers.contains("\"entity_name\":\"京A\",\"entity_desc\":\"蓝色\""), "\(answers)")
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

    @Test func curlFetchesAFileAndGoesOnWithHalfOfIt() async throws {
        let (directory, store): (TemporaryDirectory, any TrackStore) = (try TemporaryDirectory(), TestStore())
        let (token, now) = (String(repeating: "a", count: 32), Timestamp(seconds: 1_772_677_900))
        let letters = (0..<300_000).map { index in UInt8(97 + index * 7 / 3 % 26) }
        let content = String(decoding: letters, as: UTF8.self)
        let copy = directory.path + "/copy"
        try content.write(toFile: "\(directory.path)/\(token).zip", atomically: true, encoding: .utf8)
        try await withListener(store: store, files: directory.path) { port in
            let service = try #require(ServiceID(rawValue: 1))
            let order = ExportOrder(from: now, through: now, coordinateType: .wgs84)
            let job = try await store.addExport(order, token: token, in: service, at: now)
            _ = try await store.claimExport(by: 1, at: now, through: now)
            let result = ExportResult(points: 1, bytes: Int64(content.utf8.count))
            _ = try await store.settleExport(job.number, by: 1, result, at: now)
            let base = "http://127.0.0.1:\(port)"
            let list = try await curl("\(base)/api/v3/export/getjob?ak=\(accessKey)&service_id=1")
            #expect(list.contains("\"file_url\":\"\(base)/export/\(token)/1_1.zip\""))
            let url = "\(base)/export/\(token)/1_1.zip?ak=\(accessKey)"
            // More than a pipe holds that is read when curl has ended.
            #expect(try await curl("-o", copy, "-w", "%{http_code}", url) == "200")
            #expect(try String(contentsOfFile: copy, encoding: .utf8) == content)
            #expect(try await curl("-r", "299990-", url) == content.suffix(10))
            #expect(try await curl("-r", "0-9", url) == content.prefix(10))
            #expect(try await curl("-r", "-7", url) == content.suffix(7))
            let beyond = try await curl("-i", "-r", "300000-", url)
            #expect(beyond.hasPrefix("HTTP/1.1 416") && beyond.lowercased().contains("content-range: bytes */300000"))
            let head = try await curl("-I", url).lowercased()
            #expect(head.contains("content-length: 300000") && head.contains("accept-ranges: bytes"))
            #expect(try await curl("-o", "/dev/null", "-w", "%{http_code}", "\(base)/export/\(token)/1_1.zip") == "403")
        }
    }

    @Test func aRangeThatIsNoneMeansTheWholeFile() {
        for header in [
            nil, "", "bytes", "bytes=", "bytes=-", "bytes=-0", "bytes=5-4", "bytes=x-", "lines=1-2", "bytes=0-1,3-4",
        ] {
            #expect(WebListener.range(header, last: 9) == .all, "\(header ?? "none")")
        }
        #expect(WebListener.range("bytes=0-99", last: 9) == .part(0...9))
        #expect(WebListener.range("bytes=-99", last: 9) == .part(0...9))
        #expect(WebListener.range("bytes=10-", last: 9) == .beyond)
        #expect(WebListener.range("bytes=0-", last: -1) == .all, "an empty file")
    }

    @Test func aClientThatDripsItsRequestIsCutOff() async throws {
        try await withListener(limits: WebListener.Limits(timeout: 1)) { port in
            let began = ContinuousClock.now
            let client = try await RawClient(port: port)
            client.drip("GET /api/v3/entity/list HTTP/1.1\r\nX-A: ", every: .milliseconds(50))
            // The drops never end: were they counted, the connection would not either.
            _ = try await client.untilClosed()
            #expect(ContinuousClock.now - began > .milliseconds(500))
        }
    }

    @Test func aClientThatSaysNothingAfterItsAnswerIsCutOff() async throws {
        try await withListener(limits: WebListener.Limits(timeout: 3)) { port in
            let client = try await RawClient(port: port, saying: "GET /api/v3/entity/list HTTP/1.1\r\nHost: x\r\n\r\n")
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

    @Test func theOldestSilentConnectionGoesForTheNewest() async throws {
        let counters = WebCounters()
        try await withListener(limits: WebListener.Limits(timeout: 60, maximumConnections: 2), counters: counters) {
            port in
            var holders: [RawClient] = []
            // One after the other: only an answer says that the listener knows of a connection.
            for _ in 0..<2 {
                let holder = try await RawClient(port: port)
                holder.send("GET /api/v3/entity/list HTTP/1.1\r\nHost: x\r\n\r\n")
                try await holder.untilReceived("\"status\":101")
                holders.append(holder)
            }
            let second = try await RawClient(port: port)
            second.send("GET /api/v3/entity/list HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(try await second.untilClosed().contains("\"status\":101"))
            _ = try await holders[0].untilClosed()
            holders[1].send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
            try await holders[1].untilReceived("404")
            #expect(counters.ended.first { $0.reason == "replaced" }?.count == 1)
        }
    }

    @Test func aConnectionWithAKeyIsNobodysPlace() async throws {
        try await withListener(limits: WebListener.Limits(timeout: 60, connectionsPerAddress: 2)) { port in
            let known = try await RawClient(port: port)
            let request = "GET /api/v3/entity/list?ak=\(accessKey)&service_id=1 HTTP/1.1\r\nHost: x\r\n\r\n"
            known.send(request)
            try await known.untilReceived("\"status\":3003")
            let earlier = try await RawClient(port: port)
            earlier.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
            try await earlier.untilReceived("404")
            let later = try await RawClient(port: port)
            _ = try await earlier.untilClosed()
            known.send(request.replacing("list", with: "nothing"))
            try await known.untilReceived("\"status\":260")
            later.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
            try await later.untilReceived("404")
        }
    }

    @Test func aClientThatSendsRequestsAndTakesNoAnswerIsCutOff() async throws {
        let counters = WebCounters()
        try await withListener(limits: WebListener.Limits(timeout: 1), counters: counters) { port in
            let client = try await RawClient(port: port, reads: false)
            // More answers than the kernel takes in, and no more requests ahead than are allowed.
            for _ in 0..<2000 { client.send(String(repeating: "GET /api/v3/entity/list HTTP/1.1\r\n\r\n", count: 8)) }
            try await withDeadline {
                while counters.open > 0 || counters.ended.allSatisfy({ $0.count == 0 }) {
                    try await pause()
                }
            }
            client.close()
        }
    }

    @Test func moreRequestsAheadThanAllowedEndTheConnection() async throws {
        let counters = WebCounters()
        try await withListener(counters: counters) { port in
            let client = try await RawClient(port: port)
            client.send(String(repeating: "GET /api/v3/entity/list HTTP/1.1\r\n\r\n", count: 300))
            _ = try await client.untilClosed()
            #expect(counters.ended.first { $0.reason == "pipelining" }?.count == 1)
        }
    }

    @Test func bodiesWithoutAKeyShareABudgetAndTheLargestGoes() async throws {
        let memory = RequestMemoryLimit(RequestMemoryLimit.Limits(bytesWithoutKey: 2 << 20, bytesWithKey: 64 << 20))
        try await withListener(memory: memory) { port in
            func begin(_ bytes: Int, query: String = "") async throws -> RawClient {
                let client = try await RawClient(port: port)
                let head = "POST /api/v3/entity/add\(query) HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n"
                client.send(head + String(repeating: "a", count: bytes))
                return client
            }
            func untilHeld(_ bytes: Int) async throws {
                try await withDeadline {
                    while memory.bytes < bytes { try await pause() }
                }
            }
            let small = try await begin(100_000)
            let large = try await begin(1_200_000)
            try await untilHeld(1_300_000)
            // With a key its bytes count elsewhere.
            let known = try await begin(3_000_000, query: "?ak=\(accessKey)&service_id=1")
            try await untilHeld(4_300_000)
            let third = try await begin(1_000_000)
            #expect(try await large.untilClosed().hasPrefix("HTTP/1.1 503 "))
            try await untilHeld(4_100_000)
            for client in [small, third, known] { #expect(client.received.isEmpty) }
            known.send(String(repeating: "a", count: 1_000_000))
            try await known.untilReceived("\"status\":2,")
            for client in [small, third, known] { client.close() }
            try await withDeadline { while memory.bytes > 0 { try await pause() } }
        }
    }

    @Test func aBodyThatDoesNotComeInTimeIsToldSo() async throws {
        try await withListener(limits: WebListener.Limits(timeout: 3)) { port in
            let client = try await RawClient(
                port: port, saying: "POST /api/v3/entity/add HTTP/1.1\r\nContent-Length: 1000\r\n\r\n")
            client.drip("", every: .milliseconds(50))
            #expect(try await client.untilClosed().hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test func whoExpectsIsToldToContinue() async throws {
        try await withListener { port in
            let client = try await RawClient(port: port)
            let body = "ak=\(accessKey)&service_id=1&entity_name=van"
            let head = "POST /api/v3/entity/add HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
            client.send(head + "Content-Length: \(body.utf8.count)\r\n\r\n")
            try await client.untilReceived("HTTP/1.1 100 Continue\r\n\r\n")
            client.send(body)
            try await client.untilReceived("\"status\":0,")
            // A body that will not be taken is not asked for, and what would follow is not known to be it.
            client.send(head + "Content-Length: 9000000\r\n\r\n")
            let all = try await client.untilClosed()
            #expect(all.contains("\"status\":10,") && all.contains("Connection: close"), "\(all)")
            #expect(all.components(separatedBy: "100 Continue").count == 2)
        }
    }

    @Test func halfABodyIsNoBody() async throws {
        let counters = APICounters()
        try await withListener(api: counters) { port in
            let client = try await RawClient(port: port)
            client.send(
                "POST /api/v3/entity/add HTTP/1.1\r\nContent-Length: 1000\r\n\r\nak=\(accessKey)&service_id=1&entity_name=van"
            )
            client.endHalf()
            #expect(try await !client.untilClosed().contains("\"status\""))
            #expect(counters.answers.isEmpty)
        }
    }
}
