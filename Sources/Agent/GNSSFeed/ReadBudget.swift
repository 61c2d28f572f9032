internal import TrackModel

/// Limits how much work gpsd can give the agent. When the budget is empty, reading pauses, and TCP makes the sender
/// wait.
///
/// One unit is one line or 2 KiB. A receiver at 10 Hz uses about 50 units a second.
struct ReadBudget: Hashable {
    static let unitsPerSecond: Int64 = 500
    static let most: Int64 = 1_000

    /// Negative after one read took more than was left.
    private var units = Self.most
    private var filled = MonotonicTime.distantPast

    /// Milliseconds until reading may continue; 0 when it may continue now.
    mutating func wait(at now: MonotonicTime) -> Int64 {
        if now > filled {
            // A minute refills the budget from any depth. The bound keeps the product small, whatever the clock says.
            let gained = min(now - filled, 60_000) * Self.unitsPerSecond / 1000
            units = min(Self.most, units + gained)
            if gained > 0 { filled = now }
        }
        guard units <= 0 else { return 0 }
        return (1 - units) * 1000 / Self.unitsPerSecond
    }

    mutating func spend(lines: Int, bytes: Int) {
        // The buffer holds at most 65,536 lines, so the debt has a bound.
        units -= Int64(lines + bytes / 2048)
    }
}
