import Ingest
import JSON
import Logging
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

@Suite("URLs of alarms") struct CallbackURLTests {
    /// What a check was asked, and what it says.
    private final class Check: Sendable {
        let asked = Mutex<[CallbackTarget]>([])
        let problem = Mutex<String?>(nil)
    }

    private let check = Check()

    private func bench() async throws -> Bench {
        try await Bench(checkCallback: { [check] target, _ in
            check.asked.withLock { $0.append(target) }
            return check.problem.withLock { $0 }
        })
    }

    @Test func aURLIsCheckedSetToldAndCancelled() async throws {
        let bench = try await bench()
        #expect(await bench.text("fence/queryurl") == #"{"status":0,"message":"成功","url":""}"#)
        let set = try await bench.post("fence/seturl", "url=https%3A%2F%2Fa.example%2Falarms")
        #expect(set.status == 0, "\(set)")
        let secret = try #require(set["secret"]?.stringValue)
        #expect(secret.utf8.count == 64)
        let target = CallbackTarget(url: "https://a.example/alarms", secret: secret)
        #expect(check.asked.withLock { $0 } == [target])
        #expect(try await bench.store.callback(of: bench.service) == target)
        #expect(
            await bench.text("fence/queryurl")
                == #"{"status":0,"message":"成功","url":"https:\/\/a.example\/alarms"}"#.replacing(#"\/"#, with: "/"))
        #expect(try await bench.post("fence/cancelurl", "").status == 0)
        #expect(try await bench.store.callback(of: bench.service) == nil)
    }

    @Test func theSameURLKeepsItsSecretAndAnotherGetsItsOwn() async throws {
        let bench = try await bench()
        func secret(_ url: String) async throws -> String? {
            try await bench.post("fence/seturl", "url=\(url)")["secret"]?.stringValue
        }
        let first = try await secret("https://a.example/")
        #expect(first != nil)
        #expect(try await secret("https://a.example/") == first)
        let other = try await secret("https://b.example/")
        #expect(other != nil && other != first)
        #expect(try await secret("https://a.example/") != first)
    }

    @Test func aURLThatTakesNoAlarmsIsNotSet() async throws {
        let bench = try await bench()
        check.problem.withLock { $0 = "url: it closed the connection" }
        let refused = try await bench.post("fence/seturl", "url=https://a.example/")
        #expect(refused.status == 2)
        #expect(refused["message"]?.stringValue?.hasSuffix(": url: it closed the connection") ?? false)
        #expect(try await bench.store.callback(of: bench.service) == nil)
        #expect(try await bench.post("fence/seturl", "").status == 2)
        let long = try await bench.post("fence/seturl", "url=https://a.example/" + String(repeating: "x", count: 2048))
        #expect(long.status == 2)
        #expect(check.asked.withLock { $0.count } == 1)
    }

    /// The URL is the whole service's.
    @Test func anAgentMayNotSetIt() async throws {
        let bench = try await bench()
        for (path, parameters) in [
            ("fence/seturl", ["url": "https://a.example/"]), ("fence/cancelurl", [:]), ("fence/queryurl", [:]),
        ] {
            let answer = await bench.router.call(
                service: bench.service, entity: "van", path: path, parameters: parameters, policy: .entity)
            #expect(answer.status == 240, "\(path): \(answer.json)")
        }
        #expect(check.asked.withLock { $0.isEmpty })
    }
}
