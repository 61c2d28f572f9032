import TrackModel

/// Times as the API shows them to people: `2026-03-02 10:15:30` in one fixed zone.
struct WallClock: Sendable {
    /// Minutes east of UTC.
    let zoneMinutes: Int

    /// Nil outside the years 1 to 9999, which no date parser of a client takes.
    func text(_ time: Timestamp) -> String? {
        guard (-62_135_596_800 + 86_400...253_402_300_799 - 86_400).contains(time.seconds) else { return nil }
        let seconds = time.seconds + Int64(zoneMinutes) * 60
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let (year, month, day) = Self.civil(fromDays: days)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let yearText = String(String(year + 10_000).dropFirst())
        return "\(yearText)-\(two(month))-\(two(day)) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    }

    /// The Gregorian date of a day counted from 1970-01-01.
    ///
    /// Years are counted from March, so that the leap day is the last of its year and the months' lengths repeat in a
    /// pattern of five; 719,468 days lie between 0000-03-01 and 1970-01-01, 146,097 in four centuries.
    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
