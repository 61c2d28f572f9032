/// When two trips are drives of one route.
package struct RouteRule: Hashable, Sendable {
    /// Metres that the beginnings of two trips are apart at most, and their ends.
    package var ends = 250.0
    /// Metres from a way within which another one runs along it: roads have two sides, and receivers err.
    package var reach = 75.0
    /// The share of each way that runs along the other one.
    package var share = 0.9
    /// Cosine of the angle between two directions that count as one: 60 degrees. There and back are two routes.
    package var direction = 0.5
    /// How many times as long as the shorter way the longer one is at most: who drives a circle twice drives another route.
    package var stretch = 1.25
    /// Samples below which nobody knows the way of a trip.
    package var leastSamples = 4

    package init() {}
}
