import FenceCommands
import Terminal
import Testing

@testable import SakerCommand

@Suite struct TextTests {
    init() {
        _ = LocalZone.isUTC
    }

    @Test func aScreenIsDrawnInPlaceOnATerminalOnly() {
        var screen = Screen()
        #expect(screen.draw(["a", "b"], on: (80, 24)) == "a\u{1B}[K\nb\u{1B}[K\n\u{1B}[J")
        #expect(screen.draw(["c"], on: (80, 24)) == "\u{1B}[2A\rc\u{1B}[K\n\u{1B}[J")
        #expect(screen.draw(["d"], on: (80, 24)).hasPrefix("\u{1B}[1A\r"))
        var paper = Screen()
        #expect(paper.draw(["a"], on: nil) == "a\n")
        #expect(paper.draw(["b"], on: nil) == "\nb\n")
    }

    @Test func aScreenNeverWrapsNorScrolls() {
        var screen = Screen()
        let frame = screen.draw(["货车货车", "b", "c", "d"], on: (6, 3))
        #expect(frame == "货车\u{1B}[K\nb\u{1B}[K\n\u{1B}[J")
        #expect(screen.draw(["x"], on: (6, 3)).hasPrefix("\u{1B}[2A"))
    }

    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (268_435_456, "256 MiB"),
        (Int64.max, "8388608 TiB"),
    ])
    func sizesArePowersOf1024(bytes: Int64, text: String) {
        #expect(Quantity.bytes(bytes) == text)
    }

    @Test(
        arguments: [
            ("1048576", 1_048_576), ("256MiB", 268_435_456), ("1.5 GB", 1_500_000_000), ("2k", 2048), ("0", 0),
            ("", nil), ("MiB", nil), ("1 parsec", nil), ("-5", nil), ("1e9", nil), ("9999999TiB", nil),
        ] as [(String, Int64?)])
    func sizesAreReadAsPeopleWriteThem(text: String, bytes: Int64?) {
        #expect(Quantity.parseBytes(text) == bytes)
    }

    @Test(
        arguments: [
            (0, 2, "0.00"), (1.005, 1, "1.0"), (-0.04, 1, "0.0"), (-1.25, 1, "-1.3"), (31.2281, 6, "31.228100"),
            (-0.5, 6, "-0.500000"), (99.95, 1, "100.0"), (.infinity, 1, "?"),
        ] as [(Double, Int, String)])
    func decimalsAreRounded(value: Double, places: Int, text: String) {
        #expect(Quantity.decimal(value, places) == text)
    }

    @Test(
        arguments: [
            (0, "now"), (999, "now"), (-999, "now"), (12_000, "12 s ago"), (-300_000, "in 5 min"),
            (7_385_000, "2 h 3 min ago"), (360_000_000, "4 d 4 h ago"), (-1_000, "in 1 s"),
        ] as [(Int64, String)])
    func relativeTimesUseTheTwoLargestUnits(age: Int64, text: String) {
        #expect(DurationText.relative(1_772_670_030_000 - age, now: 1_772_670_030_000) == text)
    }

    /// What a table shows can be given back to an option.
    @Test func aLocalTimeNamesItsZoneAndIsReadBack() {
        for time in [Int64(0), 1_772_670_030_000, 1_783_000_000_000] {
            let text = LocalTime.text(time)
            #expect(text.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d/) != nil, "\(text)")
            #expect(TimeExpression(text, now: 0)?.milliseconds == time, "\(text)")
        }
    }

    @Test func noTimeIsTooFarToBeShown() {
        for time in [Int64.min, .max, 0, -1] {
            #expect(!LocalTime.text(time).isEmpty)
            #expect(!DurationText.relative(time, now: 5).isEmpty)
            #expect(!DurationText.relative(5, now: time).isEmpty)
        }
    }

    @Test func countsAreGrouped() {
        #expect([0, 999, 1000, -1_234_567].map { Quantity.count($0) } == ["0", "999", "1,000", "-1,234,567"])
        #expect(Quantity.count(1, "point") == "1 point")
        #expect(Quantity.count(2, "fix", "fixes") == "2 fixes")
        #expect(Quantity.count(.min) == "-9,223,372,036,854,775,808")
    }
}

@Suite struct TimeExpressionTests {
    /// 2026-03-05 00:20:30 UTC.
    private static let now: Int64 = 1_772_670_030_000

    init() {
        _ = LocalZone.isUTC
    }

    private static let times: [(String, Int64)] = [
        ("now", now), ("2h ago", 1772662830000), ("2 h ago", 1772662830000), ("1h30m ago", 1772664630000),
        ("90 minutes ago", 1772664630000), ("1 d 2 h ago", 1772576430000), ("0s ago", now),
        ("today", 1_772_668_800_000), ("yesterday", 1_772_582_400_000), ("1772670030", now), ("1772670030000", now),
        ("0", 0), ("2026-03-05", 1_772_668_800_000), ("2026-03-05 00:20", 1_772_670_000_000),
        ("2026-03-05T00:20:30", now), ("2026-03-05T00:20:30Z", now), ("2026-03-05T08:20:30+08:00", now),
        ("2026-03-04T16:20:30-0800", now), ("2026-03-05T00:20:30.5Z", 1772670030500),
        ("2026-03-05t00:20:30.1234z", 1772670030123),
        (" NOW ", now), ("2024-02-29", 1_709_164_800_000),
    ]

    @Test(arguments: times)
    func aTimeIsReadAsPeopleWriteIt(text: String, milliseconds: Int64) {
        #expect(TimeExpression(text, now: Self.now)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "20260305", "soon", "ago", "2 ago", "2h", "h ago", "-5", "2026", "2026-3-5", "2026-13-01", "2026-02-29",
        "2026-03-05T",
        "2026-03-05T25:00", "2026-03-05T00:60", "2026-03-05T00:20:30+8", "2026-03-05T00:20:30Zx",
        "2026-03-05 00:20:30.",
        "99999999999999999999", "999999999999d ago", "9999999 weeks ago", "２h ago", "2 parsecs ago",
    ])
    func whatIsNoTimeIsRefused(text: String) {
        #expect(TimeExpression(text, now: Self.now) == nil)
    }

    @Test func aRangeIsInWholeSeconds() throws {
        #expect(try TrackRangeOptions.seconds(from: 5_999, to: 7_000) == 5...7)
        #expect(throws: CommandFailure.self) { try TrackRangeOptions.seconds(from: 2, to: 1) }
        #expect(try TrackRangeOptions.seconds(from: -1, to: Self.now) == 0...Self.now / 1000)
    }

    @Test(
        arguments: [
            ("https://fleet.example:8443", "https://fleet.example:8443/api/v3"),
            ("https://fleet.example/", "https://fleet.example/api/v3"),
            ("https://fleet.example/x/api/v3", "https://fleet.example/x/api/v3"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/v3"), ("http://[::1]:80", "http://[::1]:80/api/v3"),
            ("http://localhost", "http://localhost/api/v3"), ("http://fleet.example", nil),
            ("http://127.evil.example", nil), ("http://localhost.evil.example", nil), ("fleet.example", nil),
            ("https://", nil), ("https://user:word@fleet.example", nil), ("https://a b", nil), ("ftp://a", nil),
            ("http://localhost@evil.example", nil),
        ] as [(String, String?)])
    func theKeyTravelsEncryptedOrStaysOnThisMachine(url: String, base: String?) {
        #expect((try? ServerAddress(url))?.text == base)
    }
}
