package import TrackModel

/// Forecasts how long the cache's free room lasts if the server acknowledges nothing, at the rate of the points in the
/// last ten minutes.
package struct FillForecast: Hashable, Sendable {
    private struct Measurement: Hashable, Sendable {
        var time: MonotonicTime
        var bytes: UInt64
    }

    /// In milliseconds: how far the rate looks back, the time between two looks, and the shortest history for a rate.
    package static let window: Int64 = 600_000
    static let spacing: Int64 = 10_000
    package static let shortest: Int64 = 30_000

    /// Oldest first; the first may be older than the window.
    private var measurements: [Measurement] = []
    private var newest: Measurement?

    package init() {}

    /// `total`: the bytes of all records since the cache was opened; it only grows.
    package mutating func appended(total: UInt64, now: MonotonicTime) {
        let measurement = Measurement(time: now, bytes: total)
        newest = measurement
        if let last = measurements.last, now - last.time < Self.spacing { return }
        measurements.append(measurement)
        while measurements.count > 1, now - measurements[1].time >= Self.window { measurements.removeFirst() }
    }

    /// Milliseconds until `free` bytes are full; nil when unknown, or when no points come.
    package func time(toFill free: Int64, now: MonotonicTime) -> Int64? {
        // The rate uses only what came inside the window. The window moves on even when no points come.
        guard let newest, let first = measurements.last(where: { now - $0.time >= Self.window }) ?? measurements.first
        else {
            return nil
        }
        let span = min(now - first.time, Self.window)
        guard span >= Self.shortest, newest.bytes > first.bytes else { return nil }
        let time = Double(max(0, free)) * Double(span) / Double(newest.bytes - first.bytes)
        return time < 9e15 ? Int64(time) : nil
    }
}
