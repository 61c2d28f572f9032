package import Geodesy

/// The places of a cleaned track, 16 bytes each: from a month of them the ways of trips are cut.
package struct RouteTrack: Sendable {
    /// Milliseconds, ascending.
    private var times: [Int64] = []
    private var latitudes: [Int32] = []
    private var longitudes: [Int32] = []

    package init() {}

    package var count: Int { times.count }

    /// `sample`: later than those before it.
    package mutating func add(_ sample: TrackSample) {
        times.append(sample.time)
        latitudes.append(sample.latitudeE7)
        longitudes.append(sample.longitudeE7)
    }

    /// The places of a trip, with its ends.
    package func places(of trip: Trip) -> [Degrees] {
        positions(of: trip).map {
            Degrees(latitude: Double(latitudes[$0]) / 1e7, longitude: Double(longitudes[$0]) / 1e7)
        }
    }

    /// The times of a trip's places, milliseconds.
    package func times(of trip: Trip) -> ArraySlice<Int64> { times[positions(of: trip)] }

    private func positions(of trip: Trip) -> Range<Int> {
        let start = position(of: trip.start.time)
        return start..<max(start, position(of: trip.end.time &+ 1))
    }

    /// The first position of that time or later.
    private func position(of time: Int64) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
