/// What counts as a trip.
package struct TripRule: Hashable, Sendable {
    /// The stays between trips.
    package var stay: StayRule
    /// Metres and milliseconds below which a movement is no trip.
    package var leastDistance: Double
    package var leastDuration: Int64
    /// Milliseconds of silence with movement that end a trip.
    package var silence: Int64

    package init(
        stay: StayRule = .betweenTrips, leastDistance: Double = 300, leastDuration: Int64 = 60_000,
        silence: Int64 = 3_600_000
    ) {
        self.stay = stay
        self.leastDistance = leastDistance
        self.leastDuration = leastDuration
        self.silence = silence
    }
}
