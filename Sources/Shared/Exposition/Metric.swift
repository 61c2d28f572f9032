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
