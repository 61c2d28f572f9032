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
