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

/// A track point that must be made.
struct ChosenPoint: Hashable {
    var fix: Fix
    var isParked = false
}

/// Which reports must become track points: the rules of gathering once more, written down from their description with
/// nothing but lists and whole numbers.
struct GridModel {
    // One epoch: all reports of (nearly) one time.
    private var epochTime: Int64?
    private var epoch: [PlainReport] = []
    /// What the clocks said when its first report came.
    private var epochClocks = DateModel.Clocks(now: 0, system: 0, isKept: false)

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
    /// The newest point before this gathering of an entity, the last one of the process before among them.
    private var newestBefore: (entity: String, time: Int64)?
    /// Up to here the entity's fixes are gathered; nil once this gathering has made a point.
    private var gatheredThrough: Int64?
    /// Of the receiver, whoever gathers.
    private(set) var dates: DateModel
    /// Fixes in a row that lie too far away.
    private var strays: [Fix] = []

    // Parking, milliseconds; nil: off.
    var parkingDelay: Int64?
    var parkingInterval: Int64 = 240_000
    /// All fixes of the present stay, slow and near the first of them.
    private var stay: [Fix] = []
    private var place: (fix: Fix, lastPoint: Int64?)?
    var isParked: Bool { place != nil }
    private var signs: [Fix] = []
    /// Those of `signs` that were due, the first of each due time.
    private var dueSigns: [Fix] = []

    /// One of each epoch while the agent gathers, until somebody takes them. `isBack`: time went back to it.
    private var fixes: [(fix: Fix, isBack: Bool)] = []

    /// `newest`: the newest point of the process before.
    init(newest: (entity: String, time: Int64)? = nil) {
        newestBefore = newest
        dates = DateModel(newest: newest?.time)
    }

    /// Dates that turned out to be wrong.
    mutating func takeDisproved() -> [ClosedRange<Int64>] { dates.takeDisproved() }

    mutating func takeFixes() -> [(fix: Fix, isBack: Bool)] {
        defer { fixes = [] }
        return fixes
    }

    // MARK: The feed

    /// Returns the points that must be gathered now.
    mutating func report(_ report: PlainReport, _ clocks: DateModel.Clocks) -> [ChosenPoint] {
        let isSameEpoch: Bool
        if let time = report.time, let epochTime {
            isSameEpoch = abs(time - epochTime) <= 1
        } else {
            isSameEpoch = false
        }
        guard let fix = report.fix else {
            if report.mode == 1 || (report.time != nil && !isSameEpoch) { return endEpoch() }
            return []
        }
        if isSameEpoch {
            // What still comes of an epoch that is over is too late.
            if !epoch.isEmpty { epoch.append(report) }
            return []
        }
        let points = endEpoch()
        epochTime = fix.time.milliseconds
        epoch = [report]
        epochClocks = clocks
        return points
    }

    /// Nothing more comes of this epoch.
    mutating func endEpoch() -> [ChosenPoint] {
        guard let fix = takeEpoch() else { return [] }
        return choose(fix)
    }

