import AlarmCallbacks
import Geofencing
import JSON
import Logging
import NIOCore
import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

/// The sender of alarms against a real HTTP server.
@Suite("Callbacks", .timeLimit(.minutes(2)))
struct CallbackSendingTests {
    /// A clock that stands still unless it is moved.
    private final class Clock: Sendable {
        private let time = Mutex(Timestamp(seconds: 1_772_677_900))
        var now: Timestamp { time.withLock { $0 } }
        func move(by milliseconds: Int64) { time.withLock { $0 = $0.adding(milliseconds: milliseconds) } }
    }

    private let store = TestStore()
    private let clock = Clock()
    private let counters = CallbackCounters()
    private let secret = "0123456789abcdef"
    private let owner: ServiceID
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws { owner = try #require(ServiceID(rawValue: 1)) }

    private func names(takesPrivate: Bool = true) -> CallbackNames {
        // A name that no name server knows: only the address that was asked for once is connected to.
        CallbackNames(takesPrivate: takesPrivate) { host, port in
            let known = host == "operator.invalid" ? "127.0.0.1" : host
            return (try? [SocketAddress(ipAddress: known, port: port)]) ?? []
        }
    }

    private func client(takesPrivate: Bool = true, timeout: Duration = .seconds(120)) -> CallbackClient {
        CallbackClient(names: names(takesPrivate: takesPrivate), now: { [clock] in clock.now }, timeout: timeout)
    }

    private func sending(_ client: CallbackClient) -> CallbackSending {
        CallbackSending(
            store: store, client: client, counters: counters, logger: logger, now: { [clock] in clock.now },
            look: .milliseconds(5))
    }

    /// Sends until `isEnough`.
    private func run(_ client: CallbackClient, until isEnough: @escaping @Sendable () async -> Bool) async throws {
        let sending = sending(client)
        let work = Task { await sending.work() }
        defer { work.cancel() }
        _ = try await eventually { await isEnough() ? true : nil }
        work.cancel()
        await work.value
    }

    private func service(_ receiver: CallbackReceiver, path: String = "/alarms") async throws -> ServiceID {
        let service = try await store.createService(named: "Fleet", at: clock.now).id
        try await store.setCallback(
            CallbackTarget(url: "http://operator.invalid:\(receiver.port)\(path)", secret: secret), of: service)
        return service
    }

    /// Stores alarms of the van, and returns their keys.
    @discardableResult
    private func alarms(_ marks: ClosedRange<UInt8>, in service: ServiceID) async throws -> [String] {
        var keys: [String] = []
        for mark in marks {
            let time = clock.now.adding(milliseconds: Int64(mark) * 1000)
            let place = try #require(Coordinate(latitude: 40.04, longitude: 116.3))
            let key = try #require(AlarmKey(bytes: [UInt8](repeating: mark, count: 16)))
            let alarm = Alarm(
                key: key, source: .server, fence: 1, revision: 1, name: "depot", action: .enter,
                point: AlarmPoint(time: time, place: place, received: time),
                crossing: Crossing(time: time, place: place, isEstimated: true, earliest: time, latest: time))
            let fix = Fix(time: time, coordinate: place)
            let batch = IngestBatch(
                service: service, entity: "van", position: nil, points: [TrackPoint(fix)], sequences: [],
                payload: nil, received: time, alarms: [CausedAlarm(alarm)])
            let outcomes = await store.ingest([batch])
            guard case .stored? = outcomes.first else {
                Issue.record("\(outcomes)")
                continue
            }
            keys.append(key.text)
        }
        return keys
    }

    private func isEmpty(_ service: ServiceID) async -> Bool {
        let later = clock.now.adding(milliseconds: 3_600_000)
        return (try? await store.dueCallbacks(at: later, limit: 1)) == []
    }

    // MARK: Sending

    @Test func alarmsAreSentInOrderSignedAndOnce() async throws {
        let receiver = try await CallbackReceiver()
        let service = try await service(receiver)
        let keys = try await alarms(1...250, in: service)
        // The receiver has a request before the sender knows that it was taken.
        try await run(client()) { counters.counts.taken == 3 }
        #expect(receiver.deliveries.map(\.keys.count) == [100, 100, 50])
        #expect(receiver.deliveries.flatMap(\.keys) == keys)
        let first = try #require(receiver.deliveries.first)
        #expect(first.path == "/alarms")
        #expect(first.headers["host"] == "operator.invalid:\(receiver.port)")
        #expect(first.headers["signid"] == "baidu_yingyan")
        #expect(first.headers["content-type"] == "application/json;charset=utf-8")
        let time = try #require(first.headers["x-saker-time"].flatMap(Int64.init))
        #expect(time == clock.now.seconds)
        #expect(
            first.headers["x-saker-signature"] == CallbackSignature.value(of: first.body, at: time, secret: secret))
        #expect(counters.counts == .init(taken: 3, failed: 0, takenAlarms: 250, givenUpAlarms: 0))
        await receiver.close()
    }

