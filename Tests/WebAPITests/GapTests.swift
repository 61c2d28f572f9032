import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

@Suite("Gaps of tracks")
struct GapTests {
    private static let start: Int64 = 1_772_670_000

    /// Of an agent with an interval of five seconds; times in seconds after the start.
    private func gathered(_ time: Int64, _ spans: [(GapReason, Int64?, Int64)] = []) throws -> TrackPoint {
        var made = try point(Self.start + time, 0, 0)
        made.continuity = Continuity(
            interval: 5,
            spans: spans.map { reason, from, until in
                GapSpan(
                    reason, from: from.map { Timestamp(seconds: Self.start + $0) },
                    until: Timestamp(seconds: Self.start + until), lostPoints: reason.isLoss ? 7 : nil)
            })
        return made
    }

    private func gaps(_ bench: Bench, _ from: Int64, _ through: Int64, _ more: String = "") async throws -> [String] {
        let answer = try await bench.get(
            "track/gettrack",
            "entity_name=van&start_time=\(Self.start + from)&end_time=\(Self.start + through)&gap_content=1\(more)")
        #expect(answer.status == 0)
        return (answer["gaps"]?.items ?? []).map { gap in
            let start = (gap["start_time"]?.integerValue ?? 0) - Self.start
            let end = (gap["end_time"]?.integerValue ?? 0) - Self.start
            let lost = gap["lost_points"]?.integerValue.map { " (\($0))" } ?? ""
            return "\(gap["reason"]?.stringValue ?? "") \(start)-\(end)\(lost)"
        }
    }

    /// Sums of times stay at the ends of what 64 bits can say.
    @Test func aRangeAtAnEndOfAllTimesHasNoGaps() async throws {
        let bench = try await Bench()
        try await bench.upload("van", [gathered(0), gathered(900)])
        for (from, through) in [(Int64.min, Int64.min), (.min, .min + 7), (.max - 7, .max), (.max, .max)] {
            let answer = try await bench.get(
                "track/gettrack", "entity_name=van&start_time=\(from)&end_time=\(through)&gap_content=1")
            #expect(answer.status == 0, "\(from)...\(through): \(answer)")
            #expect(from > 0 || answer["gaps"]?.items == [], "\(from)...\(through): \(answer)")
        }
        // The first milliseconds that there are, with something before them.
        let store: any PointStore = bench.store
        for time in [0, 1, 600_000, 9 * 86_400_000].map({ Int64.min + $0 }) {
            let before = try await store.gatheredPoint(
                before: Timestamp(milliseconds: time), of: "van", in: bench.service, limit: 10)
            #expect(before.point == nil && before.holes.isEmpty)
            let isLater = try await store.hasPoints(
                before: Timestamp(milliseconds: time), of: "van", in: bench.service)
            #expect(!isLater)
        }
        let last = Timestamp(milliseconds: .max)
        for time in [0, 1, 600_000].map({ Int64.max - $0 }) {
            let after = try await store.gatheredPoint(
                from: Timestamp(milliseconds: time), through: last, of: "van", in: bench.service, limit: 10)
            #expect(after.point == nil && after.holes.isEmpty)
        }
    }

    @Test func whatElseIsKnownOfAReasonIsItsDetail() async throws {
        let bench = try await Bench()
        try await bench.upload(
            "van",
            [
                gathered(0),
                gathered(900, [(.offByPowerCut, 0, 300), (.off, 300, 600), (.stoppedByHook, 600, 900)]),
            ])
        let answer = try await bench.get(
            "track/gettrack",
            "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + 900)&gap_content=1")
        let found = (answer["gaps"]?.items ?? []).map { gap in
            [gap["reason"]?.stringValue, gap["detail"]?.stringValue]
        }
        #expect(found == [["off", "power_cut"], ["off", nil], ["stopped", "hook"]])
    }

