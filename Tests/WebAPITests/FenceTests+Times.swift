import Geofencing
import Ingest
import JSON
import Logging
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

/// Fences and alarms by their times.
extension FenceTests {
    /// Points have whole seconds, and fences are made in between: who makes a fence and uploads a point at once expects an answer.
    @Test(arguments: ["&monitored_person=van", "&monitored_person=%23allentity", ""])
    func aPointOfTheSecondInWhichAFenceIsMadeIsJudged(person: String) async throws {
        let bench = try await bench()
        let router = APIRouter(
            store: bench.store, ingest: bench.ingest, options: WebAPIOptions(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { Timestamp(milliseconds: Bench.now.milliseconds + 700) })
        func send(_ path: String, _ query: String) async throws -> JSONValue {
            let target = "/api/v3/\(path)?ak=\(Bench.key)&service_id=\(bench.service.rawValue)&\(query)"
            let body = await router.respond(to: APIRequest(method: "GET", target: target)).body
            let answer = try JSONReader.value(of: body, .requests)
            #expect(answer.status == 0, "\(path) \(answer)")
            return answer
        }
        let now = Bench.now.seconds
        func upload(_ second: Int64, _ latitude: String) async throws {
            _ = try await send(
                "track/addpoint", "entity_name=van&loc_time=\(second)&latitude=\(latitude)&longitude=116.31")
        }
        try await upload(now - 60, "40.2")
        _ = try await send("fence/createcirclefence", Self.circle + person)
        if person.isEmpty {
            _ = try await send("fence/addmonitoredperson", "fence_id=1&monitored_person=van")
        }
        try await upload(now, "40.05")
        let status = try await send("fence/querystatus", "monitored_person=van&fence_ids=1")
        #expect(status["monitored_statuses"]?.items.first?["monitored_status"] == "in", "\(status)")
        // The way out of it is an alarm; the first place was none.
        try await upload(now + 30, "40.2")
        try await upload(now + 60, "40.2")
        let alarms = try await send("fence/historyalarm", "monitored_person=van")
        #expect(alarms["alarms"]?.items.map { $0["action"] } == ["exit"], "\(alarms)")
    }

    /// Who asks without pages wants the newest alarms, and is told that older ones are missing.
    @Test func aLongHistoryHasItsNewestAlarms() async throws {
        let bench = try await bench()
        let place = try #require(Coordinate(latitude: 40, longitude: 116))
        let most = FenceLimits.mostAlarms
        func store(_ numbers: Range<Int>) async throws {
            let alarms = try numbers.map { number -> CausedAlarm in
                let mark = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
                let key = try #require(AlarmKey(bytes: mark + [UInt8](repeating: 7, count: 12)))
                let time = Timestamp(seconds: Bench.now.seconds - 100_000 + Int64(number))
                return CausedAlarm(
                    Alarm(
                        key: key, source: .server, fence: 1, revision: 1, name: "depot", action: .enter,
                        point: AlarmPoint(time: time, place: place, received: time),
                        crossing: Crossing(time: time, place: place, isEstimated: true, earliest: time, latest: time)))
            }
            let batch = IngestBatch(
                service: bench.service, entity: "van", position: nil,
                points: [
                    TrackPoint(Fix(time: Bench.now.adding(milliseconds: Int64(numbers.lowerBound)), coordinate: place))
                ],
                sequences: [], payload: nil, received: Bench.now, alarms: alarms)
            guard case .stored? = await bench.store.ingest([batch]).first else {
                Issue.record("the alarms are not stored")
                return
            }
        }
        try await store(0..<most)
        let rules = JSONRules(
            maximumBytes: 64 << 20, maximumDepth: 8, maximumValues: 1 << 20, repeatedMembers: .lastCounts,
            largeIntegers: .doubles)
        func ask() async throws -> JSONValue {
            try JSONReader.value(of: Array(await bench.text("fence/historyalarm", "monitored_person=van").utf8), rules)
        }
        var answer = try await ask()
        #expect(answer["alarms"]?.items.count == most && answer["total"] == nil && answer["left_out"] == nil)
        try await store(most..<most + 3)
        answer = try await ask()
        let alarms = answer["alarms"]?.items ?? []
        #expect(alarms.count == most)
        #expect(answer["total"] == .integer(Int64(most + 3)) && answer["left_out"] == 3)
        let times = alarms.compactMap { $0["alarm_point"]?["loc_time"]?.integerValue }
        let first = Bench.now.seconds - 100_000
        #expect(times.first == first + 3 && times.last == first + Int64(most) + 2 && times == times.sorted())
    }

    /// The message has the coordinates that the client sent, in every datum.
    @Test(arguments: ["wgs84", "gcj02", "bd09ll"])
    func aPolygonThatCrossesItselfIsRefusedInEveryDatum(type: String) async throws {
        let bench = try await bench()
        let bowTie = "vertexes=39.8,116.2;40,116.5;39.8,116.5;40,116.2"
        for answer in [
            try await bench.post("fence/createpolygonfence", bowTie + "&coord_type=\(type)"),
            try await bench.get(
                "entity/polygonsearch",
                bowTie.replacing("40,", with: "39.9,") + "&coord_type_input=\(type)"),
        ] {
            let message = answer["message"]?.stringValue ?? ""
            #expect(answer.status == 2, "\(message)")
            #expect(message.contains("(39.8, 116.2 to "), "\(message)")
            #expect(message.contains("116.35: no two edges of a shape may cross"), "\(message)")
        }
    }
}

// Calls through a vehicle's connection.
extension FenceTests {
    @Test func aVehicleMayAskAboutItsOwnFencesAlone() async throws {
        let bench = try await bench()
        let own = try await make(bench, "circle", Self.circle + "&monitored_person=van")
        let other = try await make(bench, "circle", Self.circle + "&monitored_person=bus")
        func call(_ path: String, _ parameters: [String: String]) async -> Int {
            await bench.router.call(
                service: bench.service, entity: "van", path: path, parameters: parameters, policy: .entity
            ).status
        }
        #expect(await call("fence/list", ["monitored_person": "van"]) == 0)
        #expect(await call("fence/list", ["monitored_person": "bus"]) == 240)
        #expect(await call("fence/list", ["fence_ids": "\(own)"]) == 240)
        #expect(await call("fence/querystatus", ["monitored_person": "van"]) == 0)
        #expect(await call("fence/historyalarm", ["monitored_person": "bus"]) == 240)
        #expect(await call("fence/batchhistoryalarm", ["start_time": "1", "end_time": "2"]) == 240)
        let circle = ["latitude": "40", "longitude": "116", "radius": "5"]
        #expect(await call("fence/createcirclefence", circle) == 240)
        #expect(await call("fence/createcirclefence", circle.merging(["monitored_person": "van"]) { $1 }) == 0)
        #expect(await call("fence/createcirclefence", circle.merging(["monitored_person": "van,bus"]) { $1 }) == 240)
        // The operator made the first one, and the vehicle the third.
        #expect(await call("fence/updatecirclefence", ["fence_id": "\(own)", "radius": "6"]) == 240)
        #expect(await call("fence/updatecirclefence", ["fence_id": "3", "radius": "6"]) == 0)
        #expect(await call("fence/updatecirclefence", ["fence_id": "\(other)", "radius": "6"]) == 240)
        #expect(await call("fence/updatecirclefence", ["fence_id": "\(own)", "monitored_person": "bus"]) == 240)
        #expect(await call("fence/addmonitoredperson", ["fence_id": "\(own)", "monitored_person": "bus"]) == 240)
        let shared = try await make(bench, "circle", Self.circle + "&monitored_person=van,bus")
        #expect(await call("fence/delete", ["monitored_person": "van", "fence_ids": "\(shared)"]) == 240)
        #expect(await call("fence/delete", ["monitored_person": "van"]) == 240)
        #expect(await call("fence/delete", ["monitored_person": "van", "fence_ids": "3"]) == 0)
    }
}