    /// The watch is closed while nobody gathers: what waited makes no point, and its date is judged all the same.
    mutating func dropEpoch() -> [ChosenPoint] {
        guard entity == nil else {
            _ = takeEpoch()
            return []
        }
        return endEpoch()
    }

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
            if let knownEntity, let last { newestBefore = (knownEntity, last.time.milliseconds) }
            last = nil
            gatheredThrough = newestBefore.flatMap { $0.entity == name ? $0.time : nil }
        }
        knownEntity = name
        grid = nil
        servedAt = nil
        drivesOff()
    }

    /// What waits for the end of its epoch belongs to this gathering; returns its points.
    mutating func stopGathering() -> [ChosenPoint] {
        let points = endEpoch()
        entity = nil
        return points
    }

    mutating func setInterval(seconds: Int64) {
        guard interval != seconds * 1000 else { return }
        interval = seconds * 1000
        // The grid turns at the last due time that was served.
        if grid != nil { grid = (servedAt ?? grid?.from ?? 0, interval) }
    }

    mutating func optionsChanged() {
        strays = []
        drivesOff()
    }

    private mutating func choose(_ fix: Fix) -> [ChosenPoint] {
        guard case .used(let time, let isClocks, let isBack) = dates.judge(fix.time.milliseconds, epochClocks) else {
            return []
        }
        var fix = fix
        (fix.time, fix.isClockTime) = (Timestamp(milliseconds: time), isClocks)
        if isBack {
            // Everything begins with this fix.
            (grid, servedAt, last, gatheredThrough, newestBefore) = (nil, nil, nil, nil, nil)
            strays = []
            drivesOff()
        }
        if entity != nil || isBack { fixes.append((fix, isBack)) }
        guard entity != nil else { return [] }
        if let gatheredThrough, time <= gatheredThrough + 1 { return [] }
        if let last, time <= last.time.milliseconds { return [] }
        let due = dueTime(time)
        if let limit = desiredAccuracy, let accuracy = fix.accuracy, Double(accuracy) / 10 > limit { return [] }
        if due != nil, let last, servedAt != nil, !isReachable(fix, from: last) { return [] }
        var points = leavesPlace(fix)
        guard let due, servedAt.map({ due > $0 }) ?? true, !isSecondServed(fix) else { return points }
        if var place {
            if !signs.isEmpty {
                if dueSigns.last.map({ dueTime($0.time.milliseconds) ?? .min < due }) ?? true { dueSigns.append(fix) }
            } else if place.lastPoint.map({ time - $0 + 50 >= parkingInterval }) ?? true {
                var point = place.fix
                point.time = fix.time
                point.speed = fix.speed.map { _ in 0 }
                (point.altitude, point.accuracy, point.mode) = (fix.altitude, fix.accuracy, fix.mode)
                (point.status, point.satellites, point.isClockTime) = (fix.status, fix.satellites, fix.isClockTime)
                place.lastPoint = time
                self.place = place
                servedAt = due
                last = point
                gatheredThrough = nil
                points.append(ChosenPoint(fix: point, isParked: true))
            }
            return points
        }
        if let point = take(fix, due) { points.append(point) }
        return points
    }

    /// A point that was late has this second already.
    private func isSecondServed(_ fix: Fix) -> Bool {
        guard let last, let servedAt, last.time.milliseconds - servedAt > 50 else { return false }
        return last.time.milliseconds / 1000 == fix.time.milliseconds / 1000
    }

    private mutating func take(_ fix: Fix, _ due: Int64) -> ChosenPoint? {
        if let last, servedAt != nil, let filter = distanceFilter, Self.metres(last, fix) < filter { return nil }
        servedAt = due
        last = fix
        gatheredThrough = nil
        return ChosenPoint(fix: fix)
    }

    // MARK: Parking

    private mutating func drivesOff() {
        stay = []
        place = nil
        signs = []
        dueSigns = []
    }

    /// Follows the vehicle to its place and away from it; returns the points that a departure gives back.
    private mutating func leavesPlace(_ fix: Fix) -> [ChosenPoint] {
        guard let parkingDelay else { return [] }
        let isFast = fix.speed.map { $0 >= 150 } ?? false
        if let place {
            guard isFast || !isAt(place.fix, fix) else {
                signs = []
                dueSigns = []
                return []
            }
            signs.append(fix)
            guard signs.count >= 3, fix.time.milliseconds - signs[0].time.milliseconds >= 1900 else { return [] }
            let waiting = dueSigns
            drivesOff()
            if !isFast { stay = [fix] }
            var points: [ChosenPoint] = []
            for fix in waiting {
                if let due = dueTime(fix.time.milliseconds), !isSecondServed(fix), let point = take(fix, due) {
                    points.append(point)
                }
            }
            return points
        }
        if let first = stay.first, let newest = stay.last, !isFast, isAt(first, fix),
            fix.time.milliseconds - newest.time.milliseconds <= 60_000
        {
            stay.append(fix)
        } else {
            stay = isFast ? [] : [fix]
        }
        if let first = stay.first, fix.time.milliseconds - first.time.milliseconds >= parkingDelay {
            place = (middle(of: stay), nil)
            stay = []
        }
        return []
    }

    private func isAt(_ place: Fix, _ fix: Fix) -> Bool {
        func error(_ fix: Fix) -> Double { fix.accuracy.map { Double($0) / 10 } ?? 20 }
        return Self.metres(place, fix) <= 10 + min(30, max(error(place), error(fix)))
    }

    /// The mean place; the receiver never crosses the date line. The error is the newest fix's.
    private func middle(of fixes: [Fix]) -> Fix {
        func mean(_ values: [Int32]) -> Int32 {
            let offsets = values.reduce(Int64(0)) { $0 + Int64($1) - Int64(values[0]) }
            return values[0] + Int32(offsets / Int64(values.count))
        }
        let latitude = mean(fixes.map(\.coordinate.latitudeE7))
        let longitude = mean(fixes.map(\.coordinate.longitudeE7))
        var middle = Fix(
            time: fixes[0].time, coordinate: fixes[0].coordinate, accuracy: fixes[fixes.count - 1].accuracy)
        if let place = Coordinate(latitudeE7: latitude, longitudeE7: longitude) { middle.coordinate = place }
        return middle
    }

    // MARK: Time and place

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

    /// Metres on the ellipsoid WGS 84: the chord between the places, as the chord of a circle that is bent as the ellipsoid is halfway
    /// and in this direction. Within a tenth of a metre up to 1,000 km.
    static func metres(_ start: Fix, _ end: Fix) -> Double {
        let (major, eccentricity) = (6_378_137.0, 0.006_694_379_990_14)
        func radians(_ degreesE7: Int32) -> Double { Double(degreesE7) / 1e7 * .pi / 180 }
        func place(_ fix: Fix) -> (Double, Double, Double) {
            let latitude = radians(fix.coordinate.latitudeE7)
            let longitude = radians(fix.coordinate.longitudeE7)
            let normal = major / (1 - eccentricity * sin(latitude) * sin(latitude)).squareRoot()
            return (
                normal * cos(latitude) * cos(longitude), normal * cos(latitude) * sin(longitude),
                normal * (1 - eccentricity) * sin(latitude)
            )
        }
        let (a, b) = (place(start), place(end))
        let x = a.0 - b.0
        let y = a.1 - b.1
        let z = a.2 - b.2
        let chord = (x * x + y * y + z * z).squareRoot()
        let (south, north) = (radians(start.coordinate.latitudeE7), radians(end.coordinate.latitudeE7))
        let middle = (south + north) / 2
        let root = (1 - eccentricity * sin(middle) * sin(middle)).squareRoot()
        let (meridian, normal) = (major * (1 - eccentricity) / (root * root * root), major / root)
        let along = meridian * (north - south)
        let across =
            normal * cos(middle) * (radians(end.coordinate.longitudeE7) - radians(start.coordinate.longitudeE7))
        let squares = along * along + across * across
        guard squares > 0 else { return chord }
        let radius = squares / (along * along / meridian + across * across / normal)
        return 2 * radius * asin(min(1, chord / 2 / radius))
    }
}
