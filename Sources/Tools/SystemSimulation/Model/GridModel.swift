internal import Glibc
internal import TrackModel

/// What one receiver report says, in whole units of the wire: what the agent must make of it.
struct PlainReport {
    /// Milliseconds since 1970; nil: none.
    var time: Int64?
    /// 0, 1, 2 or 3.
    var mode: Int
    /// 1e-7 degree; nil: none.
    var latitude: Int32?
    var longitude: Int32?
    /// cm/s, 0.1 degree, 0.1 m, 0.1 m.
    var speed: Int32?
    var course: Int32?
    var altitude: Int32?
    var accuracy: Int32?
    /// gpsd's number; nil: not said.
    var status: Int?
    var satellites: Int?

    /// The track point it must become; nil when it is no fix.
    var fix: Fix? {
        guard let time, time >= 315_964_800_000, time < 4_294_967_296_000, mode == 2 || mode == 3,
            let latitude, let longitude, let place = Coordinate(latitudeE7: latitude, longitudeE7: longitude)
        else { return nil }
        return Fix(
            time: Timestamp(milliseconds: time), coordinate: place, speed: speed, course: course, altitude: altitude,
            accuracy: accuracy, mode: FixMode(rawValue: UInt8(mode)),
            status: status.map { $0 == 0 ? .plain : FixStatus(rawValue: UInt8($0)) } ?? .plain,
            satellites: satellites.map { UInt8($0) })
    }

    /// How much it says beside time and place.
    var details: Int {
        var count = 0
        if speed != nil { count += 1 }
        if course != nil { count += 1 }
        if altitude != nil { count += 1 }
        if accuracy != nil { count += 1 }
        if satellites != nil { count += 1 }
        return count
    }
}

/// Which reports must become track points: the rules of gathering once more, written down from their description with
/// nothing but lists and whole numbers.
struct GridModel {
    // One epoch: all reports of (nearly) one time.
    private var epochTime: Int64?
    private var epoch: [PlainReport] = []

    // The grid.
    private(set) var entity: String?
    /// The entity of this gathering, or of the last one.
    private(set) var knownEntity: String?
    var interval: Int64 = 5000
    var desiredAccuracy: Double?
    var distanceFilter: Double?
    /// m/s.
    var plausibleSpeed = 150.0
    private var grid: (from: Int64, interval: Int64)?
    private var servedAt: Int64?
    private var last: Fix?
    /// Times believed so far, newest last; five suffice to be sure.
    private var believed: [Int64] = []
    /// Times in a row that contradict what is believed.
    private var doubted: [Int64] = []
    /// Fixes in a row that lie too far away.
    private var strays: [Fix] = []

    // MARK: The feed

    /// Returns the point that must be gathered now, if any.
    mutating func report(_ report: PlainReport) -> Fix? {
        let isSameEpoch: Bool
        if let time = report.time, let epochTime {
            isSameEpoch = abs(time - epochTime) <= 1
        } else {
            isSameEpoch = false
        }
        guard let fix = report.fix else {
            if report.mode == 1 || (report.time != nil && !isSameEpoch) { return endEpoch() }
            return nil
        }
        if isSameEpoch {
            // What still comes of an epoch that is over is too late.
            if !epoch.isEmpty { epoch.append(report) }
            return nil
        }
        let point = endEpoch()
        epochTime = fix.time.milliseconds
        epoch = [report]
        return point
    }

    /// Nothing more comes of this epoch.
    mutating func endEpoch() -> Fix? {
        guard let fix = takeEpoch() else { return nil }
        return choose(fix)
    }

    /// The watch is closed: what waited is nobody's.
    mutating func dropEpoch() { _ = takeEpoch() }

    private mutating func takeEpoch() -> Fix? {
        defer { epoch = [] }
        var best: PlainReport?
        for report in epoch {
            guard let current = best else {
                best = report
                continue
            }
            let isBetter = report.mode != current.mode ? report.mode > current.mode : report.details >= current.details
            if isBetter { best = report }
        }
        return best?.fix
    }

    // MARK: Gathering

    mutating func startGathering(_ name: String) {
        entity = name
        strays = []
        if knownEntity != name {
            believed = []
            doubted = []
            last = nil
        }
        knownEntity = name
        grid = nil
        servedAt = nil
    }

