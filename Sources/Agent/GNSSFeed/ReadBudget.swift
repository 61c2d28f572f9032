/// Bounds what gpsd can make the agent do: reading pauses when it is used up, and TCP makes the sender wait.
///
/// One unit is one line or 2 KiB. A receiver at 10 Hz uses some 50 a second.
struct ReadBudget: Hashable {
    static let unitsPerSecond: Int64 = 500
    static let most: Int64 = 1_000

    /// Below zero after more was read at once than was left.
    private var units = Self.most
    private var filled: UInt64 = 0

    /// Milliseconds until reading may go on; 0 when it may now.
    mutating func wait(at now: UInt64) -> UInt64 {
        if now > filled {
            // A minute fills it from any depth; the limit keeps the product small whatever the clock says.
            let gained = Int64(min(now - filled, 60_000)) * Self.unitsPerSecond / 1000
            units = min(Self.most, units + gained)
            if gained > 0 { filled = now }
        }
        guard units <= 0 else { return 0 }
        return UInt64((1 - units) * 1000 / Self.unitsPerSecond)
    }

    mutating func spend(lines: Int, bytes: Int) {
        // What fits the buffer at once is at most 65,536 lines: the debt has a bound.
        units -= Int64(lines + bytes / 2048)
    }
}
