import FenceCommands
import Terminal
import Testing

@testable import SakerCommand

@Suite struct TextTests {
    init() {
        _ = LocalTime.isUTC
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
        #expect(TimeText.relative(1_772_670_030_000 - age, now: 1_772_670_030_000) == text)
    }

    /// What a table shows can be given back to an option.
    @Test func aLocalTimeNamesItsZoneAndIsReadBack() {
        for time in [Int64(0), 1_772_670_030_000, 1_783_000_000_000] {
            let text = TimeText.local(time)
            #expect(text.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d/) != nil, "\(text)")
            #expect(TimeExpression(text, now: 0)?.milliseconds == time, "\(text)")
        }
    }

    @Test func noTimeIsTooFarToBeShown() {
        for time in [Int64.min, .max, 0, -1] {
            #expect(!TimeText.local(time).isEmpty)
            #expect(!TimeText.relative(time, now: 5).isEmpty)
            #expect(!TimeText.relative(5, now: time).isEmpty)
        }
    }

    @Test func countsAreGrouped() {
        #expect([0, 999, 1000, -1_234_567].map { Quantity.count($0) } == ["0", "999", "1,000", "-1,234,567"])
        #expect(Quantity.count(1, "point") == "1 point")
        #expect(Quantity.count(2, "fix", "fixes") == "2 fixes")
        #expect(Quantity.count(.min) == "-9,223,372,036,854,775,808")
    }
}
