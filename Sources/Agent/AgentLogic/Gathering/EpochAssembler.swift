package import TrackModel

/// Makes one fix of each epoch. gpsd describes an epoch in one or several reports, and some reports are incomplete.
///
/// Reports whose times differ by at most 1 ms belong to one epoch (times are rounded to milliseconds twice on their
/// way). The fix is the most complete report, unchanged, never a mixture. Three dimensions win over two, then the
/// larger number of known details wins, then the later report. The fix comes out when the epoch is over: with the first
/// report of another epoch, with a report that says "no fix", or with ``flush()``. A report of an epoch whose fix has
/// come out is counted and dropped.
///
/// A receiver may tell places without times. Then reports that arrive almost together are one epoch. A report without a
/// time between others that have one is no fix. A receiver may also tell one time again and again: such a time is none.
package struct EpochAssembler: Hashable, Sendable {
    /// The most milliseconds between two reports of one epoch.
    package static let tolerance: Int64 = 1
    /// The most milliseconds between the arrivals of two reports of one epoch that has no time.
    static let togetherness: Int64 = 50
    /// Milliseconds without a fix that has a time, from which on the others count. A time that is told for so long, and in so
    /// many reports after the first, stands still.
    static let timeless: Int64 = 10_000
    static let standingReports = 2

    package private(set) var counters = EpochCounters()
    private var pending: Epoch?
    /// The epoch that is pending, or the last one that came out.
    private var time: Timestamp?
    /// When the first report of this epoch without a time arrived.
    private var arrival: MonotonicTime?
    /// When a fix with a time arrived last.
    private var lastTimed: MonotonicTime?
    /// The time that the fixes had last.
    private var told: ReportedTime?

    package init() {}

    /// Takes a report. Returns the fix of the epoch that the report ends.
    package mutating func report(_ report: GNSSReport, at reading: ClockReading) -> Epoch? {
        counters.reports &+= 1
        let standsAt = standsAt(report, reading.now)
        var report = report
        if standsAt != nil { report.time = nil }
        guard let fix = Fix(report, otherwise: standsAt != nil || mayLackTime(reading.now) ? reading.system : nil)
        else {
            counters.unusable &+= 1
            // "No fix" ends the epoch, like another time. Mode 0 says nothing, so the report before still counts.
            let isOver = report.mode == 1 || report.time.map { !isOfCurrentEpoch($0) } ?? false
            return isOver ? flush() : nil
        }
        let isTimed = report.usableTime != nil
        if isTimed { lastTimed = reading.now }
        guard isTimed ? isOfCurrentEpoch(fix.time) : isOfCurrentEpoch(reading.now) else {
            let finished = flush()
            pending = Epoch(fix: fix, hasTime: isTimed, standsAt: standsAt, device: report.device, arrival: reading)
            (time, arrival) = isTimed ? (fix.time, nil) : (nil, reading.now)
            return finished
        }
        counters.merged &+= 1
        if let best = pending, !isMoreComplete(best.fix, than: fix) {
            pending?.fix = fix
            pending?.device = report.device
            if !isTimed { pending?.fix.time = best.fix.time }
        }
        return nil
    }

    /// The epoch is over: no report came for a while, the connection is lost, or nobody wants fixes any more.
    package mutating func flush() -> Epoch? {
        defer { pending = nil }
        if pending != nil { counters.fixes &+= 1 }
        return pending
    }

    private func mayLackTime(_ now: MonotonicTime) -> Bool { lastTimed.map { now - $0 >= Self.timeless } ?? true }

    /// The time of a report whose clock stands still.
    private mutating func standsAt(_ report: GNSSReport, _ now: MonotonicTime) -> Timestamp? {
        guard report.mode >= 2, let time = report.usableTime else { return nil }
        guard let before = told, Self.isOne(time, before.time) else {
            told = ReportedTime(time: time, since: now)
            return nil
        }
        told?.again = min(before.again + 1, Self.standingReports)
        return before.again + 1 >= Self.standingReports && now - before.since >= Self.timeless ? time : nil
    }

    private func isOfCurrentEpoch(_ time: Timestamp) -> Bool {
        guard let epoch = self.time else { return false }
        return Self.isOne(time, epoch)
    }

    private static func isOne(_ left: Timestamp, _ right: Timestamp) -> Bool {
        (-tolerance...tolerance).contains(left.milliseconds(since: right))
    }

    private func isOfCurrentEpoch(_ now: MonotonicTime) -> Bool {
        arrival.map { now - $0 <= Self.togetherness } ?? false
    }

    private func isMoreComplete(_ left: Fix, than right: Fix) -> Bool {
        let dimensions = (left.mode?.rawValue ?? 0, right.mode?.rawValue ?? 0)
        return dimensions.0 == dimensions.1
            ? left.knownDetails > right.knownDetails : dimensions.0 > dimensions.1
    }
}

/// A time that a receiver has told, when it came first, and how often it was told since.
private struct ReportedTime: Hashable {
    let time: Timestamp
    let since: MonotonicTime
    var again = 0
}

/// One fix of the receiver, with when it came.
package struct Epoch: Hashable, Sendable {
    /// Its time is the receiver's; without one it is that of the system clock, right or wrong: ``TimeGuard`` judges it.
    package var fix: Fix
    package var hasTime: Bool
    /// The receiver tells this time again and again, so it has none.
    package var standsAt: Timestamp?
    /// The receiver's path at gpsd.
    package var device: String?
    /// When its first report came.
    package var arrival: ClockReading

    package init(
        fix: Fix, hasTime: Bool = true, standsAt: Timestamp? = nil, device: String? = nil, arrival: ClockReading
    ) {
        self.fix = fix
        self.hasTime = hasTime
        self.standsAt = standsAt
        self.device = device
        self.arrival = arrival
    }
}

/// Counts of an ``EpochAssembler``. They only grow.
package struct EpochCounters: Hashable, Sendable {
    /// Reports taken.
    package internal(set) var reports: UInt64 = 0
    /// Reports without time, place or solution, or with values out of range.
    package internal(set) var unusable: UInt64 = 0
    /// Reports of an epoch that an earlier report had begun.
    package internal(set) var merged: UInt64 = 0
    /// Fixes that came out.
    package internal(set) var fixes: UInt64 = 0
}

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
