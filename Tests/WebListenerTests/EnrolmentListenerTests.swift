import Enrolment
import Foundation
import Logging
import NIOPosix
import ServerIdentity
import ServiceLifecycle
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import WebAPI

@testable import WebListener

/// Answers with what it was asked.
private final class EchoEnrolments: EnrolmentResponder {
    let calls = Mutex<[EnrolmentCall]>([])

    func answer(_ call: EnrolmentCall) async -> EnrolmentReply {
        calls.withLock { $0.append(call) }
        return .refused(EnrolmentRefusal(.tooMany, "\(call.method) \(call.path) \(call.body.count)", retryAfter: 7))
    }

    func refusePlainHTTP(from address: String?) -> EnrolmentReply { .plainHTTP }
    func refuseLarge(from address: String?) -> EnrolmentReply { .tooLarge }
}

@Suite("Claims at the listener", .serialized, .timeLimit(.minutes(5))) struct EnrolmentListenerTests {
    private func withListener(
        _ enrolments: EchoEnrolments, identity: ServerIdentity?, _ body: @Sendable (Int) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let store: any TrackStore = TestStore()
        let ingest = RunningIngest(store)
        defer { withExtendedLifetime(ingest) {} }
        let router = APIRouter(
            store: store, ingest: ingest.writer, options: WebAPIOptions(), logger: logger, counters: APICounters(),
            now: { Timestamp(seconds: 1_772_677_900) })
        let listener = WebListener(
            router: router, files: { $0 }, host: "127.0.0.1", port: 0, identity: identity, enrolments: enrolments,
            group: MultiThreadedEventLoopGroup.singleton, logger: logger, onBound: { continuation.yield($0) })
        let services = ServiceGroup(services: [listener], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(port))
            } catch {
                result = .failure(error)
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            try result.get()
        }
    }

    @Test func callsGoToTheDeskOverTLSAloneAndAreBounded() async throws {
        let (directory, enrolments) = (try TemporaryDirectory(), EchoEnrolments())
        let made = try TestCertificate("one")
        let (certificate, key) = (directory.path + "/cert.pem", directory.path + "/key.pem")
        try made.certificate.write(toFile: certificate, atomically: true, encoding: .utf8)
        try made.key.write(toFile: key, atomically: true, encoding: .utf8)
        let large = directory.path + "/large"
        try String(repeating: "a", count: 1 << 20).write(toFile: large, atomically: true, encoding: .utf8)
        let identity = try ServerIdentity(
            files: .init(certificateChain: certificate, key: key), minimumTLS: .v12,
            applicationProtocols: WebListener.applicationProtocols)
        try await withListener(enrolments, identity: identity) { port in
            let base = "https://localhost:\(port)/enrol/v1/claim"
            func ask(_ arguments: String...) async throws -> String {
                try await curl(["-s", "--cacert", certificate, "-w", " %{http_code}"] + arguments)
            }
            let answer = try await ask("--data", "{}", base + "?x=1")
            #expect(answer.contains("POST /enrol/v1/claim 2") && answer.hasSuffix("429"), "\(answer)")
            let head = try await ask("-i", "--data", "{}", base)
            #expect(head.contains("retry-after: 7") || head.contains("Retry-After: 7"), "\(head)")
            #expect(try await ask(base).contains("GET /enrol/v1/claim 0"))
            for form in [["-H", "Expect:"], ["-H", "Transfer-Encoding: chunked", "-H", "Expect:"], []] {
                let answer = try await curl(
                    ["-s", "--cacert", certificate, "-w", " %{http_code}", "--data-binary", "@\(large)"] + form + [base]
                )
                #expect(answer.contains("bad_request") && answer.hasSuffix("400"), "\(answer)")
            }
            #expect(!(try await ask("https://localhost:\(port)/enroll")).contains("GET"))
        }
        let counted = enrolments.calls.withLock { $0.map(\.body.count) }
        #expect(counted == [2, 2, 0])
        #expect(
            enrolments.calls.withLock {
                $0.allSatisfy { $0.address == "127.0.0.1" && $0.origin.address == "127.0.0.1" }
            })
        try await withListener(enrolments, identity: nil) { port in
            let answer = try await curl(
                ["-s", "-w", " %{http_code}", "--data", "{}", "http://127.0.0.1:\(port)/enrol/v1/claim"])
            #expect(answer.contains("plain_http") && answer.hasSuffix("403"), "\(answer)")
        }
        #expect(enrolments.calls.withLock { $0.count } == 3)
    }
}
