/// A span of the day on some days of the week, in local time.
package struct WeeklyWindow: Hashable, Sendable {
    /// Bit 0 is Monday, bit 6 Sunday: the days on which the window opens.
    package let days: UInt8
    /// Seconds after midnight, 0 ..< 86,400.
    package let from: Int32
    /// Seconds after midnight, 0 ... 86,400; not after `from`: the window closes on the next day.
    package let to: Int32

    /// Nil when a number is outside its range, or no day is named.
    package init?(days: UInt8, from: Int32, to: Int32) {
        guard (1...127).contains(days), (0..<86_400).contains(from), (0...86_400).contains(to) else { return nil }
        self.days = days
        self.from = from
        self.to = to
    }

    /// `day` counts from 0 for Monday.
    func isOpen(day: Int, second: Int32) -> Bool {
        let opensToday = days & 1 << day != 0
        if from < to { return opensToday && second >= from && second < to }
        let openedYesterday = days & 1 << ((day + 6) % 7) != 0
        return (opensToday && second >= from) || (openedYesterday && second < to)
    }
}
