/// A date of the Gregorian calendar, also before the calendar existed.
///
/// Years are counted from March, so that the leap day is the last day of its year and the months' lengths repeat in a
/// pattern of five (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"). 719,468 days lie between 0000-03-01 and
/// 1970-01-01, and four centuries have 146,097 days.
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    /// 1 to 12.
    package var month: Int64
    /// 1 to 31.
    package var day: Int64

    /// Does not check its values.
    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// `days`: since 1970-01-01, negative before; within some ten billion years of it.
    package init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = (yearFromMarch >= 0 ? yearFromMarch : yearFromMarch - 399) / 400
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
