package import Geodesy
package import TrackModel

/// One point on its way through the steps of the analysis.
package struct TrackSample: Hashable, Sendable {
    /// The point's position in the track as it was fed in, from 0.
    package let index: Int
    /// By GNSS time, milliseconds since 1970.
    package let time: Int64
    /// WGS 84, 1e-7 degree.
    package private(set) var latitudeE7: Int32
    package private(set) var longitudeE7: Int32
    private var speedOrUnknown: Int32
    private var courseOrUnknown: Int32
    private let accuracyOrUnknown: Int32
    /// The agent says that the vehicle was parked.
    package let isParked: Bool
    /// The point stands in a stop, and at the stop's mean place.
    package private(set) var isInStop = false
    /// The vehicle cannot have come here from the sample before: nobody knows which of both is false.
    package internal(set) var followsBreak = false
    /// Thinning keeps the point.
    package var isPinned = false
    /// The place again, for computing.
    package private(set) var position: EarthVector

    private static let unknown = Int32.min

    package init(
        index: Int, time: Int64, latitudeE7: Int32, longitudeE7: Int32, speed: Int32? = nil, course: Int32? = nil,
        accuracy: Int32? = nil, isParked: Bool = false
    ) {
        self.index = index
        self.time = time
        self.latitudeE7 = latitudeE7
        self.longitudeE7 = longitudeE7
        speedOrUnknown = speed ?? Self.unknown
        courseOrUnknown = course ?? Self.unknown
        accuracyOrUnknown = accuracy ?? Self.unknown
        self.isParked = isParked
        position = EarthVector(Degrees(latitude: Double(latitudeE7) / 1e7, longitude: Double(longitudeE7) / 1e7))
    }

    /// As uploaded, cm/s; 0 in a stop.
    package var speed: Int32? { speedOrUnknown == Self.unknown ? nil : speedOrUnknown }
    /// As uploaded, 0.1 degree from true north; unknown in a stop.
    package var course: Int32? { courseOrUnknown == Self.unknown ? nil : courseOrUnknown }
    /// As uploaded, 0.1 m.
    package var accuracy: Int32? { accuracyOrUnknown == Self.unknown ? nil : accuracyOrUnknown }

    /// m/s, when it is known.
    package var metresASecond: Double? { speed.map { Double($0) / 100 } }
    /// km/h, when it is known. Whole values stay whole.
    package var kilometresAnHour: Double? { speed.map { Double($0) * 36 / 1000 } }
    /// km/h as a client reads it, when it is known: with one decimal when that stands for the same stored speed, else with
    /// two. So a speed that was uploaded as 50 km/h is 50 and not 50.004, and is not over a limit of 50.
    package var shownSpeed: Double? {
        speed.map { speed in
            let tenths = (Double(speed) * 0.36).rounded()
            let isWhole = (tenths / 0.36).rounded() == Double(speed)
            return isWhole ? tenths / 10 : (Double(speed) * 3.6).rounded() / 100
        }
    }
    /// Metres, when it is known.
    package var radius: Double? { accuracy.map { Double($0) / 10 } }

    package var place: Degrees {
        Degrees(latitude: Double(latitudeE7) / 1e7, longitude: Double(longitudeE7) / 1e7)
    }

    package var timestamp: Timestamp { Timestamp(milliseconds: time) }

    /// Milliseconds from this sample to `now`.
    func age(at now: Int64) -> Int64 { Timestamp(milliseconds: now).milliseconds(since: timestamp) }

    /// Seconds from another sample to this one.
    package func seconds(since other: TrackSample) -> Double { Double(milliseconds(since: other)) / 1000 }

    /// Clamped: times from outside never trap.
    package func milliseconds(since other: TrackSample) -> Int64 {
        timestamp.milliseconds(since: other.timestamp)
    }

    /// Metres along the ground.
    package func distance(to other: TrackSample) -> Double { position.distance(to: other.position) }

    /// The sample at another place, with all else that it says: where a road is, for example.
    package func moved(to place: Degrees) -> TrackSample {
        var sample = self
        sample.latitudeE7 = Self.tenMillionths(place.latitude, within: 90)
        sample.longitudeE7 = Self.tenMillionths(place.longitude, within: 180)
        sample.position = EarthVector(place)
        return sample
    }

    /// Clamped: a place from outside never traps.
    private static func tenMillionths(_ degrees: Double, within limit: Double) -> Int32 {
        Int32((max(-limit, min(limit, degrees)) * 1e7).rounded())
    }

    /// The sample at a stop's mean place, at rest.
    func standing(at mean: EarthVector, of place: Degrees) -> TrackSample {
        var sample = self
        sample.latitudeE7 = Self.tenMillionths(place.latitude, within: 90)
        sample.longitudeE7 = Self.tenMillionths(place.longitude, within: 180)
        sample.speedOrUnknown = 0
        sample.courseOrUnknown = Self.unknown
        sample.isInStop = true
        sample.position = mean
        return sample
    }
}
