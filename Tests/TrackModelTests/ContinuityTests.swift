import Testing

@testable import TrackModel

@Suite struct ContinuityTests {
    private static func time(_ second: Int64) -> Timestamp { Timestamp(milliseconds: second * 1000) }

    private static func span(_ reason: GapReason, _ from: Int64, _ until: Int64) -> GapSpan {
        GapSpan(reason, from: time(from), until: time(until))
    }

    @Test func aLossIsToldBesideTheReasons() {
        var continuity = Continuity(interval: 5, spans: [Self.span(.noFix, 0, 60)])
        continuity.tellLoss(.cleared, before: Self.time(60))
        #expect(
            continuity.spans == [Self.span(.noFix, 0, 60), GapSpan(.cleared, from: nil, until: Self.time(60))])
    }

    /// Nothing is left untold, and no time is without a reason.
    @Test func aLossTakesThePlaceOfTheShortestReason() {
        let edges: [Int64] = [0, 10, 70, 130, 135, 200, 260, 320, 380]
        let reasons: [GapReason] = [.noFix, .unmoved, .noFix, .inaccurate, .noFix, .unmoved, .noFix, .unmoved]
        var continuity = Continuity(
            interval: 5, spans: zip(reasons, zip(edges, edges.dropFirst())).map { Self.span($0, $1.0, $1.1) })
        #expect(continuity.spans.count == Continuity.maximumSpans)
        continuity.tellLoss(.cleared, before: Self.time(380))
        #expect(continuity.spans.count == Continuity.maximumSpans)
        #expect(continuity.spans.last == GapSpan(.cleared, from: nil, until: Self.time(380)))
        #expect(continuity.spans[2] == Self.span(.noFix, 70, 135))
        // The server refuses points too, and tells it.
        continuity.tellLoss(.refused, before: Self.time(380))
        #expect(continuity.spans.suffix(2).map(\.reason) == [.cleared, .refused])
        let told = continuity.spans.dropLast(2)
        #expect(told.count == 6 && told.first?.from == Self.time(0) && told.last?.until == Self.time(380))
        #expect(zip(told, told.dropFirst()).allSatisfy { $0.until == $1.from })
    }
}