    @Test func aFailureIsTriedAgainAfterFifteenSecondsInTheSameOrder() async throws {
        let receiver = try await CallbackReceiver { number, _ in number == 0 ? .status(500) : .taken }
        let service = try await service(receiver)
        let keys = try await alarms(1...3, in: service)
        let counters = counters
        try await run(client()) { counters.counts.failed == 1 }
        // Too early: the store has nothing that is due.
        clock.move(by: 14_999)
        #expect(try await store.dueCallbacks(at: clock.now, limit: 1) == [])
        try await alarms(4...4, in: service)
        clock.move(by: 1)
        try await run(client()) { counters.counts.taken == 1 }
        #expect(receiver.deliveries.map(\.keys) == [keys, keys + [String(repeating: "04", count: 16)]])
        #expect(await isEmpty(service))
        await receiver.close()
    }

    /// A store that does not do what sending needs, while the test says so.
    private struct BrokenStore: StoreDecorator {
        let inner: any EngineStore
        let broken: Broken

        final class Broken: Sendable {
            let call = Mutex<String?>(nil)
            func check(_ name: String) throws(TrackStoreError) {
                if call.withLock({ $0 == name }) { throw TrackStoreError(.failed, "the disk is gone") }
            }
        }

        func dueCallbacks(at now: Timestamp, limit: Int) async throws(TrackStoreError) -> [ServiceID] {
            try broken.check("due")
            return try await inner.dueCallbacks(at: now, limit: limit)
        }

        func claimCallbacks(
            of service: ServiceID, by sender: Int64, at now: Timestamp, through end: Timestamp, limit: Int
        ) async throws(TrackStoreError) -> CallbackClaim? {
            try broken.check("claim")
            return try await inner.claimCallbacks(of: service, by: sender, at: now, through: end, limit: limit)
        }

        func settleCallbacks(
            _ settlement: CallbackSettlement, by sender: Int64
        ) async throws(TrackStoreError) -> Bool {
            try broken.check("settle")
            return try await inner.settleCallbacks(settlement, by: sender)
        }
    }

    /// The operator's URL works: it is not blamed for this server's own store.
    @Test(arguments: ["due", "claim", "settle"]) func anErrorOfTheStoreIsNamedAsOne(call: String) async throws {
        let receiver = try await CallbackReceiver()
        let service = try await service(receiver)
        try await alarms(1...1, in: service)
        let (lines, broken, counters) = (RecordedLines(), BrokenStore.Broken(), counters)
        broken.call.withLock { $0 = call }
        let sending = CallbackSending(
            store: BrokenStore(inner: store, broken: broken), client: client(), counters: counters,
            logger: lines.logger, now: { [clock] in clock.now }, look: .milliseconds(5))
        let work = Task { await sending.work() }
        _ = try await eventually { lines.all.isEmpty ? nil : true }
        broken.call.withLock { $0 = nil }
        // The claim of a settlement that failed ends by itself, and what is held back is tried again.
        _ = try await eventually {
            clock.move(by: 60_000)
            return counters.counts.taken == 1 ? true : nil
        }
        _ = try await eventually { lines.all.count >= 2 ? true : nil }
        work.cancel()
        await work.value
        #expect(lines.texts.count == 2, "\(lines.texts)")
        #expect(lines.texts.first?.contains("this server's own store refuses") == true)
        #expect(lines.all.first?.metadata["reason"] == "the disk is gone")
        #expect(lines.all.first?.metadata["service"] == (call == "due" ? nil : "\(service.rawValue)"))
        #expect(lines.texts.last?.contains("the store allows again") == true)
        #expect(!lines.texts.contains { $0.contains("the operator's URL takes") })
        await receiver.close()
    }

