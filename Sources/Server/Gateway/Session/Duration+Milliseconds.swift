extension Duration {
    /// Whole milliseconds, rounded down; clamped at the ends of the range.
    var milliseconds: Int64 {
        let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return components.seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = seconds.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }
}
