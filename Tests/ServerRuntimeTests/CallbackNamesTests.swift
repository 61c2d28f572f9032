import AlarmCallbacks
import NIOCore
import Synchronization
import Testing
import TrackModel
import TrackStore

@testable import ServerRuntime

/// Name servers that never answer.
@Suite(.timeLimit(.minutes(2))) struct CallbackNamesTests {
    /// Questions that are answered when the test ends.
    private final class SilentServer: Sendable {
        private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

        var asked: Int { waiting.withLock { $0.count } }

        func ask() async { await withCheckedContinuation { one in waiting.withLock { $0.append(one) } } }

        func answerAll() { for one in waiting.withLock({ $0 }) { one.resume() } }
    }

    private let owner: ServiceID

    init() throws { owner = try #require(ServiceID(rawValue: 1)) }

    @Test func aSilentNameServerOfOneServiceHoldsUpNoOther() async throws {
        let silent = SilentServer()
        let names = CallbackNames(takesPrivate: true) { _, _ in
            await silent.ask()
            return []
        }
        let now = Timestamp(seconds: 1_772_677_900)
        let client = CallbackClient(names: names, now: { now }, timeout: .milliseconds(50))
        for number in 0..<20 {
            let answer = await client.send(
                [], to: CallbackTarget(url: "http://silent\(number).invalid/", secret: "secret"), of: owner)
            #expect(answer != .taken)
        }
        #expect(silent.asked <= NameLookups.limits.ofService)
        // The same service with an address, and another one, are served.
        let receiver = try await CallbackReceiver()
        let slow = CallbackClient(names: names, now: { now }, timeout: .seconds(120))
        for number in [1, 2] as [Int64] {
            let service = try #require(ServiceID(rawValue: number))
            let answer = await slow.send(
                [], to: CallbackTarget(url: "http://127.0.0.1:\(receiver.port)/", secret: "secret"), of: service)
            #expect(answer == .taken)
        }
        await receiver.close()
        silent.answerAll()
    }

    @Test func addressesNeedNoNameServer() async throws {
        let names = CallbackNames(takesPrivate: true) { host, _ in
            Issue.record("\(host) was looked up")
            return []
        }
        for host in ["127.0.0.1", "::1", "198.41.0.4", "2001:4860:4860::8888"] {
            guard case .found = await names.addresses(of: host, port: 80, for: owner) else {
                Issue.record("\(host)")
                return
            }
        }
    }
}
