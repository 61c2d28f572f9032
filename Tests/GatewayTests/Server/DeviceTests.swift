import Ingest
import NIOCore
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

    /// A stolen box that was revoked must not come back with the key that it also has.
    @Test func aKeyDoesNotOpenTheEntityOfADevice() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            func answer(as entity: String) async throws -> ServerFrame.OneOf_Message? {
                let agent = try await fixture.connect()
                return await agent.hello(fixture.hello(entity: entity))
            }
            func refusal(as entity: String) async throws -> Refused? { try await answer(as: entity)?.refused }
            let refused = try #require(try await refusal(as: "car"))
            #expect(refused.code == .authentication && refused.reason.contains("car is a device"))
            #expect(try await answer(as: "bus")?.welcome != nil)
            _ = try await fixture.store.changeDevice(box.record.id, .state(.revoked))
            #expect(try await refusal(as: "car") != nil)
            // The entity that the box was before is nobody's device.
            _ = try await fixture.store.changeDevice(box.record.id, .entity("van"))
            #expect(try await answer(as: "car")?.welcome != nil)
            #expect(try await refusal(as: "van") != nil)
            try await fixture.store.forgetDevice(box.record.id)
            #expect(try await answer(as: "van")?.welcome != nil)
        }
    }

    /// Whoever has a token that asks must not shut out the vehicles of today.
    @Test func aDeviceThatWasNeverApprovedHoldsNobodyOff() throws {
        let request = try LoginRules.check(MachineBench.hello(), from: nil)
        var device = DeviceRecord.sample(1, in: request.service, entity: request.entity)
        device.claim = DeviceRecord.Claim(token: 1)
        for state in [DeviceRecord.State.pending, .revoked] {
            device.state = state
            #expect(throws: Never.self) { try DeviceRules.checkKey(for: request, [device]) }
        }
        device.issued = .at(1)
        #expect(throws: LoginRefusal.self) { try DeviceRules.checkKey(for: request, [device]) }
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
            #expect(refused.entity == "car")
            #expect(try await fixture.store.entity(named: "van", in: fixture.service) == nil)
        }
    }

    /// What a device was says which points of its cache it may bring. Points of programs are the operator's choice.
    @Test(arguments: [DevicePolicy.service, .entity])
    func aDeviceBringsPointsOfOthersWhenTheOperatorAllowsIt(policy: DevicePolicy) async throws {
        try await Fixture.run(configure: { $0.limits.devicePolicy = policy }) { fixture in
            let agent = try await Box(fixture).login(fixture)
            agent.send(.points(Points(BatchCodec.encode(points(1...4)), id: 77, entity: "trailer_2")))
            let reply = try #require(await agent.next()?.message?.pointsReply)
            #expect(reply.id == 77)
            if policy == .service {
                #expect(reply.stored == 4 && reply.error.isEmpty, "\(reply.error)")
                #expect(try await fixture.storedTimes(of: "trailer_2") == [1, 2, 3, 4].map(time))
            } else {
                #expect(reply.stored == 0 && reply.error.contains("call_policy = \"service\""), "\(reply.error)")
                #expect(try await fixture.store.entity(named: "trailer_2", in: fixture.service) == nil)
            }
            // Another's points in an upload stay nobody's.
            var foreign = upload(1...3)
            foreign.entity = "bus"
            agent.send(.upload(foreign))
            _ = await agent.next()
            #expect(try await fixture.store.entity(named: "bus", in: fixture.service) == nil)
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
            _ = try await fixture.login(entity: "bus")
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

    /// The disk of a box was copied: the other computer has its certificate and its cache.
    @Test func twoComputersThatAreOneDeviceAreBothOutUntilSomebodyHasPutItInOrder() async throws {
        try await Fixture.run { fixture in
            let (box, neighbour) = (try await Box(fixture), try await Box(fixture, 2, entity: "van"))
            let bystander = try await neighbour.login(fixture)
            func login(_ boot: UInt8) async throws -> (agent: TestAgent, answer: ServerFrame.OneOf_Message?) {
                // A start is after another one when it is so in the milliseconds of the server's clock.
                func milliseconds() -> UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }
                let before = milliseconds()
                try await until { milliseconds() > before }
                let agent = try await box.connect(fixture)
                var hello = box.hello(fixture)
                hello.bootBytes = [UInt8](repeating: boot, count: 16)
                return (agent, await agent.hello(hello))
            }
            let first = try await login(1)
            #expect(first.answer?.welcome != nil)
            first.agent.send(.upload(upload(1...3)))
            #expect(await first.agent.next()?.message?.uploadAck?.storedThrough == 3)
            let second = try await login(2)
            #expect(second.answer?.welcome != nil, "it may be the same computer after a restart")
            #expect(await first.agent.next()?.message?.closing?.code == .replaced)
            #expect(try await fixture.store.device(box.record.id)?.cloned == nil)
            second.agent.send(.upload(upload(4...5)))
            #expect(await second.agent.next()?.message?.uploadAck?.storedThrough == 5)

            let third = try await login(1)
            let refused = try #require(third.answer?.refused)
            #expect(refused.code == .cloned && refused.retryAfter == 600, "\(refused.reason)")
            let closing = try #require(await second.agent.next()?.message?.closing)
            #expect(closing.code == .cloned && closing.retryAfter == 600 && closing.reason == refused.reason)
            #expect(await second.agent.next() == nil)
            #expect(try await login(2).answer?.refused?.code == .cloned)
            #expect(fixture.server.counts.refusals[.cloned] == 2)
            #expect(try await fixture.store.device(box.record.id)?.cloned == Fixture.now)
            #expect(fixture.server.core.registry.sessions.map(\.entity) == ["van"])
            bystander.send(.heartbeat(Heartbeat()))
            #expect(await bystander.next()?.message?.isHeartbeat == true)

            // Another change leaves both out; an approval lets in who comes.
            _ = try await fixture.store.changeDevice(box.record.id, .name("a plate"))
            _ = try await fixture.store.changeDevice(neighbour.record.id, .state(.revoked))
            #expect(await bystander.next()?.message?.closing != nil, "whoever watches has seen both changes")
            #expect(try await login(1).answer?.refused?.code == .cloned)
            _ = try await fixture.store.changeDevice(box.record.id, .state(.active))
            try await until { !fixture.server.core.clones.isWaiting(for: box.record.id) }
            let alone = try await login(1)
            #expect(alone.answer?.welcome != nil)
            alone.agent.send(.upload(upload(6...7)))
            #expect(await alone.agent.next()?.message?.uploadAck?.storedThrough == 7)
            #expect(try await fixture.storedTimes() == (1...7).map { time($0) }, "no point is lost")
        }
    }

    @Test func aRestartAndAnAgentThatDoesNotKnowItsStartAreNoCopies() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            for boot in [1, 1, nil, 2, nil, 2, 3] as [UInt8?] {
                let agent = try await box.connect(fixture)
                defer { agent.kill() }
                var hello = box.hello(fixture)
                if let boot { hello.bootBytes = [UInt8](repeating: boot, count: 16) }
                #expect(await agent.hello(hello)?.welcome != nil)
            }
            let agent = try await box.connect(fixture)
            var hello = box.hello(fixture)
            hello.bootBytes = [1, 2, 3]
            #expect(await agent.hello(hello)?.refused?.code == .parameter)
            #expect(try await fixture.store.device(box.record.id)?.cloned == nil)
        }
    }

    /// Copies that do not say which start of their computer they are, behind one router: nobody is turned away.
    @Test func computersThatTakeEachOthersStreamAreTold() async throws {
        try await Fixture.run { fixture in
            let box = try await Box(fixture)
            var last = try await box.login(fixture)
            for number in 1...TakeoverDetector.answers {
                let next = try await box.login(fixture)
                #expect(await last.next()?.message?.closing?.code == .replaced)
                // The program of the other computer is there, and ends its connection in order.
                #expect(await last.next() == nil)
                last = next
                guard number < TakeoverDetector.answers else { break }
                #expect(try await fixture.store.device(box.record.id)?.cloned == nil)
            }
            try await until { try await fixture.store.device(box.record.id)?.cloned == Fixture.now }
            last.send(.heartbeat(Heartbeat()))
            #expect(await last.next()?.message?.isHeartbeat == true)
        }
    }

    /// A vehicle whose link breaks leaves connections behind at which nobody answers.
    @Test func aVehicleThatLeavesDeadConnectionsBehindIsNoCopy() async throws {
        try await Fixture.run(configure: { $0.deadlines.close = .milliseconds(1) }) { fixture in
            let box = try await Box(fixture)
            var dead: [TestAgent] = []
            for _ in 0..<8 {
                let agent = try await box.login(fixture)
                await agent.stopReading()
                dead.append(agent)
            }
            try await until { fixture.server.connectionCount == 1 }
            #expect(try await fixture.store.device(box.record.id)?.cloned == nil)
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
        }
    }
}
