import Ingest
import JSON
import Testing
import TrackAnalysis
import TrackModel
import TrackStore

@testable import WebAPI

@Suite("Frequent routes")
struct FrequentRouteTests {
    /// 2026-03-01 00:00:00 in Beijing.
    private static let day0: Int64 = 1_772_294_400

    /// A drive of 4 km at 10 m/s, a point every 10 s, ten minutes of standing before and after it; `east` or northwards.
    private func drive(_ day: Int64, hour: Double, east: Bool, back: Bool = false) throws -> [TrackPoint] {
        let start = Self.day0 + day * 86_400 + Int64(hour * 3600)
        return try (-60...100).map { step in
            let along = Double(max(0, min(40, step))) * 100 / 111_195
            let way = back ? 4000 / 111_195 - along : along
            var made = try point(
                start + Int64(step) * 10, 40 + (east ? 0 : way), 116 + (east ? way / 0.766 : 0),
                speed: (1...40).contains(step) ? 1000 : 0)
            made.fix.course = east ? 900 : 0
            made.fix.altitude = 500
            made.attributes = ["fuel": .integer(5)]
            return made
        }
    }

    private func bench() async throws -> Bench {
        let bench = try await Bench()
        var points: [TrackPoint] = []
        for day in [0, 1, 2] as [Int64] { points += try drive(day, hour: 8 + Double(day) / 4, east: true) }
        points += try drive(1, hour: 17, east: true)
        points += try drive(2, hour: 17, east: false)
        for start in stride(from: 0, to: points.count, by: 500) {
            try await bench.upload("van", Array(points[start..<min(start + 500, points.count)]))
        }
        return bench
    }

    private func query(_ minutes: String = "60", _ more: String = "", days: Int64 = 3) -> String {
        "entity_name=van&start_time=\(Self.day0)&end_time=\(Self.day0 + days * 86_400)&time_range=\(minutes)&\(more)"
    }

    /// What the server does with a job that waits.
    private func compute(_ bench: Bench) async throws {
        let time = Bench.now
        let job = try #require(try await bench.store.claimRouteJob(by: 1, at: time, through: time))
        let result = try await bench.router.frequentRoutes(job) { true }
        #expect(try await bench.store.settleRouteJob(job.number, by: 1, result, at: time))
    }

    private func routes(_ bench: Bench, _ query: String) async throws -> [JSONValue] {
        let created = try await bench.get("frequentroute/createjob", query)
        #expect(created.status == 0 && created["message"] == "成功", "\(created)")
        #expect(created["job_id"]?.integerValue != nil)
        let waiting = try await bench.get("frequentroute/getjob", query)
        #expect(waiting.status == 0 && waiting["message"] == "waiting" && waiting["data"] == nil, "\(waiting)")
        try await compute(bench)
        let answer = try await bench.get("frequentroute/getjob", query)
        #expect(answer.status == 0 && answer["message"] == "ok", "\(answer)")
        let routes = answer["data"]?["routes"]?.items ?? []
        #expect(answer["data"]?["total"] == .integer(Int64(routes.count)))
        return routes
    }

    @Test func tripsAreRoutesByTheirWayAndTheirDeparture() async throws {
        let routes = try await routes(try await bench(), query("60", "coord_type_output=wgs84"))
        #expect(routes.map { $0["frequency"]?.doubleValue } == [0.6, 0.2, 0.2])
        let first = try #require(routes.first)
        #expect(abs((first["distance"]?.doubleValue ?? 0) - 4000) < 20)
        #expect((390...420).contains(first["duration"]?.integerValue ?? 0), "\(first["duration"] ?? .null)")
        // The last fix at rest is where a trip begins; ten seconds later the vehicle moves.
        let departures = first["start_time_range"]?.stringValue ?? ""
        #expect(departures.firstMatch(of: /^0[78]:\d\d:\d\d,08:[23]\d:\d\d$/) != nil, "\(departures)")
        let arrivals = first["end_time_range"]?.stringValue ?? ""
        #expect(arrivals.firstMatch(of: /^08:0\d:\d\d,08:3\d:\d\d$/) != nil, "\(arrivals)")
        let points = first["points"]?.items ?? []
        #expect(points.count >= 40)
        #expect(first["start_point"]?["latitude"] == points.first?["latitude"])
        #expect(first["end_point"]?["longitude"] == points.last?["longitude"])
        let middle = points[points.count / 2]
        #expect(middle["speed"] == 36 && middle["direction"] == 90 && middle["height"] == 50, "\(middle)")
        #expect(middle["fuel"] == nil && middle["loc_time"]?.integerValue != nil)
        let times = points.compactMap { $0["loc_time"]?.integerValue }
        #expect(times == times.sorted())
    }

