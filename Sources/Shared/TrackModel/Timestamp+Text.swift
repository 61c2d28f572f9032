// Times for people, UTC. Every value has a text.
extension Timestamp {
    /// As in `2026-11-27`.
    package var day: String {
        let date = CivilDate(daysSince1970: quotient(by: 86_400_000))
        return "\(date.year)-\(Self.padded(date.month))-\(Self.padded(date.day))"
    }

    /// As in `2026-11-27T10:05Z`.
    package var minute: String { "\(day)T\(hourAndMinute)Z" }

    /// As in `2026-11-27T10:05:59Z`.
    package var second: String { "\(day)T\(hourAndMinute):\(Self.padded(rest(of: 60_000) / 1000))Z" }

    private var hourAndMinute: String {
        let minutes = rest(of: 86_400_000) / 60_000
        return "\(Self.padded(minutes / 60)):\(Self.padded(minutes % 60))"
    }

    /// Rounded down.
    private func quotient(by divisor: Int64) -> Int64 {
        milliseconds / divisor - (milliseconds % divisor < 0 ? 1 : 0)
    }

    /// 0 or more.
    private func rest(of divisor: Int64) -> Int64 {
        let rest = milliseconds % divisor
        return rest < 0 ? rest + divisor : rest
    }

    private static func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
