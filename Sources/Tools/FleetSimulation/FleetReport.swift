/// The results of a run.
package struct FleetReport: Codable, Hashable, Sendable {
    /// Milliseconds.
    package struct Latency: Codable, Hashable, Sendable {
        package var p50: Double
        package var p99: Double
        package var max: Double

        init(_ histogram: LatencyHistogram) {
            p50 = Double(histogram.quantile(0.5)) / 1000
            p99 = Double(histogram.quantile(0.99)) / 1000
            max = Double(histogram.maximum) / 1000
        }
    }

    package var mode: String
    package var vehicles: Int
    /// Seconds until the last vehicle was logged in, and the logins a second.
    package var connectSeconds: Double
    package var handshakesPerSecond: Double
    /// From the start of a connection to its Welcome.
    package var login: Latency
    /// Seconds from the start of the load to the last acknowledgement; for idle, the duration.
    package var seconds: Double
    package var batches: Int
    package var batchesPerSecond: Double
    /// Acknowledged points. The server has committed them.
    package var points: Int
    package var pointsPerSecond: Double
    /// From the time a batch was due (backlog: was sent) to its acknowledgement.
    package var acknowledgement: Latency
    /// How late the generator itself was. A large value means that the machine was too busy.
    package var lag: Latency
    package var heartbeats: Int
    /// Pushes that came, each acknowledged at once: the alarms of fences.
    package var pushes: Int
    /// Bytes of frames before encryption.
    package var bytesSent: UInt64
    package var bytesReceived: UInt64

    /// For people.
    package var text: String {
        var lines = [
            "\(mode): \(vehicles) connections, logged in within \(rounded(connectSeconds)) s, "
                + "\(rounded(handshakesPerSecond)) handshakes/s, login p50 \(rounded(login.p50)) ms, "
                + "p99 \(rounded(login.p99)) ms"
        ]
        if batches > 0 {
            lines.append(
                "acknowledged: \(batches) batches, \(points) points in \(rounded(seconds)) s: "
                    + "\(rounded(batchesPerSecond)) batches/s, \(rounded(pointsPerSecond)) points/s")
            lines.append(
                "acknowledgement: p50 \(rounded(acknowledgement.p50)) ms, p99 \(rounded(acknowledgement.p99)) ms, "
                    + "max \(rounded(acknowledgement.max)) ms; generator late by p99 \(rounded(lag.p99)) ms")
        } else {
            lines.append("held for \(rounded(seconds)) s, \(heartbeats) heartbeats answered")
        }
        if pushes > 0 { lines.append("\(pushes) pushes acknowledged") }
        lines.append("bytes: \(bytesSent) sent, \(bytesReceived) received, before encryption")
        return lines.joined(separator: "\n")
    }

    private func rounded(_ value: Double) -> String {
        if value >= 100 { return String(Int(value.rounded())) }
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}

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
