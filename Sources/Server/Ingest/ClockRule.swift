package import TrackModel

/// Whether the server's clock can be right: it is not before this program was made, and not far behind what was stored.
///
/// By a wrong clock genuine points seem to lie far ahead, and a point that is refused is gone for good. So no point is
/// judged, and none is taken, while the clock cannot be right.
package struct ClockRule: Hashable, Sendable {
    /// By how much a clock may be behind what was stored, milliseconds: a day, far more than a clock is ever set back by
    /// whoever keeps it.
    package static let tolerance: Int64 = 86_400_000

    private let made: Timestamp
    /// When the newest points were received, by the clock of that time.
    private var newest: Timestamp?

    /// `newest`: when the newest stored points were received; nil: nothing is stored, or it does not matter. `made`: when this
    /// program was made.
    package init(newest: Timestamp? = nil, made: Timestamp = Timestamp(seconds: SakerVersion.madeAt)) {
        self.newest = newest
        self.made = made
    }

    /// Points were stored that were received at this time.
    package mutating func stored(at time: Timestamp) {
        newest = max(newest ?? time, time)
    }

    /// Why the clock cannot be right, a sentence; nil when it can.
    package func problem(at now: Timestamp) -> String? {
        guard now >= made else {
            return "the server's clock says \(now.milliseconds) ms, which is before this program was made "
                + "(\(made.milliseconds) ms): set the clock"
        }
        if let newest, now < newest.adding(milliseconds: -Self.tolerance) {
            return "the server's clock says \(now.milliseconds) ms, more than a day before the newest stored points "
                + "came (\(newest.milliseconds) ms): set the clock, or set clock_may_go_back in [store] when that time "
                + "was wrong"
        }
        return nil
    }
}
