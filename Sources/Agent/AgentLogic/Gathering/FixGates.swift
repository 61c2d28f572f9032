package import TrackModel

/// Chooses the fixes that local fences judge: every fix that seems right, at the receiver's own pace.
///
/// The gates are those of ``Sampler``, and each compares a fix with the fix that passed before it, not with the last
/// point. So a fence knows where the vehicle is each second, whatever the gather interval is. Knows no clock.
package struct FixGates: Hashable, Sendable {
    private var options: LocationOptions
    private var plausibility = PlausibilityGate()
    /// The last fix that passed. ``restart()`` keeps it, because time must not go back before it.
    private var last: Fix?
    /// The vehicle may have been carried anywhere since ``last``.
    private var isFirst = true

    package init(options: LocationOptions = LocationOptions()) {
        self.options = options
    }

    /// Takes the next fix of the receiver, with a time that ``TimeGuard`` believes. False: it is not later than the one that
    /// passed before, its error is larger than the desired accuracy, or the vehicle cannot have come there.
    package mutating func admits(_ fix: Fix) -> Bool {
        if let last, fix.time <= last.time { return false }
        if let limit = options.desiredAccuracy, let error = fix.accuracy, Double(error) / 10 > limit { return false }
        if !isFirst, let last, !plausibility.admits(fix, after: last, activity: options.activity) { return false }
        last = fix
        isFirst = false
        return true
    }

    /// The dates up to now were wrong: time goes back to the next fix.
    package mutating func beginAnew() {
        last = nil
        restart()
    }

    package mutating func setOptions(_ options: LocationOptions) {
        self.options = options
        plausibility.reset()
    }

    /// Gathering begins again.
    package mutating func restart() {
        isFirst = true
        plausibility.reset()
    }
}
