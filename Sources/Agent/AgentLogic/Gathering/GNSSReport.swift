package import TrackModel

/// The content of one TPV of gpsd, with the number of satellites of the last SKY, as received.
///
/// A value that the receiver did not send is nil. A damaged message may hold any number: ``EpochAssembler`` checks
/// them.
package struct GNSSReport: Hashable, Sendable {
    /// GNSS time.
    package var time: Timestamp?
    /// gpsd's `MODE_*`: 0 unknown, 1 no fix, 2 and 3 the dimensions of the solution.
    package var mode: Int
    /// Degrees, WGS 84.
    package var latitude: Double?
    package var longitude: Double?
    /// Over ground, m/s.
    package var speed: Double?
    /// Over ground, degrees from true north.
    package var course: Double?
    /// Above mean sea level, m.
    package var altitudeMSL: Double?
    /// gpsd's `eph`: estimated horizontal error, m.
    package var horizontalError: Double?
    /// gpsd's `STATUS_*`. gpsd sends none for a plain fix.
    package var status: Int?
    package var satellitesUsed: Int?
    /// gpsd's path of the receiver.
    package var device: String?

    package init(
        time: Timestamp? = nil, mode: Int = 0, latitude: Double? = nil, longitude: Double? = nil,
        speed: Double? = nil, course: Double? = nil, altitudeMSL: Double? = nil,
        horizontalError: Double? = nil,
        status: Int? = nil, satellitesUsed: Int? = nil, device: String? = nil
    ) {
        self.time = time
        self.mode = mode
        self.latitude = latitude
        self.longitude = longitude
        self.speed = speed
        self.course = course
        self.altitudeMSL = altitudeMSL
        self.horizontalError = horizontalError
        self.status = status
        self.satellitesUsed = satellitesUsed
        self.device = device
    }
}

extension Fix {
    /// The report in the units of the wire. Nil when it is no fix: without time (and without `otherwise`), place or
    /// dimensions, or out of range.
    ///
    /// A detail out of its range is left out. An error that is too large for its field becomes the largest value, so
    /// that it does not become unknown. A solution without status, or with status 0, is a plain fix in gpsd's terms.
    /// `otherwise`: the time of a report without one.
    package init?(_ report: GNSSReport, otherwise: Timestamp? = nil) {
        guard let time = report.usableTime ?? otherwise,
            let mode = UInt8(exactly: report.mode).flatMap(FixMode.init(rawValue:)),
            let latitude = report.latitude, let longitude = report.longitude,
            let coordinate = Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        let course = report.course.flatMap {
            (0...360).contains($0) ? Int32(($0 * 10).rounded()) % 3600 : nil
        }
        let error = report.horizontalError.flatMap { error -> Int32? in
            guard error.isFinite, error >= 0 else { return nil }
            return Self.scaled(error, by: 10) ?? .max
        }
        let status = report.status ?? 0
        self.init(
            time: time, coordinate: coordinate,
            speed: report.speed.flatMap { $0 >= 0 ? Self.scaled($0, by: 100) : nil }, course: course,
            altitude: report.altitudeMSL.flatMap { Self.scaled($0, by: 10) }, accuracy: error, mode: mode,
            status: status == 0 ? .plain : UInt8(exactly: status).flatMap(FixStatus.init(rawValue:)),
            satellites: report.satellitesUsed.flatMap { $0 < 0 ? nil : UInt8(clamping: $0) })
    }

    /// Rounds to the nearest; nil when not finite or out of range.
    private static func scaled(_ value: Double, by factor: Double) -> Int32? {
        Int32(exactly: (value * factor).rounded())
    }

    /// The number of known details besides time and place.
    var knownDetails: Int {
        (speed != nil ? 1 : 0) + (course != nil ? 1 : 0) + (altitude != nil ? 1 : 0)
            + (accuracy != nil ? 1 : 0)
            + (satellites != nil ? 1 : 0)
    }
}

extension GNSSReport {
    /// Why a report of a solution is no fix.
    package var lack: TrackingObstacle {
        let place = latitude.flatMap { latitude in longitude.flatMap { Coordinate(latitude: latitude, longitude: $0) } }
        guard place != nil else { return .noPlace }
        return usableTime == nil ? .noTime : .noPoints
    }

    /// The time, when a receiver can mean it.
    var usableTime: Timestamp? { time.flatMap { Self.receiverTimes.contains($0.milliseconds) ? $0 : nil } }

    /// Times that a receiver can mean, in milliseconds since 1970: from the beginning of GPS time (1980-01-06) to the
    /// end of unsigned 32-bit seconds (2106).
    private static let receiverTimes: Range<Int64> = 315_964_800_000..<4_294_967_296_000
}
