/// The speed that a fence allows, and how long an entity may be faster.
package struct SpeedLimit: Hashable, Sendable {
    /// cm/s, above 0.
    package let speed: Int32
    /// Seconds, 0 ... 3600: an entity that is faster for so long is told.
    package let duration: Int

    /// Nil when a number is outside its range.
    package init?(speed: Int32, duration: Int) {
        guard speed > 0, (0...3600).contains(duration) else { return nil }
        self.speed = speed
        self.duration = duration
    }
}
