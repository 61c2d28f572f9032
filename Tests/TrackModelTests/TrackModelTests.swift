import Testing

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
