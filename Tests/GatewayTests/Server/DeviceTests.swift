import NIOSSL
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

/// Logins with certificates of devices, over real TLS.
@Suite(.timeLimit(.minutes(10))) struct DeviceTests {
    /// A device of the fixture's service, and how it connects.
    private struct Box {
        let record: DeviceRecord
        let client: TLSConfiguration

        init(_ fixture: Fixture, _ number: UInt8 = 1, entity: String = "car") async throws {
            let (client, keyHash) = try fixture.certificate.device([DeviceID.sample(number).uri])
            var record = DeviceRecord.sample(number, in: fixture.service, entity: entity)
            record.keyHash = keyHash
            self.record = record
            self.client = client
            try await fixture.store.addDevice(record)
        }

        func connect(_ fixture: Fixture) async throws -> TestAgent {
            try await TestAgent.connect(port: fixture.port, tls: client)
        }

        func hello(_ fixture: Fixture, as entity: String? = nil) -> Hello {
            var hello = fixture.hello(
                stream: StreamID(high: 1, low: UInt64(record.id.bytes[15])), entity: entity ?? record.entity)
            hello.ak = ""
            return hello
        }

        func login(_ fixture: Fixture) async throws -> TestAgent {
            let agent = try await connect(fixture)
            let answer = await agent.hello(hello(fixture))
            guard answer?.welcome != nil else { throw Unexpected(message: "\(answer as Any)") }
            return agent
        }

        func refusal(_ fixture: Fixture, as entity: String? = nil) async throws -> Refused? {
            let agent = try await connect(fixture)
            let refused = await agent.hello(hello(fixture, as: entity))?.refused
            if refused != nil { #expect(await agent.next() == nil, "the server closes") }
            return refused
        }
    }

    @Test func aDeviceLogsInWithoutAKeyAsTheEntityOfTheStore() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            let agent = try await box.login(fixture)
            agent.send(.upload(upload(1...3)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 3)
            #expect(try await fixture.storedTimes() == [time(1), time(2), time(3)])
            let seen = try #require(try await fixture.store.device(box.record.id)?.sighting)
            #expect(seen.agentVersion == "test" && seen.address == "127.0.0.1" && seen.time == Fixture.now)
            let refused = try #require(try await box.refusal(fixture, as: "van"))
            #expect(refused.code == .parameter && refused.reason.contains("the device is car, not van"))
            #expect(try await fixture.store.entity(named: "van", in: fixture.service) == nil)
        }
    }

    @Test func aCertificateOpensNothingForAnotherDeviceServiceOrKey() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            // Known to the authority, and not to the store.
            let stranger = try fixture.certificate.device([DeviceID.sample(9).uri])
            // Signed by the authority for the same number, and for another key.
            let thief = try fixture.certificate.device([box.record.id.uri])
            for client in [stranger.client, thief.client] {
                let agent = try await TestAgent.connect(port: fixture.port, tls: client)
                let refused = try #require(await agent.hello(box.hello(fixture))?.refused)
                #expect(refused.code == .authentication && refused.retryAfter == 3600, "\(refused.reason)")
            }
            // A certificate that names two devices, or none, is that of no device: a key is wanted.
            for uris in [[box.record.id.uri, DeviceID.sample(9).uri], ["saker:other:1"], ["saker:device:1"]] {
                let agent = try await TestAgent.connect(
                    port: fixture.port, tls: try fixture.certificate.device(uris).client)
                #expect(await agent.hello(box.hello(fixture))?.refused?.code == .authentication, "\(uris)")
            }
            let other = try await fixture.store.createService(named: "other", at: Fixture.now)
            let agent = try await box.connect(fixture)
            var hello = box.hello(fixture)
            hello.serviceID = other.id.rawValue
            let refused = try #require(await agent.hello(hello)?.refused)
            #expect(refused.code == .parameter && refused.reason.contains("belongs to service 1"))
            #expect(fixture.server.sessionCount == 0)
        }
    }

    @Test func aCertificateOfAnotherAuthorityEndsTheHandshake() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            var client = try TestCertificate().device([box.record.id.uri]).client
            client.trustRoots = try fixture.certificate.client().trustRoots
            let agent = try await TestAgent.connect(port: fixture.port, tls: client)
            #expect(await agent.hello(box.hello(fixture)) == nil)
            // A key still opens a session without a certificate.
            _ = try await fixture.login()
            #expect(fixture.server.sessionCount == 1)
        }
    }

    @Test func aKeyThatIsNoVehiclesDoesNotMatterBesideACertificate() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            for key in ["nonsense", Fixture.key.revealed] {
                var hello = box.hello(fixture, as: "van")
                hello.ak = key
                let agent = try await box.connect(fixture)
                // With the key alone it could be any entity.
                #expect(await agent.hello(hello)?.refused?.code == .parameter, "\(key)")
            }
        }
    }

    @Test func aRevokedDeviceIsOutAndItsNeighboursAreNot() async throws {
        try await Fixture.run { fixture in
            let (box, neighbour) = (try await Box(fixture), try await Box(fixture, 2, entity: "van"))
            let agent = try await box.login(fixture)
            let other = try await neighbour.login(fixture)
            agent.send(.upload(upload(1...3)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 3)
            _ = try await fixture.store.changeDevice(box.record.id, .state(.revoked))
            let closing = try #require(await agent.next()?.message?.closing)
            #expect(closing.reason == "the device was revoked: log in again" && closing.retryAfter == 1)
            #expect(await agent.next() == nil)
            let refused = try #require(try await box.refusal(fixture))
            #expect(refused.code == .revoked && refused.retryAfter == 3600)
            #expect(fixture.server.counts.refusals[.revoked] == 1)
            #expect(fixture.server.core.registry.sessions.map(\.entity) == ["van"])
            other.send(.heartbeat(Heartbeat()))
            #expect(await other.next()?.message?.isHeartbeat == true)
            _ = try await fixture.store.changeDevice(box.record.id, .state(.active))
            // What was stored is known, and it goes on behind it.
            let again = try await box.connect(fixture)
            #expect(await again.hello(box.hello(fixture))?.welcome?.storedThrough == 3)
            #expect(fixture.server.sessionCount == 2)
        }
    }

    @Test func aDeviceThatIsMovedOrForgottenLogsInAnew() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            let agent = try await box.login(fixture)
            _ = try await fixture.store.changeDevice(box.record.id, .name("a plate"))
            _ = try await fixture.store.changeDevice(box.record.id, .entity("truck"))
            #expect(await agent.next()?.message?.closing?.reason == "the device is another entity now: log in again")
            #expect(try await box.refusal(fixture)?.code == .parameter)
            let moved = try await box.connect(fixture)
            #expect(await moved.hello(box.hello(fixture, as: "truck"))?.welcome != nil)
            try await fixture.store.forgetDevice(box.record.id)
            #expect(await moved.next()?.message?.closing?.reason == "the device was forgotten: log in again")
            #expect(try await box.refusal(fixture, as: "truck")?.code == .authentication)
        }
    }

    @Test func aDeviceBringsPointsOnlyOfWhatItIsOrWas() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            _ = try await fixture.store.changeDevice(box.record.id, .entity("truck"))
            let agent = try await box.connect(fixture)
            #expect(await agent.hello(box.hello(fixture, as: "truck"))?.welcome != nil)
            for (entity, sequences) in [("car", 1...3), ("van", 4...5), ("", 6...7)] as [(String, ClosedRange<Int64>)] {
                var batch = upload(sequences)
                batch.entity = entity
                agent.send(.upload(batch))
                let answer = try #require(await agent.next()?.message?.uploadAck)
                #expect(answer.storedThrough == UInt64(sequences.upperBound), "\(entity)")
                let refused = answer.refused.map(\.sequence)
                #expect(refused == (entity == "van" ? [4, 5] : []), "\(entity)")
                if entity == "van" { #expect(answer.refused.first?.reason.contains("never was van") == true) }
            }
            #expect(try await fixture.storedTimes(of: "car").count == 3)
            #expect(try await fixture.storedTimes(of: "truck") == [time(6), time(7)])
            #expect(try await fixture.store.entity(named: "van", in: fixture.service) == nil)

            let custom = Points(BatchCodec.encode(points(8...8)), id: 1, entity: "van")
            agent.send(.points(custom))
            let reply = try #require(await agent.next()?.message?.pointsReply)
            #expect(reply.stored == 0 && reply.error.contains("never was van"), "\(reply.error)")
            #expect(try await fixture.store.entity(named: "van", in: fixture.service) == nil)
        }
    }
}
