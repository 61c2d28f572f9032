/// A route: trips on the same way that began at about the same time of the day.
package struct FrequentRoute: Hashable, Sendable {
    /// Numbers of the trips, ascending.
    package let trips: [Int]
    /// The trip that all others are like.
    package let representative: Int
    package let departures: DayTimes
    package let arrivals: DayTimes

    /// The earliest and the latest of some times of the day, seconds after midnight. The latest is a smaller number than the
    /// earliest when midnight lies between them.
    package struct DayTimes: Hashable, Sendable {
        package let earliest: Int64
        package let latest: Int64

        package init(earliest: Int64, latest: Int64) { (self.earliest, self.latest) = (earliest, latest) }
    }
}
