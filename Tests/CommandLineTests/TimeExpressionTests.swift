import FenceCommands
import Testing

@testable import SakerCommand

@Suite struct TimeExpressionTests {
    /// 2026-03-05 00:20:30 UTC.
    private static let now: Int64 = 1_772_670_030_000

    init() {
        _ = LocalTime.isUTC
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
        #expect(throws: CommandFailure.self) { try TrackRangeOptions.seconds(from: 0, to: Self.now) }
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
