/// The altitudes at which a fence counts, 0.1 m above mean sea level. Either end may be missing.
package struct AltitudeRange: Hashable, Sendable {
    package let lower: Int32?
    package let upper: Int32?

    /// Nil when the lower end is above the upper one.
    package init?(lower: Int32?, upper: Int32?) {
        if let lower, let upper, lower > upper { return nil }
        self.lower = lower
        self.upper = upper
    }

    func contains(_ altitude: Int32) -> Bool {
        altitude >= lower ?? .min && altitude <= upper ?? .max
    }
}
