/// How long to wait before something is tried again that failed: each pause is twice the one before, up to the longest.
package struct RetryPause: Hashable, Sendable {
    /// Milliseconds.
    private let range: ClosedRange<Int64>
    /// Of the last failure; nil: nothing has failed since the last success.
    private var last: Int64?

    /// `range`: the first pause and the longest one, milliseconds, positive.
    package init(_ range: ClosedRange<Int64> = 1000...60_000) { self.range = range }

    /// Whether something has failed since the last success.
    package var isFailing: Bool { last != nil }

    /// It has failed. Returns the milliseconds until the next try.
    package mutating func failed() -> Int64 {
        let pause = last.map { min($0, range.upperBound / 2) * 2 } ?? range.lowerBound
        let bounded = min(max(pause, range.lowerBound), range.upperBound)
        last = bounded
        return bounded
    }

    /// It has succeeded.
    package mutating func succeeded() { last = nil }
}
