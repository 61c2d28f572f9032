/// How long the cache's free room lasts at the rate at which points have come in the last ten minutes, when nothing of it
/// is acknowledged. Times are milliseconds of a monotonic clock.
package struct FillForecast: Hashable, Sendable {
    private struct Look: Hashable, Sendable {
        var time: Int64
        var bytes: UInt64
    }

    /// Milliseconds looked back, between two looks, and without which there is no rate yet.
    package static let window: Int64 = 600_000
    static let spacing: Int64 = 10_000
    package static let shortest: Int64 = 30_000

    /// Oldest first; the first may be older than the window.
    private var looks: [Look] = []
    private var newest: Look?

    package init() {}

    /// `total`: bytes that all records took since the cache was opened; only grows.
    package mutating func appended(total: UInt64, now: Int64) {
        let look = Look(time: now, bytes: total)
        newest = look
        if let last = looks.last, now - last.time < Self.spacing { return }
        looks.append(look)
        while looks.count > 1, looks[1].time <= now - Self.window { looks.removeFirst() }
    }

    /// Milliseconds until so many free bytes are taken; nil while that is unknown, or when nothing comes.
    package func time(toFill free: Int64, now: Int64) -> Int64? {
        // What came before the window began has no part in the rate; in a quiet stretch the window moves on all the same.
        guard let newest, let first = looks.last(where: { $0.time <= now - Self.window }) ?? looks.first else {
            return nil
        }
        let span = min(now - first.time, Self.window)
        guard span >= Self.shortest, newest.bytes > first.bytes else { return nil }
        let time = Double(max(0, free)) * Double(span) / Double(newest.bytes - first.bytes)
        return time < 9e15 ? Int64(time) : nil
    }
}
