import Testing
import TrackTestKit

@testable import TrackModel

@Suite struct CoordinateTests {
    @Test func degreesAreRoundedToTheNearestUnit() throws {
        let coordinate = try #require(Coordinate(latitude: 52.123_456_74, longitude: -4.000_000_06))
        #expect(coordinate.latitudeE7 == 521_234_567)
        #expect(coordinate.longitudeE7 == -40_000_001)
        #expect(coordinate.latitude == 52.123_456_7)
    }

    @Test(arguments: [(90.0, 180.0), (-90.0, -180.0), (0.0, 0.0)])
    func theEndsOfTheRangesAreValid(latitude: Double, longitude: Double) {
        #expect(Coordinate(latitude: latitude, longitude: longitude) != nil)
    }

    @Test(arguments: [(90.000_001, 0.0), (0.0, -180.000_001), (.nan, 0.0), (0.0, .infinity)])
    func whatIsOutsideOrNoNumberIsNoCoordinate(latitude: Double, longitude: Double) {
        #expect(Coordinate(latitude: latitude, longitude: longitude) == nil)
    }

    @Test func unitsOutsideTheirRangeAreNoCoordinate() {
        #expect(Coordinate(latitudeE7: 900_000_001, longitudeE7: 0) == nil)
        #expect(Coordinate(latitudeE7: 0, longitudeE7: .min) == nil)
        #expect(Coordinate(latitudeE7: -900_000_000, longitudeE7: 1_800_000_000) != nil)
    }
}

@Suite struct TimestampTests {
    @Test func secondsRoundDownOnBothSidesOfTheEpoch() {
        #expect(Timestamp(milliseconds: 1999).seconds == 1)
        #expect(Timestamp(milliseconds: -1).seconds == -1)
        #expect(Timestamp(milliseconds: -1000).seconds == -1)
        #expect(Timestamp(milliseconds: -1001).seconds == -2)
        #expect(Timestamp(milliseconds: .min).seconds == -9_223_372_036_854_776)
    }

    @Test func arithmeticAtTheEndsIsClampedAndNeverTraps() {
        let first = Timestamp(milliseconds: .min)
        let last = Timestamp(milliseconds: .max)
        #expect(last.adding(milliseconds: 1) == last)
        #expect(first.adding(milliseconds: -1) == first)
        #expect(last.milliseconds(since: first) == .max)
        #expect(first.milliseconds(since: last) == .min)
        #expect(Timestamp(seconds: .max) == last)
        #expect(Timestamp(seconds: .min) == first)
    }
}

@Suite struct IdentityTests {
    @Test func aStreamIsSixteenBytesMostSignificantFirst() {
        let stream = StreamID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
        #expect(stream.bytes == Array(1...16))
        #expect(StreamID(bytes: stream.bytes) == stream)
        #expect(StreamID(bytes: Array(1...15)) == nil)
        #expect(StreamID(bytes: Array(1...17)) == nil)
    }

    @Test func aServiceNumberFitsInto31Bits() {
        #expect(ServiceID(rawValue: 0) == nil)
        #expect(ServiceID(rawValue: -1) == nil)
        #expect(ServiceID(rawValue: 1 << 31) == nil)
        #expect(ServiceID(rawValue: Int64(Int32.max)) != nil)
    }

    @Test(arguments: ["van_07", "蓝色货车", "a b", "%E4%BA", String(repeating: "x", count: 128)])
    func namesThatClientsSendAreAllowed(name: String) {
        #expect(EntityName.problem(with: name) == nil)
    }

    @Test(arguments: [
        ("", "empty"), (String(repeating: "x", count: 129), "128"), (String(repeating: "车", count: 43), "129"),
        ("#allentity", "#"), ("a,b", "','"), ("a;b", "';'"), ("a|b", "'|'"), ("a:b", "':'"), ("a\nb", "control"),
        ("a\u{85}b", "control"),
    ])
    func aNameThatBreaksTheRuleIsToldWhich(name: String, rule: String) {
        #expect(EntityName.problem(with: name)?.contains(rule) == true)
        #expect(EntityName.problem(withNew: name)?.contains(rule) == true)
    }

