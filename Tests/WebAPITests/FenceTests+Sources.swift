import Geofencing
import Ingest
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

/// Alarms of the server's fences and of vehicles' own, which have the same numbers.
extension FenceTests {
    /// Alarms of the server's fence 1, and of the fence 1 of the vehicle.
    private func benchWithBoth() async throws -> Bench {
        let bench = try await bench()
        let place = try #require(Coordinate(latitude: 40, longitude: 116))
        func alarm(_ mark: UInt8, _ source: AlarmScope.Source) throws -> Alarm {
            let key = try #require(AlarmKey(bytes: [UInt8](repeating: mark, count: 16)))
            let time = Bench.now
            return Alarm(
                key: key, source: source, fence: 1, revision: 7, name: "depot", action: .enter,
                point: AlarmPoint(time: time, place: place, received: time),
                crossing: Crossing(time: time, place: place, isEstimated: true, earliest: time, latest: time))
        }
        let server = try alarm(1, .server)
        var own = try alarm(2, .local)
        own.isReported = true
        own.action = .stay
        (own.inside, own.skipped, own.speedLimit) = (1500, 29, 1389)
        let time = Bench.now.milliseconds
        own.crossing = Crossing(
            time: Timestamp(milliseconds: time - 5), place: place, isEstimated: false,
            earliest: Timestamp(milliseconds: time - 9000), latest: Timestamp(milliseconds: time))
        let batch = IngestBatch(
            service: bench.service, entity: "van", position: nil,
            points: [TrackPoint(Fix(time: Bench.now, coordinate: place))], sequences: [], payload: nil,
            received: Bench.now, alarms: [CausedAlarm(server), CausedAlarm(own)])
        guard case .stored? = await bench.store.ingest([batch]).first else {
            Issue.record("the alarms are not stored")
            return bench
        }
        return bench
    }

    @Test func alarmsSayWhoseFenceItIs() async throws {
        let bench = try await benchWithBoth()
        let alarms = try await bench.get("fence/historyalarm", "monitored_person=van")["alarms"]?.items ?? []
        #expect(alarms.map { $0["alarm_source"] } == ["server", "vehicle"])
        #expect(alarms.map { $0["revision"] } == [7, 7])
        #expect(alarms.map { $0["skipped"] } == [nil, 29])
        #expect(alarms.last?["speed_limit"]?.doubleValue == 13.89)
        #expect(alarms.last?["inside"] == 1500)
        let time = Bench.now.milliseconds
        #expect(alarms.last?["crossing"]?["earliest"] == .integer(time - 9000))
        #expect(alarms.last?["crossing"]?["latest"] == .integer(time))
        #expect(alarms.first?["crossing"]?["earliest"] == nil && alarms.first?["speed_limit"] == nil)
        // As the operator's URL gets it.
        let stored = try await bench.store.alarms(
            in: bench.service, matching: AlarmFilter(), page: Page(offset: 0, limit: 9)
        ).alarms
        var writer = JSONWriter()
        writer.array { list in for record in stored { list.object { AlarmWriter.callbacks.write(record, to: &$0) } } }
        let told = try JSONReader.value(of: writer.bytes).items
        #expect(told.map { $0["alarm_source"] } == ["server", "vehicle"])
    }

    @Test func numbersOfFencesAreTheServers() async throws {
        let bench = try await benchWithBoth()
        let times = "start_time=\(Bench.now.seconds - 60)&end_time=\(Bench.now.seconds)"
        for (path, query, wanted) in [
            ("historyalarm", "monitored_person=van", ["server", "vehicle"]),
            ("historyalarm", "monitored_person=van&fence_ids=1", ["server"]),
            ("historyalarm", "monitored_person=van&fence_ids=1&alarm_source=all", ["server", "vehicle"]),
            ("historyalarm", "monitored_person=van&fence_ids=1&alarm_source=vehicle", ["vehicle"]),
            ("historyalarm", "monitored_person=van&fence_ids=2&alarm_source=vehicle", []),
            ("historyalarm", "monitored_person=van&alarm_source=server", ["server"]),
            ("batchhistoryalarm", times, ["server", "vehicle"]),
            ("batchhistoryalarm", times + "&alarm_source=vehicle", ["vehicle"]),
        ] as [(String, String, [JSONValue])] {
            let answer = try await bench.get("fence/\(path)", query)
            #expect(answer["alarms"]?.items.map { $0["alarm_source"] } == wanted, "\(path) \(query): \(answer)")
        }
        for path in ["historyalarm?monitored_person=van", "batchhistoryalarm?\(times)"] {
            let parts = path.split(separator: "?").map(String.init)
            #expect(try await bench.get("fence/\(parts[0])", parts[1] + "&alarm_source=3").status == 2)
        }
    }
}
