/// What counts as staying at one place.
package struct StayRule: Hashable, Sendable {
    /// Metres: of a stay, the radius of the circle that its samples fit; of a ``StayWindow``, the distance from the mean of
    /// the samples within which the next one is inside.
    package var reach: Double
    /// Metres up to which the largest radius of the samples inside may extend ``reach``; 0 for a fixed reach.
    package var reachOfRadius: Double
    /// Milliseconds from the first sample inside to the last that make a stay.
    package var span: Int64
    /// Metres up to which the radius of the first fix after ``coldSilence`` counts instead of ``reach``: a receiver
    /// that has just been switched on is off. 0 for no allowance.
    package var coldReach: Double

    /// Milliseconds without a sample after which the next one is a cold start.
    package static let coldSilence: Int64 = 300_000

    package init(reach: Double, reachOfRadius: Double = 0, span: Int64, coldReach: Double = 50) {
        self.reach = reach
        self.reachOfRadius = reachOfRadius
        self.span = span
        self.coldReach = coldReach
    }

    /// A stay point of the Web API: metres and seconds.
    package static func stay(radius: Double, seconds: Int64) -> StayRule {
        StayRule(reach: radius, span: seconds * 1000)
    }

    /// A stop whose drift is not travelled: 15 m and a minute.
    package static let stop = StayRule(reach: 15, reachOfRadius: 30, span: 60_000)
    /// A stay that ends a trip: 50 m and five minutes, so that no traffic light ends one.
    package static let betweenTrips = StayRule(reach: 50, span: 300_000)
}