    /// What waits for the end of its epoch belongs to this gathering; returns its point.
    mutating func stopGathering() -> Fix? {
        let point = endEpoch()
        entity = nil
        return point
    }

    mutating func setInterval(seconds: Int64) {
        guard interval != seconds * 1000 else { return }
        interval = seconds * 1000
        // The grid turns at the last due time that was served.
        if grid != nil { grid = (servedAt ?? grid?.from ?? 0, interval) }
    }

    mutating func optionsChanged() { strays = [] }

    private mutating func choose(_ fix: Fix) -> Fix? {
        guard entity != nil else { return nil }
        let time = fix.time.milliseconds
        guard believes(time) else { return nil }
        guard let due = dueTime(time) else { return nil }
        if let limit = desiredAccuracy, let accuracy = fix.accuracy, Double(accuracy) / 10 > limit { return nil }
        if let last, servedAt != nil {
            guard isReachable(fix, from: last) else { return nil }
            if let filter = distanceFilter, Self.metres(last, fix) < filter { return nil }
        }
        servedAt = due
        last = fix
        return fix
    }

    private mutating func believes(_ time: Int64) -> Bool {
        guard let newest = believed.last else {
            believed = [time]
            return true
        }
        if let floor = last?.time.milliseconds, time <= floor {
            // Back in time: only a first date that nothing has confirmed may have been wrong, and by much.
            guard believed.count < 5, floor - time > 600_000 else {
                doubted = []
                return false
            }
            guard doubtsEnough(time) else { return false }
            believed = Array(repeating: time, count: 5)
            // Everything begins with this fix.
            grid = nil
            servedAt = nil
            strays = []
            last = nil
            return true
        }
        if time - newest > 600_000 {
            guard doubtsEnough(time) else { return false }
            believed = Array(repeating: time, count: 5)
            return true
        }
        doubted = []
        believed = (believed + [time]).suffix(5)
        return true
    }

    /// Five in a row, each later than the one before by a minute at most.
    private mutating func doubtsEnough(_ time: Int64) -> Bool {
        if let before = doubted.last, time > before, time - before <= 60_000 {
            doubted.append(time)
        } else {
            doubted = [time]
        }
        guard doubted.count >= 5 else { return false }
        doubted = []
        return true
    }

    /// The due time this time serves: at or after it, 50 ms early at most, and not served yet.
    private mutating func dueTime(_ time: Int64) -> Int64? {
        guard let start = grid?.from, time + 50 >= start || servedAt != nil else {
            grid = (time, interval)
            return time
        }
        guard time + 50 >= start else { return nil }
        let due = start + (time + 50 - start) / interval * interval
        if let servedAt, due <= servedAt { return nil }
        return due
    }

    private mutating func isReachable(_ fix: Fix, from point: Fix) -> Bool {
        if isNear(fix, point) {
            strays = []
            return true
        }
        if let before = strays.last, fix.time > before.time, isNear(fix, before) {
            strays.append(fix)
        } else {
            strays = [fix]
        }
        // A new place that persists is believed.
        guard strays.count >= 5, fix.time.milliseconds - strays[0].time.milliseconds >= 4000 else { return false }
        strays = []
        return true
    }

    private func isNear(_ fix: Fix, _ start: Fix) -> Bool {
        func error(_ fix: Fix) -> Double { min(500, Double(fix.accuracy ?? 0) / 10) }
        let seconds = Double(max(0, fix.time.milliseconds - start.time.milliseconds)) / 1000
        return Self.metres(start, fix) <= plausibleSpeed * seconds + 50 + error(fix) + error(start)
    }

    /// Metres, by the chord through a sphere.
    static func metres(_ start: Fix, _ end: Fix) -> Double {
        func vector(_ fix: Fix) -> (Double, Double, Double) {
            let latitude = Double(fix.coordinate.latitudeE7) / 1e7 * .pi / 180
            let longitude = Double(fix.coordinate.longitudeE7) / 1e7 * .pi / 180
            return (cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude))
        }
        let (a, b) = (vector(start), vector(end))
        let x = a.0 - b.0
        let y = a.1 - b.1
        let z = a.2 - b.2
        return 2 * 6_371_008.7714 * asin(min(1, (x * x + y * y + z * z).squareRoot() / 2))
    }
}
