import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

/// The sessions of a service that is deleted, over real TLS.
@Suite(.timeLimit(.minutes(10))) struct ServiceDeletionTests {
    @Test func theSessionsOfADeletedServiceEndWithTheReasonAndOthersGoOn() async throws {
        try await Fixture.run { fixture in
            let kept = try await fixture.store.createService(named: "kept", at: Fixture.now).id
            try await fixture.store.addKey(
                Fixture.key.hash, secret: nil, to: kept, replacing: false, at: Fixture.now)
            let (client, keyHash) = try fixture.certificate.device([DeviceID.sample(1).uri])
            var record = DeviceRecord.sample(1, in: fixture.service, entity: "van")
            record.keyHash = keyHash
            try await fixture.store.addDevice(record)
            func hello(_ service: ServiceID, _ stream: UInt64, as entity: String) -> Hello {
                var hello = fixture.hello(stream: StreamID(high: 1, low: stream), entity: entity)
                hello.serviceID = service.rawValue
                return hello
            }
            let (agent, box, other) = (
                try await fixture.connect(), try await TestAgent.connect(port: fixture.port, tls: client),
                try await fixture.connect()
            )
            #expect(await agent.hello(hello(fixture.service, 1, as: "car"))?.welcome != nil)
            #expect(await box.hello(hello(fixture.service, 2, as: "van"))?.welcome != nil)
            #expect(await other.hello(hello(kept, 3, as: "car"))?.welcome != nil)

            try await fixture.store.deleteService(fixture.service)
            for session in [agent, box] {
                let closing = try #require(await session.next()?.message?.closing)
                #expect(closing.reason.contains("log in again") && closing.retryAfter <= 5, "\(closing.reason)")
                #expect(await session.next() == nil)
            }
            for (again, stream, entity) in [
                (try await fixture.connect(), 1 as UInt64, "car"),
                (try await TestAgent.connect(port: fixture.port, tls: client), 2, "van"),
            ] {
                let refused = try #require(await again.hello(hello(fixture.service, stream, as: entity))?.refused)
                #expect(refused.code == .service && refused.retryAfter == 3600)
                #expect(refused.reason.contains("the operator has deleted service 1"), "\(refused.reason)")
            }
            other.send(.heartbeat(Heartbeat()))
            #expect(await other.next()?.message?.isHeartbeat == true)
            #expect(fixture.server.core.registry.sessions.map(\.service) == [kept])
        }
    }

    @Test func aSessionHearsOfTheDeletionByItsUploadAtTheLatest() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            try await fixture.store.deleteService(fixture.service)
            agent.send(.upload(upload(1...3)))
            let closing = try #require(await agent.next()?.message?.closing)
            #expect(closing.reason.contains("log in again") && closing.retryAfter <= 5, "\(closing.reason)")
        }
    }

    /// The changes of fences stand on a damaged page.
    private struct DamagedStore: StoreDecorator {
        let inner: any EngineStore

        func changes(
            of kinds: Set<StoreChange.Kind>, after cursor: StoreCursor?, at now: Timestamp, limit: Int
        ) async throws(TrackStoreError) -> StoreChanges {
            if kinds.contains(.fences) { throw TrackStoreError(.corrupt, "page 7 is damaged") }
            return try await inner.changes(of: kinds, after: cursor, at: now, limit: limit)
        }
    }

    @Test func aDamagedTableDoesNotHideTheChangesOfTheOthers() async throws {
        try await Fixture.run(wrapping: { DamagedStore(inner: $0) }) { fixture in
            let agent = try await fixture.login()
            try await fixture.store.setKey(
                AccessKeyUse(service: fixture.service, hash: Fixture.key.hash), isDisabled: true)
            #expect(await agent.next()?.message?.closing?.reason.contains("the access key has ended") == true)
        }
    }

    /// The key is valid at the login, and nobody changes it.
    @Test func aSessionEndsWhenTheEndOfItsKeyComes() async throws {
        let time = Mutex(Fixture.now)
        try await Fixture.run(clock: { time.withLock { $0 } }) { fixture in
            try await fixture.store.addKey(
                KeyGrant(
                    Fixture.key.hash, secret: nil,
                    rights: KeyRights(.former, end: Fixture.now.adding(milliseconds: 60_000))),
                to: fixture.service, replacing: true, at: Fixture.now)
            let agent = try await fixture.login()
            time.withLock { $0 = $0.adding(milliseconds: 60_000) }
            #expect(await agent.next()?.message?.closing?.reason.contains("the access key has ended") == true)
        }
    }
}