    @Test func aServerThatHangsIsAFailure() async throws {
        let receiver = try await CallbackReceiver { _, _ in .hang }
        let service = try await service(receiver)
        try await alarms(1...1, in: service)
        let counters = counters
        try await run(client(timeout: .milliseconds(300))) { counters.counts.failed == 1 }
        #expect(await !isEmpty(service))
        await receiver.close()
    }

    @Test func afterTenMinutesAlarmsAreGivenUp() async throws {
        let receiver = try await CallbackReceiver { _, _ in .status(404) }
        let service = try await service(receiver)
        try await alarms(1...2, in: service)
        let counters = counters
        try await run(client()) { counters.counts.failed == 1 }
        clock.move(by: 600_000)
        try await alarms(3...3, in: service)
        try await run(client()) { counters.counts.failed == 2 }
        #expect(counters.counts.givenUpAlarms == 2)
        clock.move(by: 15_000)
        try await run(client()) { counters.counts.failed == 3 }
        #expect(receiver.deliveries.map(\.keys.count) == [2, 3, 1])
        await receiver.close()
    }

    @Test func oneServiceThatHangsHoldsUpNoOther() async throws {
        let slow = try await CallbackReceiver { _, _ in .hang }
        let quick = try await CallbackReceiver()
        let first = try await service(slow)
        try await alarms(1...1, in: first)
        let second = try await service(quick)
        try await alarms(2...2, in: second)
        try await run(client()) { quick.deliveries.count == 1 && slow.deliveries.count == 1 }
        await slow.close()
        await quick.close()
    }

    // MARK: What a URL must not do

    @Test func redirectsAreNotFollowed() async throws {
        let hidden = try await CallbackReceiver()
        let receiver = try await CallbackReceiver { _, _ in .redirect("http://127.0.0.1:\(hidden.port)/secret") }
        let service = try await service(receiver)
        try await alarms(1...1, in: service)
        let counters = counters
        try await run(client()) { counters.counts.failed == 1 }
        #expect(hidden.requests.isEmpty)
        #expect(receiver.deliveries.count == 1)
        await receiver.close()
        await hidden.close()
    }

    @Test func anEndlessAnswerIsCut() async throws {
        let receiver = try await CallbackReceiver { _, _ in .endless }
        let answer = await client().send(
            [], to: CallbackTarget(url: "http://operator.invalid:\(receiver.port)/", secret: secret), of: owner)
        #expect(answer == .failed("its answer has more than 16384 bytes"))
        // What lies in the buffers of the kernel, and no more.
        #expect(receiver.writtenBytes < 64 << 20)
        await receiver.close()
    }

    @Test(arguments: ["127.0.0.1", "operator.invalid", "[::1]", "10.0.0.1", "169.254.169.254"])
    func privateAddressesAreNotReached(_ host: String) async throws {
        let receiver = try await CallbackReceiver()
        let answer = await client(takesPrivate: false).send(
            [], to: CallbackTarget(url: "http://\(host):\(receiver.port)/", secret: secret), of: owner)
        guard case .failed(let reason) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(reason.contains("private_addresses"), "\(reason)")
        #expect(receiver.requests.isEmpty)
        await receiver.close()
    }

    @Test func theMachinesOwnAddressIsNotReachedThoughItIsPublic() async throws {
        let names = CallbackNames(
            takesPrivate: false,
            lookup: { _, port in (try? [SocketAddress(ipAddress: "198.41.0.4", port: port)]) ?? [] },
            own: { ["198.41.0.4"] })
        guard case .failed = await names.addresses(of: "own.example", port: 80, for: owner) else {
            Issue.record("it is reached")
            return
        }
    }

