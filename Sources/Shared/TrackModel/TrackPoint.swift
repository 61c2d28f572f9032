/// A fix as one point of an entity's track, with the values of the service's track columns.
package struct TrackPoint: Hashable, Sendable {
    package var fix: Fix
    /// The datum of `fix.coordinate`; points gathered from a receiver are always WGS 84.
    package var coordinateType: CoordinateType
    /// Name of an attached object (the Web API's `object_name`), at most 128 bytes of UTF-8.
    package var objectName: String?
    /// Values by track column key. At most ``AttributeValue/maximumCount`` entries.
    package var attributes: [String: AttributeValue]
    /// The vehicle was parked: the place is that of the whole stay, not one fix's, and few such points stand for many fixes.
    package var isParked: Bool
    /// What the agent says about the time before the point; nil when no agent gathered the point, or an older one did.
    package var continuity: Continuity?

    package init(
        _ fix: Fix, coordinateType: CoordinateType = .wgs84, objectName: String? = nil,
        attributes: [String: AttributeValue] = [:], isParked: Bool = false, continuity: Continuity? = nil
    ) {
        self.fix = fix
        self.coordinateType = coordinateType
        self.objectName = objectName
        self.attributes = attributes
        self.isParked = isParked
        self.continuity = continuity
    }
}

/// The value of one custom attribute, typed as its track column is.
package enum AttributeValue: Hashable, Sendable {
    case integer(Int64)
    /// Finite.
    case double(Double)
    /// At most ``maximumStringBytes`` bytes of UTF-8.
    case string(String)

    /// Attributes a point may carry.
    package static let maximumCount = 64
    /// Longest string value and longest key, bytes of UTF-8.
    package static let maximumStringBytes = 1024
    package static let maximumKeyBytes = 128
}

/// One solution of a GNSS receiver, in the units of the wire; what the receiver did not say is nil, never 0.
package struct Fix: Hashable, Sendable {
    /// When the receiver was there, by GNSS time.
    package var time: Timestamp
    /// The time is that of the vehicle's system clock, because the receiver told none, or a wrong one.
    package var isClockTime: Bool
    /// Where, WGS 84 when it comes from a receiver.
    package var coordinate: Coordinate
    /// Speed over ground, cm/s, not negative.
    package var speed: Int32?
    /// Course over ground from true north, 0.1 degree, 0 ..< 3600.
    package var course: Int32?
    /// Altitude above mean sea level, 0.1 m.
    package var altitude: Int32?
    /// Estimated horizontal error (gpsd's `eph`), 0.1 m, not negative.
    package var accuracy: Int32?
    /// Nil for a point that no receiver made (uploaded by a program).
    package var mode: FixMode?
    package var status: FixStatus?
    /// Satellites used in the solution, 0 ... 255.
    package var satellites: UInt8?

    package init(
        time: Timestamp, coordinate: Coordinate, speed: Int32? = nil, course: Int32? = nil, altitude: Int32? = nil,
        accuracy: Int32? = nil, mode: FixMode? = nil, status: FixStatus? = nil, satellites: UInt8? = nil,
        isClockTime: Bool = false
    ) {
        self.time = time
        self.isClockTime = isClockTime
        self.coordinate = coordinate
        self.speed = speed
        self.course = course
        self.altitude = altitude
        self.accuracy = accuracy
        self.mode = mode
        self.status = status
        self.satellites = satellites
    }
}

/// Dimensions of a solution; the raw values are gpsd's `MODE_2D` and `MODE_3D`.
package enum FixMode: UInt8, Hashable, Sendable, CaseIterable {
    case twoDimensional = 2
    case threeDimensional = 3
}

/// How a solution was reached; the raw values are gpsd's `STATUS_*` (a plain fix, 1, is not reported by gpsd).
package enum FixStatus: UInt8, Hashable, Sendable, CaseIterable {
    case plain = 1
    case differential = 2
    case realTimeKinematicFixed = 3
    case realTimeKinematicFloat = 4
    case deadReckoning = 5
    case gnssDeadReckoning = 6
    /// Surveyed in: a base station's own place.
    case timeOnly = 7
    case simulated = 8
    /// Military P(Y) code.
    case encrypted = 9
}

/// A place on the earth in units of 1e-7 degree: exact, comparable, eight bytes (the resolution is about 1.1 cm).
///
/// The datum is the holder's to say: see ``CoordinateType``.
package struct Coordinate: Hashable, Sendable {
    /// Latitude, north positive, -900,000,000 ... 900,000,000.
    package let latitudeE7: Int32
    /// Longitude, east positive, -1,800,000,000 ... 1,800,000,000.
    package let longitudeE7: Int32

    /// Nil when either number is outside its range.
    package init?(latitudeE7: Int32, longitudeE7: Int32) {
        guard (-900_000_000...900_000_000).contains(latitudeE7),
            (-1_800_000_000...1_800_000_000).contains(longitudeE7)
        else { return nil }
        self.latitudeE7 = latitudeE7
        self.longitudeE7 = longitudeE7
    }

    /// Degrees, rounded to the nearest 1e-7; nil when not finite or outside [-90, 90] and [-180, 180].
    package init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        latitudeE7 = Int32((latitude * 1e7).rounded())
        longitudeE7 = Int32((longitude * 1e7).rounded())
    }

    /// Degrees, north positive.
    package var latitude: Double { Double(latitudeE7) / 1e7 }
    /// Degrees, east positive.
    package var longitude: Double { Double(longitudeE7) / 1e7 }
}

/// The datum of a pair of degrees, with the Web API's names.
package enum CoordinateType: String, Hashable, Sendable, CaseIterable {
    /// WGS 84: what GNSS receivers give; the only datum outside China.
    case wgs84
    /// GCJ-02: the national datum of maps published in China.
    case gcj02
    /// BD-09 latitude and longitude: GCJ-02 with a further offset.
    case bd09ll
}
