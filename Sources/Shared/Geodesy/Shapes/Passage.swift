/// The parts of a way that lie inside a shape.
package struct Passage: Hashable, Sendable {
    /// Shares of the way, 0 ... 1, in order; each has a length.
    package let parts: [ClosedRange<Double>]

    package init(parts: [ClosedRange<Double>]) {
        self.parts = parts
    }

    /// Where the way comes in for the last time, when its end is inside. A way that ends on the boundary comes in there.
    package var entry: Double? {
        guard let last = parts.last, last.upperBound >= 1 else { return 1 }
        return last.lowerBound > 0 ? last.lowerBound : nil
    }

    /// Where the way goes out for the last time, when its end is outside. A way that begins on the boundary goes out there.
    package var exit: Double? {
        guard let last = parts.last else { return 0 }
        return last.upperBound < 1 ? last.upperBound : nil
    }

    /// The longest part.
    package var longest: ClosedRange<Double>? {
        parts.max { $0.upperBound - $0.lowerBound < $1.upperBound - $1.lowerBound }
    }
}