    @Test func aTrackSaysWhyItHasHoles() async throws {
        let bench = try await Bench()
        try await bench.upload(
            "van",
            [
                gathered(0), gathered(5), gathered(600, [(.noFix, 5, 500), (.stopped, 500, 600)]), gathered(605),
                gathered(900, [(.cacheFull, nil, 900)]), gathered(1200), gathered(1500, [(.off, nil, 1500)]),
            ])
        #expect(
            try await gaps(bench, 0, 1500) == [
                "no_fix 5-500", "stopped 500-600", "cache_full 605-900 (7)", "lost 900-1200", "off 1200-1500",
            ])
        // The range cuts them, and what is told by a point behind the range counts.
        #expect(try await gaps(bench, 100, 550) == ["no_fix 100-500", "stopped 500-550"])
        #expect(try await gaps(bench, 700, 1300) == ["cache_full 700-900 (7)", "lost 900-1200", "off 1200-1300"])
        #expect(try await gaps(bench, 1000, 1100) == ["lost 1000-1100"])
        #expect(try await gaps(bench, 890, 1000) == ["cache_full 890-900 (7)", "lost 900-1000"])
        #expect(try await gaps(bench, 1190, 1250) == ["lost 1190-1200", "off 1200-1250"])
        // Only who asks is told, and only with the first page.
        let usual = try await bench.get(
            "track/gettrack", "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + 1500)")
        #expect(usual["gaps"] == nil)
        #expect(try await gaps(bench, 0, 1500, "&page_size=2&page_index=2") == [])
        #expect(
            try await bench.get(
                "track/gettrack", "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start)&gap_content=2"
            ).status == 2)
    }

    /// What is left of a gap in the first second of a range is told by no time.
    @Test func noGapLastsNoSecond() async throws {
        let bench = try await Bench()
        var told = try gathered(600, [(.off, 0, 300), (.noFix, 300, 600)])
        let between = Timestamp(milliseconds: (Self.start + 300) * 1000 + 700)
        told.continuity?.spans[0].until = between
        told.continuity?.spans[1].from = between
        try await bench.upload("van", [gathered(0), told])
        #expect(try await gaps(bench, 0, 600) == ["off 0-300", "no_fix 300-600"])
        #expect(try await gaps(bench, 300, 600) == ["no_fix 300-600"])
    }

    @Test func whatTheVehicleHasNotToldIsNotUploaded() async throws {
        let bench = try await Bench()
        let now = Bench.now.seconds - Self.start
        try await bench.upload("van", [gathered(now - 1000), gathered(now - 995)])
        #expect(try await gaps(bench, now - 1000, now + 3600) == ["not_uploaded \(now - 995)-\(now)"])
        #expect(try await gaps(bench, now - 500, now - 100) == ["not_uploaded \(now - 500)-\(now - 100)"])
        // A vehicle that has just told something is not late.
        try await bench.upload("van", [gathered(now - 5, [(.noFix, now - 995, now - 5)])])
        #expect(try await gaps(bench, now - 1000, now + 3600) == ["no_fix \(now - 995)-\(now - 5)"])
    }

    @Test func aParkedVehicleHasOneGap() async throws {
        let bench = try await Bench()
        try await bench.upload(
            "van",
            [
                gathered(0), gathered(240, [(.parked, 0, 240)]), gathered(480, [(.parked, 240, 480)]),
                gathered(600, [(.noFix, 480, 600)]), gathered(605), gathered(845, [(.parked, 605, 845)]),
            ])
        #expect(try await gaps(bench, 0, 845) == ["parked 0-480", "no_fix 480-600", "parked 605-845"])
    }

    /// There was no vehicle before its first point, so nothing is missing there, however the range lies.
    @Test func aNewVehicleWasNotOffBefore() async throws {
        let bench = try await Bench()
        try await bench.upload(
            "van", [gathered(5000, [(.off, nil, 4900), (.noFix, 4900, 5000)]), gathered(5005)])
        #expect(try await gaps(bench, 0, 5005) == ["no_fix 4900-5000"])
        #expect(try await gaps(bench, 0, 4950) == ["no_fix 4900-4950"])
        #expect(try await gaps(bench, 0, 3000) == [])
        // A point of a program is a point, and one of long ago too.
        try await bench.upload("van", [try point(Self.start - 30 * 86_400, 0, 0)])
        #expect(try await gaps(bench, 0, 5005) == ["off 0-4900", "no_fix 4900-5000"])
        try await bench.upload("old", [gathered(-30 * 86_400), gathered(5000, [(.off, nil, 5000)])])
        let answer = try await bench.get(
            "track/gettrack",
            "entity_name=old&start_time=\(Self.start)&end_time=\(Self.start + 5000)&gap_content=1")
        #expect(answer["gaps"]?.items.map { $0["reason"]?.stringValue } == ["off"])
    }

    @Test func withoutAnAgentThatSaysSoThereAreNoGaps() async throws {
        let bench = try await Bench()
        try await bench.upload("van", [try point(Self.start, 0, 0), try point(Self.start + 1000, 0, 0)])
        #expect(try await gaps(bench, 0, 2000) == [])
    }
}
