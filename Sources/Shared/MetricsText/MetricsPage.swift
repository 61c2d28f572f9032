/// What a scrape gets: samples in the text format of Prometheus, version 0.0.4.
///
/// The format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format. The samples of a metric
/// stand together under its HELP and TYPE, in the order in which the metric was first added.
package struct MetricsPage: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private var order: [String] = []
    private var families: [String: [UInt8]] = [:]

    package init() {}

    /// One sample; `labels` are the values of the metric's labels in their order.
    package mutating func add(_ metric: Metric, _ value: Double, _ labels: String...) {
        add(metric, value, labels: labels)
    }

    /// A number beyond 2^53 loses its last digits: Prometheus computes in doubles too.
    package mutating func add(_ metric: Metric, _ value: some BinaryInteger, _ labels: String...) {
        add(metric, Double(value), labels: labels)
    }

    /// 1 or 0.
    package mutating func add(_ metric: Metric, _ value: Bool, _ labels: String...) {
        add(metric, value ? 1 : 0, labels: labels)
    }

    /// Nothing when the value is unknown: a missing series says so, a 0 would lie.
    package mutating func add(_ metric: Metric, ifKnown value: (some BinaryInteger)?, _ labels: String...) {
        if let value { add(metric, Double(value), labels: labels) }
    }

    package mutating func add(_ metric: Metric, ifKnown value: Double?, _ labels: String...) {
        if let value { add(metric, value, labels: labels) }
    }

    package mutating func add(_ metric: Metric, _ histogram: Histogram, _ labels: String...) {
        let pairs = Array(zip(metric.labels, labels))
        var cumulated: UInt64 = 0
        for (bound, count) in zip(histogram.bounds + [.infinity], histogram.counts) {
            cumulated &+= count
            sample(metric, suffix: "_bucket", pairs + [("le", Self.text(bound))], Double(cumulated))
        }
        sample(metric, suffix: "_sum", pairs, histogram.sum)
        sample(metric, suffix: "_count", pairs, Double(cumulated))
    }

    /// UTF-8; ends with a line break, as the format demands.
    package var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(families.values.reduce(0) { $0 + $1.count })
        for name in order { text += families[name] ?? [] }
        return text
    }

    // MARK: Inside

    private mutating func add(_ metric: Metric, _ value: Double, labels: [String]) {
        sample(metric, suffix: "", Array(zip(metric.labels, labels)), value)
    }

    private mutating func sample(
        _ metric: Metric, suffix: String, _ labels: [(name: String, value: String)], _ value: Double
    ) {
        var line: [UInt8] = []
        if families[metric.name] == nil {
            order.append(metric.name)
            line += "# HELP \(metric.name) ".utf8
            Self.escape(metric.help, quotes: false, into: &line)
            line += "\n# TYPE \(metric.name) \(metric.kind.rawValue)\n".utf8
        }
        line += "\(metric.name)\(suffix)".utf8
        for (index, label) in labels.enumerated() {
            line += "\(index == 0 ? "{" : ",")\(label.name)=\"".utf8
            Self.escape(label.value, quotes: true, into: &line)
            line.append(UInt8(ascii: "\""))
        }
        line += "\(labels.isEmpty ? "" : "}") \(Self.text(value))\n".utf8
        families[metric.name, default: []] += line
    }

    /// Backslash and line feed in help texts; in label values the quotation mark too.
    private static func escape(_ text: String, quotes: Bool, into bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\\")]
            case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case UInt8(ascii: "\"") where quotes: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\"")]
            default: bytes.append(byte)
            }
        }
    }

    /// As Go's ParseFloat reads it; whole numbers without a fraction.
    static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        guard value == value.rounded(), abs(value) < 9e15 else { return "\(value)" }
        return "\(Int64(value))"
    }
}

/// One metric as Prometheus knows it: what it is called, how it behaves, what tells its series apart.
///
/// A program keeps all of its metrics in one list; docs/metrics.md is compared with these lists by a test.
package struct Metric: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Only grows; begins at 0 with the process. Its name ends in `_total`.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts observations by size.
        case histogram
    }

    /// Begins with `saker_` and ends in its base unit (`_seconds`, `_bytes`), a counter in `_total` after that.
    package let name: String
    package let kind: Kind
    /// Names of its labels, whose values must come from a short closed list: never an entity, an address or a key.
    package let labels: [String]
    /// A sentence: what is counted, in which unit.
    package let help: String

    /// The base unit in its name, as Prometheus wants it: `seconds`, `bytes`, `meters`, or `number` for what is counted.
    package var unit: String {
        let words = name.split(separator: "_")
        let last = words.last == "total" ? words.dropLast().last : words.last
        guard let last, ["seconds", "bytes", "meters"].contains(last) else { return "number" }
        return String(last)
    }

    package init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}

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
