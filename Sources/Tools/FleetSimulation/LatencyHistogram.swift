/// Durations in microseconds, each accurate to about 3 per cent. Needs a fixed few kilobytes for any number of
/// durations.
package struct LatencyHistogram: Sendable {
    /// 32 buckets for every doubling.
    private static let stepBits = 5
    private var buckets = [UInt64](repeating: 0, count: (64 - Self.stepBits + 1) << Self.stepBits)
    package private(set) var count: UInt64 = 0
    /// The exact maximum.
    package private(set) var maximum: UInt64 = 0

    package init() {}

    package mutating func add(_ microseconds: UInt64) {
        buckets[Self.bucket(microseconds)] += 1
        count += 1
        maximum = max(maximum, microseconds)
    }

    package mutating func merge(_ other: LatencyHistogram) {
        for index in buckets.indices { buckets[index] += other.buckets[index] }
        count += other.count
        maximum = max(maximum, other.maximum)
    }

    /// The duration that `share` (0...1) of all durations do not exceed, rounded up to its bucket; 0 without durations.
    package func quantile(_ share: Double) -> UInt64 {
        guard count > 0 else { return 0 }
        let rank = UInt64((Double(count) * min(max(share, 0), 1)).rounded(.up))
        var seen: UInt64 = 0
        for (index, number) in buckets.enumerated() {
            seen += number
            if seen >= max(rank, 1) { return min(Self.largest(of: index), maximum) }
        }
        return maximum
    }

    private static func bucket(_ value: UInt64) -> Int {
        let steps = UInt64(1) << stepBits
        guard value >= steps else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - stepBits
        return (shift + 1) << stepBits + Int((value >> shift) - steps)
    }

    /// The greatest value in a bucket.
    private static func largest(of index: Int) -> UInt64 {
        guard index >= 1 << stepBits else { return UInt64(index) }
        let shift = index >> stepBits - 1
        let step = UInt64(index & (1 << stepBits - 1)) + 1 << stepBits
        return ((step + 1) << shift) &- 1
    }
}