    @Test(arguments: ["van_07", "蓝色货车", "a b", "a  b", "é", "京A·12345", "Straße 7", "한글", "🚛", "Å"])
    func newNamesWithOneSpellingAreAllowed(name: String) { #expect(EntityName.problem(withNew: name) == nil) }

    /// They look like another name, so an entity that is there keeps such a name and no new one gets it.
    @Test(arguments: [
        ("bus_01 ", "white space"), (" bus_01", "white space"), ("bus_01\u{3000}", "white space"),
        ("bus\u{A0}01", "U+A0"), ("bus\u{200B}01", "U+200B"), ("bus\u{200D}", "U+200D"), ("bus\u{FE0F}", "U+FE0F"),
        ("bus\u{2060}01", "U+2060"), ("bus\u{202E}01", "U+202E"), ("bus\u{AD}01", "U+AD"), ("bus\u{E0041}", "U+E0041"),
        ("bus\u{2800}", "U+2800"), ("bus\u{3164}", "U+3164"), ("e\u{301}", "form C"), ("\u{212B}", "form C"),
        ("\u{1112}\u{1161}\u{11AB}", "form C"), ("a\u{301}\u{323}", "form C"),
        ("bus\u{FFFC}", "U+FFFC"),
        ("bus\u{1D159}", "U+1D159"), ("bus\u{16FE4}", "U+16FE4"), ("bus\u{E0FFF}", "U+E0FFF"),
    ])
    func aNewNameThatLooksLikeAnotherOneIsRefused(name: String, rule: String) {
        #expect(EntityName.problem(with: name) == nil)
        #expect(EntityName.problem(withNew: name)?.contains(rule) == true)
    }

    @Test(arguments: [0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF] as [UInt32])
    func aNewNameHoldsNothingThatIsNoCharacter(value: UInt32) throws {
        let name = "bus" + String(try #require(Unicode.Scalar(value)))
        #expect(EntityName.problem(with: name) == nil)
        #expect(EntityName.problem(withNew: name)?.contains("U+") == true)
    }
}

@Suite struct CivilDateTests {
    @Test(
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (59, 1970, 3, 1), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1),
            (-25_509, 1900, 2, 28), (-25_508, 1900, 3, 1), (20_514, 2026, 3, 2), (-719_468, 0, 3, 1),
            (-719_469, 0, 2, 29),
            (2_932_896, 9999, 12, 31),
        ] as [(Int64, Int64, Int64, Int64)])
    func knownDays(days: Int64, year: Int64, month: Int64, day: Int64) {
        let date = CivilDate(year: year, month: month, day: day)
        #expect(CivilDate(daysSince1970: days) == date)
        #expect(date.daysSince1970 == days)
    }

    /// Each day follows the day before: the next of its month, or the first of the next month.
    @Test func everyDayOfFourCenturiesFollowsTheOneBefore() {
        var before = CivilDate(daysSince1970: -135_141)
        #expect(before == CivilDate(year: 1599, month: 12, day: 31))
        for days in -135_140...(-135_140 + 146_097) as ClosedRange<Int64> {
            let date = CivilDate(daysSince1970: days)
            let isNextDay = (date.year, date.month, date.day) == (before.year, before.month, before.day + 1)
            let isNextMonth =
                date.day == 1 && before.day >= 28
                && date.year * 12 + date.month == before.year * 12 + before.month + 1
            guard isNextDay || isNextMonth, date.daysSince1970 == days else {
                Issue.record("day \(days): \(date) after \(before)")
                return
            }
            before = date
        }
        #expect(before == CivilDate(year: 2000, month: 1, day: 1))
    }
}

struct MonotonicTimeTests {
    @Test func durationsMoveATimeAndTimesDifferByADuration() {
        let start: MonotonicTime = 1000
        #expect(start + 500 == 1500)
        #expect(start + -500 == 500)
        #expect(start + 500 - start == 500)
        #expect(start - (start + 500) == -500)
        #expect(start < start + 1)
        var time = start
        time += 20
        #expect(time == 1020)
    }

    @Test func nothingTrapsAtTheEndsOfTheRange() {
        let last = MonotonicTime(milliseconds: .max)
        #expect(last + 1 == last)
        #expect(MonotonicTime.distantPast + -1 == .distantPast)
        #expect(last - .distantPast == .max)
        #expect(.distantPast - last == .min)
    }
}

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