    /// A name server may answer another address the second time: the name is asked for once.
    @Test func theAddressThatWasCheckedIsTheOneThatIsConnectedTo() async throws {
        let receiver = try await CallbackReceiver()
        let asked = Mutex(0)
        let names = CallbackNames(takesPrivate: true) { _, port in
            asked.withLock { $0 += 1 }
            return (try? [SocketAddress(ipAddress: "127.0.0.1", port: port)]) ?? []
        }
        let client = CallbackClient(names: names, now: { [clock] in clock.now }, timeout: .seconds(120))
        // localhost is ::1 or 127.0.0.1 to the system; only the lookup's answer counts for a name that it does not know.
        let answer = await client.send(
            [], to: CallbackTarget(url: "http://rebind.invalid:\(receiver.port)/", secret: secret), of: owner)
        #expect(answer == .taken)
        #expect(asked.withLock { $0 } == 1)
        await receiver.close()
    }

    @Test func theNextAddressIsTriedWhenNobodyListensAtTheFirst() async throws {
        let receiver = try await CallbackReceiver()
        let names = CallbackNames(takesPrivate: true) { _, port in
            ["127.0.0.2", "127.0.0.1"].compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        }
        let client = CallbackClient(names: names, now: { [clock] in clock.now }, timeout: .seconds(120))
        let answer = await client.send(
            [], to: CallbackTarget(url: "http://two.invalid:\(receiver.port)/", secret: secret), of: owner)
        #expect(answer == .taken)
        await receiver.close()
    }

    // MARK: The end of a server

    @Test func aServerThatEndsGivesItsAlarmsToTheNextOne() async throws {
        let receiver = try await CallbackReceiver { number, _ in number == 0 ? .hang : .taken }
        let service = try await service(receiver)
        let keys = try await alarms(1...3, in: service)
        let first = sending(client())
        let work = Task { await first.work() }
        _ = try await eventually { receiver.deliveries.count == 1 ? true : nil }
        work.cancel()
        await work.value
        // At once: the claim was given back.
        let counters = counters
        try await run(client()) { counters.counts.taken == 1 }
        #expect(receiver.deliveries.map(\.keys) == [keys, keys])
        #expect(await isEmpty(service))
        await receiver.close()
    }

    @Test func whatADeadServerLeavesIsSentWhenItsClaimEnds() async throws {
        let receiver = try await CallbackReceiver()
        let service = try await service(receiver)
        let keys = try await alarms(1...2, in: service)
        let claim = try await store.claimCallbacks(
            of: service, by: 1, at: clock.now, through: clock.now.adding(milliseconds: CallbackRules.claim), limit: 100)
        #expect(claim?.callbacks.count == 2)
        #expect(try await store.dueCallbacks(at: clock.now, limit: 1) == [])
        clock.move(by: CallbackRules.claim + 1)
        let counters = counters
        try await run(client()) { counters.counts.taken == 1 }
        #expect(receiver.deliveries.flatMap(\.keys) == keys)
        await receiver.close()
    }

    // MARK: The check of a URL

    @Test func aURLIsAskedBeforeItIsSet() async throws {
        let receiver = try await CallbackReceiver()
        let service = try #require(ServiceID(rawValue: 4))
        let check = CallbackCheck(client())
        let target = CallbackTarget(url: "http://operator.invalid:\(receiver.port)/x", secret: secret)
        #expect(await check.problem(with: target, of: service) == nil)
        #expect(
            receiver.requests.map { String(decoding: $0.body, as: UTF8.self) }
                == [#"{"type":1,"service_id":4,"content":[]}"#])
        let wrong = CallbackTarget(url: "http://user@operator.invalid/", secret: secret)
        #expect(await check.problem(with: wrong, of: service)?.hasPrefix("url: ") ?? false)
        await receiver.close()
        #expect(await check.problem(with: target, of: service)?.contains("no connection") ?? false)
    }
}
