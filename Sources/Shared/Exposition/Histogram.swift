/// Observations counted by size, as a Prometheus histogram wants them. Only grows.
package struct Histogram: Hashable, Sendable {
    /// Upper bounds of the buckets, inclusive, in growing order; a last one without bound follows.
    package let bounds: [Double]
    /// Observations of each bucket alone, the last those beyond all bounds.
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0

    /// Seconds from half a millisecond to ten: what waits for a disk or a network.
    package static let latencyBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    package init(bounds: [Double] = Self.latencyBounds) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    package var count: UInt64 { counts.reduce(0, &+) }

    /// What is no number is not counted.
    package mutating func record(_ value: Double) {
        guard !value.isNaN else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[bucket] &+= 1
        sum += value
    }

    package mutating func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        record(Double(seconds) + Double(attoseconds) / 1e18)
    }
}
