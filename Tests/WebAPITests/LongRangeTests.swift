import JSON
import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

/// `long_range`: one answer about several days.
@Suite(.timeLimit(.minutes(10))) struct LongRangeTests {
    private static let begin = TrackMaker.begin
    private static let day: Int64 = 86_400
    private static let seeds: [UInt64] = [1, 2, 3, 5_573_738_201_264_983_469, 588_748_261_116_444_088]
    /// Every call that takes the parameter.
    private static let paths = Endpoint.all.filter { $0.parameters.contains(TrackRange.long) }.map(\.path).sorted()

    private func bench(
        _ points: [TrackPoint], most: Int? = nil, store: any TrackStore = TestStore()
    ) async throws -> Bench {
        var options = WebAPIOptions(maximumRawPoints: 200, maximumProcessedPoints: 100)
        if let most { options.maximumLongPoints = most } else { options = WebAPIOptions() }
        let bench = try await Bench(options, store: store)
        try await bench.upload("van", points)
        return bench
    }

    /// Asks about whole seconds after the begin of the track.
    private func ask(
        _ bench: Bench, _ path: String, _ range: ClosedRange<Int64>, _ more: String = "long_range=1"
    ) async throws -> JSONValue {
        let text = await bench.text(
            path,
            "entity_name=van&coord_type_output=wgs84&start_time=\(Self.begin + range.lowerBound)"
                + "&end_time=\(Self.begin + range.upperBound)&\(more)")
        return try JSONReader.value(of: Array(text.utf8), JSONRules(maximumBytes: 64 << 20, maximumValues: .max))
    }

    // MARK: The rule of 24 hours

    @Test func onlyReadingsOfTracksTakeIt() {
        #expect(
            Self.paths == [
                "analysis/drivingbehavior", "analysis/staypoint", "analysis/trips", "track/getdistance",
                "track/gettrack",
            ])
    }

    @Test(arguments: paths) func withoutItNothingIsLongerThanADay(_ path: String) async throws {
        let bench = try await bench([point(Self.begin, 52, 4)])
        for (query, status) in [
            ("", Int64(3200)), ("long_range=0", 3200), ("long_range=false", 3200), ("long_range=", 3200),
            ("long_range=1", 0), ("long_range=true", 0), ("long_range=2", 2), ("long_range=week", 2),
            ("long_range=-1", 2),
        ] {
            let answer = try await ask(bench, path, 0...Self.day + 1, query)
            #expect(answer.status == status, "\(query): \(answer)")
            guard status == 2 else { continue }
            #expect(answer["message"]?.stringValue?.contains("long_range must be 0 or 1") == true, "\(answer)")
        }
        #expect(try await ask(bench, path, 0...Self.day, "").status == 0)
        let refusal = try await ask(bench, path, 0...Self.day + 1, "")
        #expect(refusal["message"]?.stringValue == APIStatus.rangeTooLong.message)
    }

    @Test(arguments: paths) func aRangeThatIsNoneIsRefusedAllTheSame(_ path: String) async throws {
        let bench = try await bench([point(Self.begin, 52, 4)])
        for (times, status) in [
            ("start_time=2&end_time=1", Int64(3201)), ("start_time=1", 2), ("start_time=x&end_time=9", 2),
            ("start_time=-9223372036854775808&end_time=9223372036854775807", 3200),
            // As far as a difference is a number.
            ("start_time=-4000000000000000000&end_time=4000000000000000000", 0),
            ("start_time=0&end_time=9223372036854775807", 0), ("start_time=-9223372036854775808&end_time=-1", 0),
        ] {
            let answer = try await bench.get(path, "entity_name=van&\(times)&long_range=1&gap_content=1")
            #expect(answer.status == status, "\(times): \(answer)")
        }
        #expect(try await bench.get(path, "entity_name=bus&start_time=1&end_time=2&long_range=1").status == 3003)
    }

    @Test(arguments: paths) func tenYearsWithoutPointsAreAnEmptyAnswer(_ path: String) async throws {
        let bench = try await bench([point(Self.begin, 52, 4)])
        let answer = try await ask(bench, path, -3653 * Self.day...(-1), "long_range=1&gap_content=1")
        #expect(answer.status == 0)
        for name in ["total", "distance", "staypoint_num", "trip_num"] {
            #expect(answer[name] == nil || answer[name] == 0, "\(answer)")
        }
    }

    // MARK: The bound

    @Test(arguments: paths) func moreThanTheBoundIsRefusedAndNeverCut(_ path: String) async throws {
        let points = try (0..<500).map { try point(Self.begin + Int64($0) * 600, 52 + Double($0) / 1000, 4) }
        let bench = try await bench(points, most: 300)
        for query in ["", "&is_processed=1", "&gap_content=1"] {
            #expect(try await ask(bench, path, 0...299 * 600, "long_range=1\(query)").status == 0)
            let answer = try await ask(bench, path, 0...300 * 600, "long_range=1\(query)")
            #expect(answer.status == (path.hasPrefix("analysis") ? 9001 : 3006), "\(answer)")
            #expect(answer["message"]?.stringValue?.contains("more than 300 points: make the time") == true)
        }
        // One answer has all points that were left out, so there may be no more than on one day.
        for (last, status) in [(Int64(99), Int64(0)), (100, path.hasPrefix("analysis") ? 9001 : 3006)] {
            let answer = try await ask(bench, path, 0...last * 600, "long_range=1&is_processed=1&explain=points")
            #expect(answer.status == status, "\(answer)")
        }
        // The operator's bounds of a day stay.
        let usual = try await ask(bench, path, 0...143 * 600, "is_processed=1")
        #expect(usual.status == (path.hasPrefix("analysis") ? 9001 : 3006), "\(usual)")
    }

    // MARK: What it says

    @Test(arguments: seeds) func ofADayItIsTheUsualAnswer(seed: UInt64) async throws {
        print("a day of seed \(seed)")
        let bench = try await bench(TrackMaker.random(seed: seed, seconds: 86_000))
        for path in Self.paths {
            for query in ["", "&is_processed=1&explain=points&supplement_mode=straight&low_speed_threshold=30"] {
                let usual = try await ask(bench, path, 0...Self.day, "page_size=5000\(query)")
                let long = try await ask(bench, path, 0...Self.day, "page_size=5000&long_range=1\(query)")
                #expect(usual == long && usual.status == 0, "seed \(seed): \(path) \(query)")
            }
        }
    }

    @Test(arguments: seeds) func pagesHaveEveryPointOnceAndTheSumsAreThoseOfTheDays(seed: UInt64) async throws {
        print("days of seed \(seed)")
        let points = TrackMaker.random(seed: seed, seconds: 4 * Self.day)
        let bench = try await bench(points)
        var (times, page) = ([Int64](), Int64(0))
        repeat {
            page += 1
            let answer = try await ask(
                bench, "track/gettrack", 0...4 * Self.day, "long_range=1&page_size=700&page_index=\(page)")
            #expect(answer["total"]?.integerValue == Int64(points.count))
            times += answer["points"]?.items.compactMap { $0["loc_time"]?.integerValue } ?? []
        } while page * 700 < Int64(points.count)
        #expect(times == points.map(\.fix.time.seconds))
        // Parts that share a point have the way between them once.
        let halves = (1...7).compactMap { half in
            points.first { $0.fix.time.seconds >= Self.begin + Int64(half) * Self.day / 2 }
        }
        let ends = ([points[0]] + halves + [points[points.count - 1]]).map { $0.fix.time.seconds - Self.begin }
        for query in ["", "supplement_mode=straight&low_speed_threshold=30"] {
            var sums = ["distance": 0.0, "low_speed_distance": 0.0]
            for (first, last) in zip(ends, ends.dropFirst()) {
                let part = try await ask(bench, "track/getdistance", first...last, query)
                #expect(part.status == 0)
                for name in sums.keys { sums[name, default: 0] += part[name]?.doubleValue ?? 0 }
            }
            let whole = try await ask(bench, "track/getdistance", 0...4 * Self.day, "long_range=1&\(query)")
            for (name, sum) in sums {
                #expect(abs((whole[name]?.doubleValue ?? 0) - sum) < 0.01, "seed \(seed): \(name) \(whole) \(sum)")
            }
        }
    }

    /// What a day shows whole, hours from its ends, the answer about all days shows too.
    @Test(arguments: seeds) func staysAndTripsOfADayAreThoseOfAllDays(seed: UInt64) async throws {
        print("stays and trips of seed \(seed)")
        let bench = try await bench(TrackMaker.random(seed: seed, seconds: 4 * Self.day))
        for (path, list) in [("analysis/staypoint", "stay_points"), ("analysis/trips", "trips")] {
            func spans(_ answer: JSONValue) -> [ClosedRange<Int64>: String?] {
                let spans = (answer[list]?.items ?? []).compactMap { span -> (ClosedRange<Int64>, String?)? in
                    guard let start = span["start_time"]?.integerValue, let end = span["end_time"]?.integerValue else {
                        return nil
                    }
                    return (start - Self.begin...end - Self.begin, span["open"]?.stringValue)
                }
                return Dictionary(spans) { first, _ in first }
            }
            let whole = spans(try await ask(bench, path, 0...4 * Self.day))
            #expect(whole.values.count { $0 != nil } <= 2, "only the ends of the range cut")
            var seen = 0
            for start in stride(from: Int64(0), to: 3 * Self.day + 1, by: Int(Self.day) / 2) {
                for (span, open) in spans(try await ask(bench, path, start...start + Self.day, "")) {
                    guard open == nil, span.lowerBound > start + 7200, span.upperBound < start + Self.day - 7200 else {
                        continue
                    }
                    seen += 1
                    #expect(whole[span] != nil, "seed \(seed): \(path) \(span)")
                }
            }
            #expect(seen > 0, "seed \(seed): \(path)")
        }
    }

    @Test func whatGoesOnAtMidnightIsOne() async throws {
        var maker = TrackMaker(seed: 7)
        maker.stand(3600)
        maker.drive(Self.day - 7200)  // to 23:00
        maker.stand(7200)
        let (trip, parked) = (maker.time, maker.time + 85_000)
        maker.drive(85_000)
        maker.stand(8000)
        let bench = try await bench(maker.points)
        let end = maker.time - Self.begin
        let stays = try await ask(bench, "analysis/staypoint", 0...end)["stay_points"]?.items ?? []
        #expect(stays.map { $0["open"]?.stringValue } == ["start", nil, "end"], "\(stays)")
        let night = try #require(stays.dropFirst().first)
        #expect((night["start_time"]?.integerValue ?? 0) < Self.begin + Self.day - 3500)
        #expect((night["end_time"]?.integerValue ?? 0) > Self.begin + Self.day + 3500)
        // Each day alone has one that is cut.
        let first = try await ask(bench, "analysis/staypoint", 0...Self.day - 1, "")["stay_points"]?.items.last
        #expect(first?["open"] == "end")
        // The second trip passes midnight too.
        let trips = try await ask(bench, "analysis/trips", 0...end)["trips"]?.items ?? []
        #expect(trips.count == 2 && trips.allSatisfy { $0["open"] == nil }, "\(trips)")
        let second = try #require(trips.last)
        #expect(abs((second["start_time"]?.integerValue ?? 0) - trip) <= 60)
        #expect(abs((second["end_time"]?.integerValue ?? 0) - parked) <= 60)
        let metres = trips.reduce(0) { $0 + ($1["distance"]?.doubleValue ?? 0) }
        let length = try await ask(bench, "track/getdistance", 0...end, "long_range=1&is_processed=1")
        #expect(abs(metres - (length["distance"]?.doubleValue ?? 0)) < 300)
        let driving = try await ask(bench, "analysis/drivingbehavior", 0...end, "long_range=1&speeding_threshold=72")
        #expect(abs((driving["distance"]?.doubleValue ?? 0) - (length["distance"]?.doubleValue ?? 1)) < 1)
        #expect(driving["duration"]?.integerValue == end - 30)
        var events = 0
        for half in [0...Self.day, Self.day...end] {
            let part = try await ask(bench, "analysis/drivingbehavior", half, "long_range=1&speeding_threshold=72")
            events += Int(part["speeding_num"]?.integerValue ?? 0)
        }
        #expect(driving["speeding_num"]?.integerValue == Int64(events) && events > 0)
    }

    @Test func aGapAcrossMidnightIsOne() async throws {
        func gathered(_ time: Int64, since: Int64? = nil) throws -> TrackPoint {
            var made = try point(Self.begin + time, 52, 4)
            let spans = since.map {
                [GapSpan(.off, from: Timestamp(seconds: Self.begin + $0), until: made.fix.time, lostPoints: nil)]
            }
            made.continuity = Continuity(interval: 5, spans: spans ?? [])
            return made
        }
        let late = Self.day - 600
        let bench = try await bench([gathered(late), gathered(late + 5), gathered(3 * Self.day, since: late + 5)])
        let answer = try await ask(bench, "track/gettrack", late...3 * Self.day, "long_range=1&gap_content=1")
        let gaps = answer["gaps"]?.items ?? []
        #expect(gaps.count == 1 && gaps[0]["reason"] == "off", "\(gaps)")
        #expect(gaps.first?["start_time"]?.integerValue == Self.begin + late + 5)
        #expect(gaps.first?["end_time"]?.integerValue == Self.begin + 3 * Self.day)
    }

    // MARK: Several clients

    /// Counts the readings under way, and holds each for some turns of the others.
    private final class CountingStore: StoreDecorator {
        let inner: any EngineStore = TestStore()
        let counts = Mutex((now: 0, most: 0))

        func track(
            of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
        ) async throws(TrackStoreError) -> StoredTrack {
            counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            defer { counts.withLock { $0.now -= 1 } }
            for _ in 0..<200 { await Task.yield() }
            return try await inner.track(of: entity, in: service, from: from, through: through, limit: limit)
        }
    }

    @Test func longReadingsAreMadeOneAtATime() async throws {
        let store = CountingStore()
        let bench = try await bench(TrackMaker.random(seed: 11, seconds: 2 * Self.day), store: store)
        let alone = try await ask(bench, "analysis/trips", 0...2 * Self.day)
        #expect(alone["trip_num"]?.integerValue ?? 0 > 0)
        store.counts.withLock { $0 = (0, 0) }
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            // Of different ranges: one that is asked for twice is read once.
            for client in Int64(0)..<8 { group.addTask { try await ask(bench, "analysis/trips", -client...Self.day) } }
            for try await answer in group { #expect(answer.status == 0) }
        }
        #expect(store.counts.withLock { $0.most } == 1)
        // The same answers as alone, whoever asks meanwhile.
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<2 { group.addTask { try await ask(bench, "analysis/trips", 0...2 * Self.day) } }
            for try await answer in group { #expect(answer == alone) }
        }
    }

    /// A reading that waits for the store holds up no reading of a day.
    @Test func aReadingOfADayNeedsNoTurn() async throws {
        let bench = try await bench([point(Self.begin, 52, 4)])
        await bench.router.tracks.long.enter()
        defer { bench.router.tracks.long.leave() }
        #expect(try await ask(bench, "track/gettrack", 0...Self.day, "").status == 0)
    }
}
