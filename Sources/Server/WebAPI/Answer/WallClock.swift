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
        let date = CivilDate(daysSince1970: days)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let year = String(String(date.year + 10_000).dropFirst())
        let day = "\(year)-\(two(date.month))-\(two(date.day))"
        return "\(day) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    }
}