    @Test func aSpanOfADayPutsAllDeparturesTogether() async throws {
        let bench = try await bench()
        #expect(
            try await routes(bench, query("1440")).map { $0["frequency"]?.doubleValue } == [0.8, 0.2])
        #expect(
            try await routes(bench, query("20", "is_processed=1&process_option=need_denoise=1,need_vacuate=0"))
                .map { $0["frequency"]?.doubleValue } == [0.4, 0.2, 0.2, 0.2])
        // The same order has the same answer, in every datum.
        let other = try await bench.get("frequentroute/getjob", query("1440", "coord_type_output=wgs84"))
        #expect(other["message"] == "ok")
        let place = other["data"]?["routes"]?.items.first?["start_point"]?["latitude"]?.doubleValue ?? 0
        #expect(abs(place - 40) < 0.0001)
        let usual = try await bench.get("frequentroute/getjob", query("1440"))
        let shifted = usual["data"]?["routes"]?.items.first?["start_point"]?["latitude"]?.doubleValue ?? 0
        #expect(abs(shifted - 40) > 0.001)
    }

    @Test func anEntityWithoutTripsHasNoRoutes() async throws {
        let bench = try await bench()
        _ = try await bench.post("entity/add", "entity_name=idle")
        let query = query().replacing("=van", with: "=idle")
        #expect(try await routes(bench, query).isEmpty)
    }

    private static let changes: [(String, Int64)] = [
        ("entity_name=", 2), ("time_range=0", 2), ("time_range=1441", 2), ("time_range=", 2), ("time_range=x", 2),
        ("time_range=1.5", 2), ("start_time=", 2), ("end_time=x", 2), ("end_time=1", 3201),
        ("end_time=1774972801", 3200), ("end_time=1774972800", 0), ("is_processed=2", 2),
        ("supplement_mode=flying", 2), ("supplement_mode=walking", 0), ("coord_type_output=4", 2),
        ("entity_name=nobody", 3003), ("end_time=9223372036854775807", 3200),
    ]

    @Test(arguments: changes)
    func whatIsWrongIsNamed(change: String, status: Int64) async throws {
        let bench = try await bench()
        let name = String(change.prefix { $0 != "=" })
        let kept = query("60").split(separator: "&").filter { !$0.hasPrefix(name + "=") }.joined(separator: "&")
        let answer = try await bench.get("frequentroute/createjob", kept + "&" + change)
        #expect(answer.status == status, "\(answer)")
        if status == 2 { #expect(answer["message"]?.stringValue?.contains(name) == true, "\(answer)") }
        // Who asks without a job is told what to do.
        let other = try await bench.get("frequentroute/getjob", kept + "&" + change)
        #expect(other.status == (status == 0 ? 0 : status == 3003 ? 2 : status), "\(other)")
        let unasked = try await bench.get("frequentroute/getjob", query("61"))
        #expect(unasked.status == 2 && unasked["message"]?.stringValue?.contains("createjob") == true)
    }

    /// Who asks so is refused, and a job that is in the store all the same ends: it would keep every other one waiting.
    @Test func aRangeAtAnEndOfAllTimesIsRefusedAndItsJobEnds() async throws {
        let bench = try await bench()
        let lastSecond: Int64 = 253_402_300_799
        for time in [Int64.max, .min, lastSecond + 1] {
            let answer = try await bench.get(
                "frequentroute/createjob", "entity_name=van&start_time=\(time)&end_time=\(time)&time_range=5")
            #expect(answer.status == 2, "\(time): \(answer)")
            let message = answer["message"]?.stringValue ?? ""
            #expect(message.contains("end_time") && message.contains("9999"), "\(time): \(answer)")
        }
        let taken = try await bench.get(
            "frequentroute/createjob", "entity_name=van&start_time=\(lastSecond)&end_time=\(lastSecond)&time_range=5")
        #expect(taken.status == 0, "\(taken)")
        for (from, through) in [(Int64.max, Int64.max), (.max - 5, .max), (.min, .min), (.min, .min + 5)] {
            let order = RouteJobOrder(
                entity: "van", from: Timestamp(milliseconds: from), through: Timestamp(milliseconds: through),
                minutes: 5,
                processing: "no_supplement")
            let job = RouteJobRecord(
                number: 1, service: bench.service, order: order, created: Bench.now, modified: Bench.now,
                state: .running)
            var asked = 0
            let result = try await bench.router.frequentRoutes(job) {
                asked += 1
                return asked < 100
            }
            guard case .routes(let bytes)? = result else {
                Issue.record("\(from)...\(through): \(String(describing: result)) after \(asked) questions")
                continue
            }
            #expect(try FoundRoutes(encoded: bytes).routes.isEmpty)
        }
    }

    @Test func theSameOrderIsOneJobAndTooManyAreRefused() async throws {
        let bench = try await bench()
        var numbers: Set<Int64?> = []
        for _ in 0..<20 {
            numbers.insert(try await bench.get("frequentroute/createjob", query())["job_id"]?.integerValue)
        }
        #expect(numbers.count == 1)
        for minutes in 1..<RouteJobRules.mostUnfinished {
            #expect(try await bench.get("frequentroute/createjob", query("\(minutes)")).status == 0)
        }
        let refused = try await bench.get("frequentroute/createjob", query("99"))
        #expect(refused.status == 2 && refused["message"]?.stringValue?.contains("not done") == true, "\(refused)")
    }

    @Test func workThatIsStoppedIsNoResult() async throws {
        let bench = try await bench()
        _ = try await bench.get("frequentroute/createjob", query())
        let job = try #require(try await bench.store.claimRouteJob(by: 1, at: Bench.now, through: Bench.now))
        for steps in 0..<4 {
            var left = steps
            let result = try await bench.router.frequentRoutes(job) {
                left -= 1
                return left >= 0
            }
            #expect(result == nil)
        }
        let running = try await bench.get("frequentroute/getjob", query())
        #expect(running["message"] == "running" && running.status == 0)
        // The entity went while its routes were computed.
        try await bench.store.deleteEntity(named: "van", in: bench.service, at: Bench.now)
        #expect(try await bench.router.frequentRoutes(job) { true } == .refused(status: 3003, reason: ""))
    }

    @Test func aKeyThatMayReadMayAskAndAVehicleAsksForItself() async throws {
        let endpoint = try #require(Endpoint.named["frequentroute/createjob"])
        #expect(endpoint.scope == .read && endpoint.method == .get)
        let bench = try await bench()
        func call(_ name: String) async -> Int {
            await bench.router.call(
                service: bench.service, entity: "bus", path: "frequentroute/createjob",
                parameters: ["entity_name": name, "start_time": "1", "end_time": "2", "time_range": "5"],
                policy: .entity
            ).status
        }
        #expect(await call("van") == 240)
        #expect(await call("bus") == 3003)
    }

    @Test func whatIsKeptIsReadBackAndGarbageIsNoAnswer() throws {
        let fix = Fix(
            time: Timestamp(milliseconds: 1_772_294_400_123),
            coordinate: try #require(Coordinate(latitude: 39.9, longitude: 116.3)), speed: 1234, course: 10,
            altitude: -5)
        let found = FoundRoutes(
            trips: 3,
            routes: [
                FoundRoutes.Route(
                    trips: 2, distance: 12.5, duration: 60, departures: .init(earliest: 1, latest: 2),
                    arrivals: .init(earliest: 86_399, latest: 0),
                    points: [
                        .init(point: TrackPoint(fix, coordinateType: .bd09ll), supplement: nil),
                        .init(point: TrackPoint(Fix(time: fix.time, coordinate: fix.coordinate)), supplement: 2),
                    ])
            ], leftOut: 1, holes: [])
        #expect(try FoundRoutes(encoded: found.encoded) == found)
        #expect(FoundRoutes.text(.init(earliest: 25_731, latest: 48_752)) == "07:08:51,13:32:32")
        for length in [0, 1, 20, found.encoded.count - 1] {
            #expect(throws: APIFailure.self) { try FoundRoutes(encoded: Array(found.encoded.prefix(length))) }
        }
    }
}
