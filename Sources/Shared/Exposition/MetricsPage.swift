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
