package import TrackModel

/// The rule when the server's clock counts as wrong: it is before the day on which this program was made, or more than
/// a day behind the newest stored points.
///
/// With a clock that is behind, correct points seem to be far in the future. The server would refuse them, and a refused
/// point is lost. So the server takes no points while its clock counts as wrong.
package struct ClockRule: Hashable, Sendable {
    /// By how many milliseconds the clock may be behind the newest stored points: one day. Nobody sets a right clock back
    /// by so much.
    package static let tolerance: Int64 = 86_400_000

    private let made: Timestamp
    /// When the server received the newest stored points, by its clock at that time.
    private var newest: Timestamp?

    /// `newest`: when the server received the newest stored points. Nil: nothing is stored, or `clock_may_go_back` is set.
    /// `made`: when this program was made.
    package init(newest: Timestamp? = nil, made: Timestamp = Timestamp(seconds: SakerVersion.madeAt)) {
        self.newest = newest
        self.made = made
    }

    /// The store has committed points that the server received at this time.
    package mutating func stored(at time: Timestamp) {
        newest = max(newest ?? time, time)
    }

    /// A sentence that says why the clock counts as wrong; nil when the clock can be right.
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
