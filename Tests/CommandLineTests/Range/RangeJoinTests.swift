import Geodesy
import JSON
import ProgramTestKit
import Testing
import TrackModel

@testable import SakerCommand

/// What parts of a range give together is what one request gives.
@Suite(.timeLimit(.minutes(5))) struct RangeJoinTests {
    /// Parts of five hours, so that a day has many cuts.
    private static let rule = RangeRule(longest: 18_000, lead: 7200)
    private static let seeds: [UInt64] = [1, 2, 3, 5_573_738_201_264_983_469, 588_748_261_116_444_088]

    private static func track(_ seed: UInt64) async throws -> ServedTrack {
        let points = TrackMaker.random(seed: seed, seconds: 86_000)
        return try await ServedTrack(points, through: ServedTrack.begin + 86_300)
    }

    private static func near(_ first: JSONValue?, _ second: JSONValue?, _ metres: Double) -> Bool {
        guard let first = first?.doubleValue, let second = second?.doubleValue else { return first == second }
        return abs(first - second) <= metres
    }

    @Test(arguments: seeds) func staysAreTheSame(seed: UInt64) async throws {
        print("stays of seed \(seed)")
        let track = try await Self.track(seed)
        for (least, within) in [(Int64(300), 50.0), (600, 20), (3600, 100)] {
            var whole = StayJoin(least: least, within: within, track.ask(86_400))
            var parts = StayJoin(least: least, within: within, rule: Self.rule, track.ask(Self.rule.longest))
            let one = try await whole.answer(track.range)["stay_points"]?.arrayValue ?? []
            let many = try await parts.answer(track.range)["stay_points"]?.arrayValue ?? []
            let note: Comment = "seed \(seed), \(least) s, \(within) m"
            try #require(one.count == many.count, note)
            for (own, other) in zip(one.map(Span.init), many.map(Span.init)) {
                #expect(own.isOpenAtStart == other.isOpenAtStart && own.isOpenAtEnd == other.isOpenAtEnd, note)
                if own.end - own.start < Self.rule.longest - Self.rule.lead {
                    #expect(own.start...own.end == other.start...other.end, note)
                } else {
                    // Of a stay that no part holds with its lead, each part has a circle of its own. It has fewer points
                    // to hold, so it may hold one more at an end, within the stay's diameter.
                    #expect(other.start <= own.start && other.end >= own.end, note)
                    let place = try #require(own.place)
                    for point in track.points.lazy.map(\.fix)
                    where (other.start...other.end).contains(point.time.seconds)
                        && !(own.start...own.end).contains(point.time.seconds)
                    {
                        #expect(SurfaceDistance.between(place, Degrees(point.coordinate)) <= 2 * within, note)
                    }
                }
                guard let first = own.place, let second = other.place else { continue }
                #expect(SurfaceDistance.between(first, second) < within, note)
            }
        }
    }

    @Test(arguments: seeds) func tripsAreTheSame(seed: UInt64) async throws {
        print("trips of seed \(seed)")
        let track = try await Self.track(seed)
        var whole = TripJoin(track.ask(86_400))
        var parts = TripJoin(rule: Self.rule, track.ask(Self.rule.longest))
        let one = try await whole.answer(track.range)["trips"]?.arrayValue ?? []
        let many = try await parts.answer(track.range)["trips"]?.arrayValue ?? []
        let texts = [one, many].map { list in
            list.map { "\($0["start_time"] ?? 0)...\($0["end_time"] ?? 0) \($0["open"] ?? "-")" }
        }
        // A trip that is longer than a part is put together.
        guard one.allSatisfy({ Span($0).end - Span($0).start < Self.rule.longest - 600 }) else {
            #expect(abs(one.count - many.count) <= 1, "seed \(seed): \(texts)")
            return
        }
        #expect(texts[0] == texts[1], "seed \(seed)")
        for (own, other) in zip(one, many) {
            for name in ["distance", "unrecorded_distance"] {
                #expect(Self.near(own[name], other[name], 60), "seed \(seed): \(own) \(other)")
            }
            // The speed of a way that nothing recorded is that between the places of two stops, which have their means.
            let isRecorded = own["distance"]?.doubleValue != 0
            #expect(
                Self.near(own["max_speed"], other["max_speed"], isRecorded ? 0 : 0.1), "seed \(seed): \(own) \(other)")
        }
    }

    private static let modes: [[(String, String)]] = [
        [], [("supplement_mode", "straight"), ("low_speed_threshold", "30")],
        [("is_processed", "1"), ("explain", "1"), ("supplement_mode", "straight")],
    ]

    @Test(arguments: seeds) func pointsAndSumsAreTheSame(seed: UInt64) async throws {
        print("tracks of seed \(seed)")
        let track = try await Self.track(seed)
        for parameters in Self.modes {
            var whole = JoinedTrack(track.ask(86_400), parameters: parameters, pagePoints: 1000)
            var parts = JoinedTrack(
                track.ask(Self.rule.longest), parameters: parameters, pagePoints: 700, rule: Self.rule)
            var (one, many): ([JSONValue], [JSONValue]) = ([], [])
            try await whole.read(track.range) { one += $0["points"]?.arrayValue ?? [] }
            try await parts.read(track.range) { many += $0["points"]?.arrayValue ?? [] }
            let (first, second) = (whole.summary, parts.summary)
            // The mean place of a stop that is longer than a part moves by some metres.
            let isProcessed = parameters.contains { $0.0 == "is_processed" }
            if isProcessed {
                #expect(abs(one.count - many.count) <= 20, "seed \(seed): \(one.count) \(many.count)")
                #expect(zip(many, many.dropFirst()).allSatisfy { Self.time($0) <= Self.time($1) })
            } else {
                #expect(one == many, "seed \(seed): \(one.count) \(many.count)")
                #expect(one.count == track.points.count)
            }
            for name in ["distance", "low_speed_distance"] {
                #expect(
                    Self.near(first[name], second[name], isProcessed ? 60 : 0.1),
                    "seed \(seed): \(name) \(first) \(second)")
            }
            #expect(first["dropped"]?["excursion"] == second["dropped"]?["excursion"], "seed \(seed)")
            var short = JoinedTrack(
                track.ask(Self.rule.longest), parameters: parameters, pagePoints: 1, rule: Self.rule)
            try await short.read(track.range, withPages: false) { _ in Issue.record("a page") }
            #expect(short.summary["distance"] == second["distance"], "seed \(seed)")
        }
    }

    private static func time(_ point: JSONValue) -> Int64 { point["loc_time"]?.integerValue ?? 0 }

    @Test(arguments: seeds) func drivingIsTheSame(seed: UInt64) async throws {
        print("driving of seed \(seed)")
        var maker = TrackMaker(seed: seed)
        while maker.time < ServedTrack.begin + 12_000 {
            maker.drive(maker.chance(900...4000), every: 2)
            maker.stand(maker.chance(60...900))
        }
        let track = try await ServedTrack(maker.points, through: ServedTrack.begin + 20_000)
        let rule = RangeRule(longest: 4000, lead: 1200)
        let parameters = [("speeding_threshold", seed % 2 == 0 ? "36" : "72")]
        var whole = DrivingJoin(parameters: parameters, track.ask(86_400))
        var parts = DrivingJoin(parameters: parameters, rule: rule, track.ask(rule.longest))
        let one = try await whole.answer(track.range)
        let many = try await parts.answer(track.range)
        for list in ["harsh_acceleration", "harsh_breaking", "harsh_steering", "speeding"] {
            #expect(one[list]?.arrayValue?.count == many[list]?.arrayValue?.count, "seed \(seed): \(list)")
            #expect(one["\(list)_num"] == many["\(list)_num"], "seed \(seed): \(list)")
        }
        #expect(one["harsh_breaking"] == many["harsh_breaking"] && one["harsh_breaking_num"] != 0, "seed \(seed)")
        #expect(one["max_speed"] == many["max_speed"] && one["duration"] == many["duration"], "seed \(seed)")
        #expect(Self.near(one["distance"], many["distance"], 0.1), "seed \(seed)")
        #expect(one["start_point"] == many["start_point"] && one["end_point"] == many["end_point"])
    }

    /// A part has no memory of the one before, and a day has: the same requests without a joiner.
    @Test func partsThatAreOnlyPutBesideEachOtherAreWrong() async throws {
        var maker = TrackMaker(seed: 7)
        maker.drive(17_000)
        maker.stand(2000)
        maker.drive(3000)
        let track = try await ServedTrack(maker.points, through: maker.time)
        let ask = track.ask(18_000)
        let cut = ServedTrack.begin + 18_000
        let halves = [track.range.lowerBound...cut, cut + 1...track.range.upperBound]
        var stays: [JSONValue] = []
        for half in halves {
            stays += try await ask("analysis/staypoint", half, [("stay_time", "600")])["stay_points"]?.arrayValue ?? []
        }
        #expect(stays.count == 2)
        var joined = StayJoin(least: 600, within: 20, rule: Self.rule, ask)
        let answer = try await joined.answer(track.range)
        #expect(answer["staypoint_num"] == 1 && answer["stay_points"]?.arrayValue?.first?["open"] == nil, "\(answer)")
    }
}
