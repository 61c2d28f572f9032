/// How long to wait before the next try: exponential with full jitter, so that a fleet does not come back all at once.
package struct Backoff: Hashable, Sendable {
    /// Milliseconds.
    package struct Range: Hashable, Sendable {
        package var first: Int64 = 1000
        package var longest: Int64 = 300_000
        /// After a session that lasted at least so long, the waits begin again with the first.
        package var service: Int64 = 60_000

        package init() {}
    }

    let range: Range
    private var failures = 0
    private var generator: SplitMix64

    init(range: Range, seed: UInt64) {
        self.range = range
        generator = SplitMix64(state: seed)
    }

    /// Milliseconds up to which the next wait is drawn.
    var ceiling: Int64 {
        // 2^20 seconds are beyond any ceiling, and shift without overflow.
        min(max(range.longest, 1), max(range.first, 1) << Int64(min(failures, 20)))
    }

    /// Milliseconds, 0 ... `ceiling`; each call doubles the ceiling.
    mutating func next() -> Int64 {
        let delay = jitter(upTo: ceiling)
        failures = min(failures + 1, 20)
        return delay
    }

    /// Milliseconds to wait at least `floor`: the jitter comes on top.
    mutating func next(atLeast floor: Int64) -> Int64 {
        max(floor, 0) + next()
    }

    /// A uniform number in 0 ... `limit`.
    mutating func jitter(upTo limit: Int64) -> Int64 {
        Int64.random(in: 0...max(limit, 0), using: &generator)
    }

    mutating func sessionEnded(after milliseconds: Int64) {
        if milliseconds >= range.service { reset() }
    }

    mutating func reset() { failures = 0 }
}

/// A small generator whose whole state is a value, so that a machine's run can be repeated exactly.
///
/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014); constants of java.util.SplittableRandom.
struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

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
