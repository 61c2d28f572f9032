import FenceDelivery
import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

/// Server fences on their way to agents, and what agents say of them.
@Suite(.timeLimit(.minutes(5))) struct VehicleFenceTests {
    private static let past = Timestamp(milliseconds: 1_780_000_000_000)

    /// A circle around the points of the fixture, which go north along the meridian by some metres each.
    private func circle(radius: Double, everyone: Bool = true) throws -> FenceDefinition {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 0.1, longitude: 1e-7), radius: radius)))
        definition.name = "depot"
        definition.watch = everyone ? .everyone : try FenceSubjects(["car"])
        return definition
    }

    private func connect(_ fixture: Fixture, version: UInt64 = 0) async throws -> TestAgent {
        let agent = try await fixture.connect()
        var hello = fixture.hello()
        hello.fenceFormat = 1
        hello.fenceVersion = version
        let welcome = try #require(await agent.hello(hello)?.welcome)
        #expect(welcome.fenceFormat == 1)
        return agent
    }

    private func delivery(_ agent: TestAgent) async throws -> FenceDelivery {
        var reader = FenceDeliveryReader()
        while true {
            guard let frame = await agent.next() else { throw Unexpected(message: "the connection ended") }
            guard case .fenceUpdate(let update)? = frame.message else { continue }
            if let delivery = try reader.take(update)?.unpacked() { return delivery }
        }
    }

    /// Points at these hundredths of the circle's latitude.
    private func track(_ numbers: ClosedRange<Int64>) -> [TrackPoint] {
        numbers.compactMap { number in
            Coordinate(latitudeE7: Int32(number) * 1000, longitudeE7: 1).map {
                TrackPoint(Fix(time: Timestamp(milliseconds: time(number)), coordinate: $0, speed: 1000, accuracy: 50))
            }
        }
    }

    @Test func theAgentGetsItsFencesAndEachChange() async throws {
        try await Fixture.run { fixture in
            let store = fixture.store
            try await store.haveEntity(named: "car", in: fixture.service, at: Self.past)
            let first = try await store.createFence(circle(radius: 200), in: fixture.service, at: Self.past)
            let agent = try await connect(fixture)
            let whole = try await delivery(agent)
            #expect(whole.base == 0)
            #expect(whole.version == UInt64(first.version))
            #expect(whole.fences.map(\.fence.definition.name) == ["depot"])
            #expect(whole.fences.first?.since == Self.past)
            let named = try await store.createFence(
                circle(radius: 50, everyone: false), in: fixture.service, at: Fixture.now)
            let more = try await delivery(agent)
            #expect(more.base == whole.version)
            #expect(more.version == UInt64(named.version))
            #expect(more.fences.map(\.fence.id) == [2])
            _ = try await store.deleteFences(
                matching: FenceFilter(fences: [1]), in: fixture.service, at: Fixture.now)
            let less = try await delivery(agent)
            #expect(less.removed == [1])
            #expect(less.fences.isEmpty)
            await agent.close()
            // The next session begins with the version that the agent has.
            _ = try await store.createFence(circle(radius: 70), in: fixture.service, at: Fixture.now)
            let again = try await connect(fixture, version: less.version)
            let difference = try await delivery(again)
            #expect(difference.base == less.version)
            #expect(difference.fences.map(\.fence.id) == [3])
            await again.close()
            // A version that the store does not know.
            let stranger = try await connect(fixture, version: 77)
            let all = try await delivery(stranger)
            #expect(all.base == 0)
            #expect(all.fences.map(\.fence.id).sorted() == [2, 3])
            await stranger.close()
        }
    }

    @Test func pointsAreJudgedByTheFencesThatTheVehicleHad() async throws {
        try await Fixture.run { fixture in
            let store = fixture.store
            try await store.haveEntity(named: "car", in: fixture.service, at: Self.past)
            let wide = try await store.createFence(circle(radius: 200), in: fixture.service, at: Self.past)
            _ = try await store.updateFence(
                1, to: circle(radius: 1), expecting: wide.version, in: fixture.service,
                at: Timestamp(milliseconds: time(1000)))
            let agent = try await connect(fixture, version: UInt64(wide.version))
            var upload = Upload(BatchCodec.encode(track(950...1050)), firstSequence: 1)
            var use = FenceUse()
            use.version = UInt64(wide.version)
            upload.fenceUses = [use]
            agent.send(.upload(upload))
            var pushes: [Push] = []
            while pushes.count < 2 {
                guard let frame = await agent.next() else { throw Unexpected(message: "the connection ended") }
                if case .push(let push)? = frame.message { pushes.append(push) }
            }
            let alarms = try await store.alarms(
                in: fixture.service, matching: AlarmFilter(includesStale: true), page: Page(offset: 0, limit: 9)
            ).alarms.map(\.alarm)
            #expect(alarms.map(\.action) == [.enter, .exit])
            #expect(alarms.map(\.revision) == [1, 1])
            #expect(alarms.map(\.isStale) == [false, true])
            #expect(zip(pushes, alarms).allSatisfy { $0.json.contains($1.key.text) })
            await agent.close()
        }
    }

    @Test func alarmsThatTheServerCannotFindAreStored() async throws {
        try await Fixture.run { fixture in
            let agent = try await connect(fixture)
            let key = try #require(AlarmKey(bytes: [UInt8](repeating: 7, count: 16)))
            let json = """
                {"action":"enter","fence_id":4,"fence_name":"yard","revision":2,"monitored_person":"car",
                "key":"\(key.text)","alarm_point":{"latitude":31.5,"longitude":121.25,"radius":5,"loc_time":1790000000},
                "crossing":{"time":1790000000123,"latitude":31.5,"longitude":121.25,"estimated":true},
                "params":{"bay":7}}
                """
            var upload = AlarmUpload()
            upload.id = 5
            let other = [UInt8](repeating: 8, count: 16)
            upload.alarms = [
                UploadedAlarm(key: key.bytes, type: 4, json: json), UploadedAlarm(key: other, type: 4, json: json),
                UploadedAlarm(key: other, type: 9, json: json), UploadedAlarm(key: other, type: 4, json: "[1"),
            ]
            for id in 5...6 as ClosedRange<UInt64> {
                upload.id = id
                agent.send(.alarmUpload(upload))
                var answer: AlarmUploadAck?
                while answer == nil {
                    guard let frame = await agent.next() else { throw Unexpected(message: "the connection ended") }
                    if case .alarmUploadAck(let ack)? = frame.message { answer = ack }
                }
                #expect(answer?.id == id)
                #expect(answer?.refused.map(\.keyBytes) == [other, other, other])
            }
            let alarms = try await fixture.store.alarms(
                in: fixture.service, matching: AlarmFilter(entity: "car"), page: Page(offset: 0, limit: 9)
            ).alarms.map(\.alarm)
            #expect(alarms.map(\.key) == [key])
            #expect(alarms.first?.isReported == true)
            #expect(alarms.first?.source == .local)
            #expect(alarms.first?.parameters == "{\"bay\":7}")
            #expect(alarms.first?.point.accuracy == 50)
            await agent.close()
        }
    }

    private static func reported(_ mark: UInt8, type: UInt32 = 4, to names: [String]) throws -> UploadedAlarm {
        let key = try #require(AlarmKey(bytes: [UInt8](repeating: mark, count: 16)))
        let json = """
            {"action":"enter","fence_id":4,"fence_name":"yard","revision":2,"monitored_person":"car","key":"\(key.text)",
            "alarm_point":{"latitude":31.5,"longitude":121.25,"radius":5,"loc_time":1790000000},
            "crossing":{"time":1790000000123,"latitude":31.5,"longitude":121.25,"estimated":true},
            "remote":true,"params":{"bay":7}}
            """
        return UploadedAlarm(key: key.bytes, type: type, json: json, remoteTo: names)
    }

    /// A vehicle's own fence may say that others hear of its alarms: those of the service, once.
    @Test func othersHearOfAReportedAlarm() async throws {
        try await Fixture.run { fixture in
            let store = fixture.store
            for name in ["car", "bus", "cab"] {
                try await store.haveEntity(named: name, in: fixture.service, at: Self.past)
            }
            let other = try await store.createService(named: "other", at: Self.past).id
            for name in ["bus", "tram"] { try await store.haveEntity(named: name, in: other, at: Self.past) }
            try await store.setCallback(
                CallbackTarget(url: "https://example.org/", secret: "x"), of: fixture.service)
            let agent = try await connect(fixture)
            var upload = AlarmUpload()
            let crowd = (1...FenceReaction.mostRemote + 1).map { "bus-\($0)" }
            upload.alarms = [
                try Self.reported(1, to: ["bus", "tram", "car", "bus"]), try Self.reported(2, to: []),
                try Self.reported(3, to: crowd), try Self.reported(4, to: ["a,b"]),
                try Self.reported(5, type: 3, to: ["bus"]), try Self.reported(6, to: ["car"]),
            ]
            // The second is the same message without its answer: nothing comes of it.
            for id in 1...2 as ClosedRange<UInt64> {
                upload.id = id
                agent.send(.alarmUpload(upload))
                var answer: AlarmUploadAck?
                while answer == nil {
                    guard let frame = await agent.next() else { throw Unexpected(message: "the connection ended") }
                    if case .alarmUploadAck(let ack)? = frame.message { answer = ack }
                }
                #expect(answer?.refused.map { $0.keyBytes.first } == [3, 4, 5])
                #expect(answer?.refused.map { $0.reason.contains("101 entities") } == [true, false, false])
            }
            let pushes = try await store.pushes(
                in: fixture.service, matching: PushFilter(), at: Fixture.now, page: Page(offset: 0, limit: 9)
            ).pushes
            #expect(pushes.map(\.entity) == ["bus"])
            let push = try #require(pushes.first)
            let key = try #require(AlarmKey(bytes: [UInt8](repeating: 1, count: 16)))
            #expect(push.push.type == 4 && Int64(push.push.id) == key.pushID(to: "bus"))
            let body = try JSONReader.value(of: Array(push.push.body.utf8))
            #expect(body["monitored_person"] == "car" && body["remote"] == true && body["params"] == ["bay": 7])
            #expect(body["alarm_point"]?["create_time"] == .integer(Fixture.now.seconds))
            let elsewhere = try await store.pushes(
                in: other, matching: PushFilter(), at: Fixture.now, page: Page(offset: 0, limit: 9))
            #expect(elsewhere.total == 0)
            // The operator's URL hears of each reported alarm, remote or not.
            let claim = try await store.claimCallbacks(
                of: fixture.service, by: 1, at: Fixture.now, through: Fixture.now, limit: 9)
            #expect(claim?.callbacks.map { $0.alarm.alarm.key.bytes.first } == [1, 2, 6])
            await agent.close()
        }
    }

    @Test func anAgentThatTakesNoFencesGetsNone() async throws {
        try await Fixture.run { fixture in
            try await fixture.store.haveEntity(named: "car", in: fixture.service, at: Self.past)
            _ = try await fixture.store.createFence(circle(radius: 200), in: fixture.service, at: Self.past)
            let agent = try await fixture.login()
            agent.send(.heartbeat(Heartbeat()))
            guard case .heartbeat? = await agent.next()?.message else {
                throw Unexpected(message: "an old agent got something else than the answer to its heartbeat")
            }
            agent.send(.fenceRequest(FenceRequest()))
            guard case .closing(let closing)? = await agent.next()?.message else {
                throw Unexpected(message: "a frame without a fence_format was taken")
            }
            #expect(closing.code == .protocol)
            await agent.close()
        }
    }

    @Test func aLyingVehicleHurtsOnlyItself() async throws {
        try await Fixture.run { fixture in
            try await fixture.store.haveEntity(named: "car", in: fixture.service, at: Self.past)
            _ = try await fixture.store.createFence(circle(radius: 200), in: fixture.service, at: Self.past)
            let agent = try await connect(fixture)
            var upload = Upload(BatchCodec.encode(track(950...1050)), firstSequence: 1)
            for version in [1, 77, .max] as [UInt64] {
                var use = FenceUse()
                (use.version, use.base, use.after) = (version, .max, time(900))
                upload.fenceUses.append(use)
            }
            agent.send(.upload(upload))
            while true {
                guard let frame = await agent.next() else { throw Unexpected(message: "the connection ended") }
                if case .uploadAck(let ack)? = frame.message {
                    #expect(ack.storedThrough == 101)
                    break
                }
            }
            // Versions that nobody knows: the present fences judge.
            let alarms = try await fixture.store.alarms(
                in: fixture.service, matching: AlarmFilter(), page: Page(offset: 0, limit: 9))
            #expect(alarms.alarms.map(\.alarm.action) == [.enter, .exit])
            // So many versions that only the newest count: the track goes on.
            upload.firstSequence = 102
            upload.fenceUses = (1...1000 as ClosedRange<UInt64>).map { number in
                var use = FenceUse()
                (use.version, use.after) = (number, time(900))
                return use
            }
            agent.send(.upload(upload))
            while true {
                guard let frame = await agent.next() else { throw Unexpected(message: "the connection ended") }
                if case .uploadAck(let ack)? = frame.message, ack.storedThrough == 202 { break }
            }
            upload.firstSequence = 203
            upload.fenceUses[upload.fenceUses.count - 2].after = time(2000)
            agent.send(.upload(upload))
            while let frame = await agent.next() {
                if case .closing(let closing)? = frame.message { #expect(closing.code == .protocol) }
            }
        }
    }
}
