import Testing

@testable import TrackFiles

@Suite struct FileTimeTests {
    /// 2026-03-05 08:20:12 UTC.
    private static let time: Int64 = 1_772_698_812_000

    @Test(arguments: [
        ("2026-03-05T08:20:12Z", time), ("2026-03-05T08:20:12z", time), (" 2026-03-05t08:20:12Z\r", time),
        ("2026-03-05T09:20:12+01", time), ("2026-03-05T09:20:12+0100", time), ("2026-03-05T09:20:12+01:00", time),
        ("2026-03-05T02:50:12-05:30", time), ("2026-03-05 08:20:12 UTC", time), ("2026-03-05 08:20:12 gmt", time),
        ("2026-03-05 09:20:12 +0100", time), ("2026/03/05 08:20:12+00", time), ("2026-03-05T08:20:12-00:00", time),
        ("20260305T082012Z", time), ("20260305T092012+01", time), ("20260305T0820Z", time - 12_000),
        ("2026-03-05T08:20Z", time - 12_000), ("2026-03-05T08:20:12.5Z", time + 500),
        ("2026-03-05T08:20:12,25Z", time + 250), ("2026-03-05T08:20:12.123456789Z", time + 123),
        ("2026-03-04T24:00:00Z", 1_772_668_800_000), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
        ("1772698812", time), ("1772698812.25", time + 250), ("1772698812000", time), ("1772698812000.9", time),
        ("946684800", 946_684_800_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ])
    func anInstant(text: String, milliseconds: Int64) throws {
        #expect(try FileTime(text) == .instant(milliseconds))
    }

    @Test(arguments: ["2026-03-05T08:20:12", "2026-03-05 08:20:12", "2026/03/05 08:20:12", "20260305T082012"])
    func aTimeWithoutAZoneIsThatOfAClock(text: String) throws {
        #expect(try FileTime(text) == .wall(Self.time))
    }

    @Test(arguments: [
        ("260305082012", FileTime.Failure.ambiguous), ("20260305082012", .ambiguous), ("17726988120", .ambiguous),
        ("1772698812000000", .ambiguous), ("1772698812000000000", .ambiguous), ("20260305", .noTime), ("0", .noTime),
        ("2026-03-05", .dayAlone), ("2026/03/05", .dayAlone), ("", .noTime), ("now", .noTime), ("2h ago", .noTime),
        ("2026-03-05T08:20:12+1", .noTime), ("2026-03-05T08:20:12+25", .noTime), ("2026-03-05T08:20:12Zx", .noTime),
        ("2026-02-29T00:00:00Z", .noTime), ("2026-03-05T24:00:01Z", .noTime), ("2026-03-05T08:60:00Z", .noTime),
        ("2026-3-5T08:20:12Z", .noTime), ("05.03.2026 08:20:12", .noTime), ("03/05/2026 08:20", .noTime),
        ("2026-03/05 08:20:12", .noTime), ("1.77E+12", .noTime), ("٢٠٢٦-03-05T08:20:12Z", .noTime),
        ("0x69A93E9C", .noTime), ("1_772_698_812", .noTime), ("-1772698812", .noTime), ("+1772698812", .noTime),
        ("2026-03-05T08:20:12.Z", .noTime), ("46086.3473611", .noTime),
    ])
    func whatMayBeSeveralTimesOrNoneIsRefused(text: String, failure: FileTime.Failure) {
        #expect(throws: failure) { try FileTime(text) }
    }

    @Test(arguments: [
        ("s", "1772698812", FileTime.instant(time)), ("s", "100000000000", .instant(100_000_000_000_000)),
        ("s", "-1.5", .instant(-1500)), ("s", "-0.25", .instant(-250)), ("s", "0.25", .instant(250)),
        ("s", "9223372036854775.807", .instant(.max)), ("s", "-9223372036854775.808", .instant(.min)),
        ("ms", "1772698812000", .instant(time)), ("us", "1772698812000999", .instant(time)),
        ("ns", "1772698812000999999", .instant(time)), ("YYMMDDhhmmss", "260305082012", .wall(time)),
        ("DDMMYYhhmmss", "050326082012", .wall(time)), ("YYYYMMDDhhmmss", "20260305082012", .wall(time)),
        ("DD.MM.YYYY hh:mm:ss", "05.03.2026 08:20:12", .wall(time)),
        ("MM/DD/YYYY hh:mm", "03/05/2026 08:20", .wall(time - 12_000)),
        ("YYYY-MM-DD hh:mm:ss.ff", "2026-03-05 08:20:12.25", .wall(time + 250)),
        ("YYMMDDhhmmss", "991231235959", .wall(946_684_799_000)),
    ])
    func aFormatSaysWhatIsMeant(format: String, text: String, time: FileTime) throws {
        let known: FileTimeFormat = try #require(FileTimeFormat(format))
        #expect(try FileTime(text, known) == time)
    }

    @Test(arguments: [
        ("ms", "2026-03-05T08:20:12Z"), ("ms", "１"), ("s", "99999999999999999999"), ("s", "9223372036854775.999"),
        ("s", "9223372036854775.808"), ("s", "-9223372036854775.809"), ("s", "9223372036854776"),
        ("YYMMDDhhmmss", "261305082012"),
        ("YYMMDDhhmmss", "26030508201"), ("YYMMDDhhmmss", "26030508201x"), ("DD.MM.YYYY hh:mm", "05-03-2026 08:20"),
        ("YYMMDDhhmmss", "٢٦٠٣٠٥٠٨٢٠١٢"),
    ])
    func whatIsNotOfTheFormatIsRefused(format: String, text: String) throws {
        let known: FileTimeFormat = try #require(FileTimeFormat(format))
        #expect(throws: FileTime.Failure.format) { try FileTime(text, known) }
    }

    @Test(arguments: [
        "", "x", "YYYY-MM-DD", "YYYYMMDDhh", "YYYMMDDhhmm", "YMYMDDhhmm", "MMDDhhmm", "YYMMDDhhmms", "min",
    ])
    func whatIsNoFormatIsRefused(text: String) {
        #expect(FileTimeFormat(text) == nil)
    }

    @Test(arguments: [
        ("12", 12.0), (" -1.5\t", -1.5), (".5", 0.5), ("5.", 5), ("1e1", 10), ("1.5E-3", 0.0015), ("+3", 3), ("007", 7),
    ])
    func aNumber(text: String, number: Double) {
        #expect(FileNumber.value(text) == number)
    }

    @Test(arguments: [
        "", " ", "x", "12 m", "~12", "1,5", "1_000", "1 000", "0x10", "1p3", "٣", "３", "nan", "inf", "--1", "1e",
        "1e400",
        "12.5°", "−1", "12\u{0}", "1.2.3",
    ])
    func whatIsNoNumber(text: String) {
        #expect(FileNumber.value(text) == nil)
        #expect(FileNumber.height(text) == nil)
    }

    @Test(
        arguments: [
            ("-9999", nil), ("-19999", nil), ("3.4e38", nil), ("-32768", nil), ("65535", nil), ("1.0e25", nil),
            ("-430.5", -430.5), ("8848.9", 8848.9), ("0", 0), ("12000", 12_000),
        ] as [(String, Double?)])
    func aHeightThatCannotBeIsUnknown(text: String, height: Double?) {
        #expect(FileNumber.height(text) == height)
    }

    @Test func wordsInThePlaceOfNumbersAreUnknown() {
        func changed(_ text: String) -> String {
            String(decoding: JSONNumbers.withoutWords(Array(text.utf8)), as: UTF8.self)
        }
        #expect(changed(#"[4,NaN, -Infinity,Infinity]"#) == "[4,null, null,null]")
        #expect(changed(#"{"a":NaN,"NaN":"NaN \" NaN","n":nan}"#) == #"{"a":null,"NaN":"NaN \" NaN","n":null}"#)
        #expect(changed(#"[NaNx,xNaN,1,true,null,-1]"#) == "[NaNx,xNaN,1,true,null,-1]")
    }
}

@Suite struct TimeTallyTests {
    @Test(
        arguments: [
            ([1, 2, 3], 9, 0, true), ([1, 1, 2, 2, 2], 9, 3, true), ([3, 1, 3, 2, 1], 9, 2, true),
            // Without room: times that rise are told apart, and those that go back are not.
            ([1, 1, 2, 2, 3], 0, 2, true), ([1, 2, 1], 0, 0, false), ([5, 3, 7, 5, 3, 9, 8], 2, 2, false),
        ] as [([Int64], Int, Int, Bool)])
    func timesAreCountedAsFarAsThereIsRoom(times: [Int64], room: Int, repeated: Int, isExact: Bool) {
        var (tally, room) = (TimeTally(), room)
        for time in times { tally.add(time, room: &room) }
        #expect(tally.repeated == repeated && tally.isExact == isExact)
    }
}
