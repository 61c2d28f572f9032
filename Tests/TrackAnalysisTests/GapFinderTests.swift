import Testing
import TrackAnalysis
import TrackModel

@Suite struct GapFinderTests {
    /// Seconds; `interval` nil: a program made the point.
    private func point(_ time: Int64, interval: Int32? = 5, _ spans: [GapSpan] = []) throws -> TrackPoint {
        let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
        return TrackPoint(
            Fix(time: at(time), coordinate: place), continuity: interval.map { Continuity(interval: $0, spans: spans) })
    }

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

    private func span(_ reason: GapReason, _ from: Int64?, _ until: Int64, lost: Int64? = nil) -> GapSpan {
        GapSpan(reason, from: from.map(at), until: at(until), lostPoints: lost)
    }

    private func found(_ points: [TrackPoint]) -> [String] {
        var finder = GapFinder()
        for point in points { finder.add(point) }
        return finder.gaps.map { gap in
            let start = gap.from.milliseconds == .min ? "…" : "\(gap.from.seconds)"
            return "\(gap.reason.name) \(start)-\(gap.until.seconds)\(gap.lostPoints.map { " (\($0))" } ?? "")"
        }
    }

    @Test func pointsThatFollowEachOtherHaveNoGap() throws {
        #expect(try found([point(0), point(5), point(25), point(30)]) == [])
        // What a point says of a time that has points is not told.
        #expect(try found([point(0), point(5, [span(.noFix, nil, 5)])]) == [])
        #expect(found([]) == [])
    }

    @Test func theLaterPointSaysWhy() throws {
        #expect(
            try found([
                point(0), point(100, [span(.noFix, 0, 60), span(.stopped, 60, 100)]), point(105),
                point(500, [span(.off, nil, 500)]),
            ]) == ["no_fix 0-60", "stopped 60-100", "off 105-500"])
    }

    @Test func whatNobodyExplainsIsLost() throws {
        #expect(try found([point(0), point(100)]) == ["lost 0-100"])
        // The agent's point before was at 60, and is not here.
        #expect(try found([point(0), point(100, [span(.noFix, 60, 100)])]) == ["lost 0-60", "no_fix 60-100"])
        #expect(
            try found([point(0), point(100, [span(.noFix, 60, 100), span(.cacheFull, nil, 100, lost: 12)])])
                == ["cache_full 0-60 (12)", "no_fix 60-100"])
        #expect(try found([point(0), point(100, [span(.cleared, nil, 100)])]) == ["cleared 0-100"])
    }

    @Test func smallRestsJoinTheirNeighbour() throws {
        #expect(try found([point(0), point(100, [span(.noFix, 8, 95)])]) == ["no_fix 0-100"])
    }

    @Test func otherPointsNeitherMakeNorEndAGap() throws {
        #expect(try found([point(0, interval: nil), point(1000, interval: nil)]) == [])
        #expect(
            try found([point(0), point(50, interval: nil), point(100, [span(.noFix, 0, 100)])]) == ["no_fix 0-100"])
        // The last point of an older agent is the beginning.
        #expect(try found([point(0, interval: nil), point(100, [span(.off, nil, 100)])]) == ["off 0-100"])
    }

    @Test func withoutThePointBeforeOnlyTheSpansAreTold() throws {
        #expect(try found([point(100)]) == [])
        #expect(
            try found([point(100, [span(.off, nil, 90), span(.noFix, 90, 100)])]) == ["off …-90", "no_fix 90-100"])
        #expect(try found([point(100, [span(.noFix, 60, 100)])]) == ["no_fix 60-100"])
    }

    @Test func aGapIsClipped() {
        let gap = TrackGap(.off, from: at(10), until: at(20))
        #expect(gap.clipped(from: at(0), until: at(15)) == TrackGap(.off, from: at(10), until: at(15)))
        #expect(gap.clipped(from: at(20), until: at(30)) == nil && gap.clipped(from: at(0), until: at(10)) == nil)
    }
}
