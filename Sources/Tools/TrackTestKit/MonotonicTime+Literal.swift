package import TrackModel

/// Tests write times as numbers. No program does: a number may also be a duration, and that mistake must not compile.
extension MonotonicTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral milliseconds: Int64) {
        self.init(milliseconds: milliseconds)
    }

    /// After every time of the clock.
    package static let distantFuture = Self(milliseconds: .max)
}
