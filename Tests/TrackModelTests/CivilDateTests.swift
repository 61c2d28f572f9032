import Testing

@testable import TrackModel

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
