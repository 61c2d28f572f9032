internal import AgentLogic
internal import AgentRuntime
internal import GNSSFeed
internal import Geodesy
internal import NIOCore
internal import TrackModel
internal import TrackTestKit

/// A receiver in a moving vehicle: reports in whole units, as complete or incomplete as gpsd tells them.
struct DrivenReceiver {
    private var dice: DiskDice
    private(set) var latitude = 0.0
    private(set) var longitude = 0.0
    /// The newest epoch's place is a reflection.
    private(set) var isReflected = false
    /// Degrees a second.
    private var north = 0.0
    private var east = 0.0
    /// Milliseconds added to the true time.
    var timeOffset: Int64 = 0
    /// Milliseconds for which the vehicle still stands.
    private var standing: Int64 = 0
    var isInTunnel = false
    var hasFix = true
    let hasIncompleteReports: Bool
    /// Where the vehicle drives; nil: anywhere.
    var route: FencedRoute?

    init(seed: UInt64, hasIncompleteReports: Bool) {
        dice = DiskDice(seed: seed)
        self.hasIncompleteReports = hasIncompleteReports
        latitude = Double.random(in: -60...60, using: &dice)
        longitude = Double.random(in: -170...170, using: &dice)
    }

    /// The reports of one epoch, in order. `time`: true GNSS time; `span`: milliseconds since the last epoch.
    mutating func epoch(at time: Int64, span: Int64) -> [PlainReport] {
        if let place = route?.advance(to: time) {
            (latitude, longitude) = (place.latitude, place.longitude)
        } else {
            wander(span)
        }
        isReflected = false
        guard hasFix else { return [PlainReport(time: time + timeOffset, mode: 1)] }
        // Noise of a few metres: no two fixes are alike.
        let report = PlainReport(
            time: time + timeOffset, mode: dice.one(in: 10) ? 2 : 3,
            latitude: Int32((latitude * 1e7).rounded()) + Int32.random(in: -300...300, using: &dice),
            longitude: Int32((longitude * 1e7).rounded()) + Int32.random(in: -300...300, using: &dice),
            speed: optional(speed()),
            course: optional(Int32.random(in: 0..<3600, using: &dice)),
            altitude: optional(Int32.random(in: -500...20_000, using: &dice)),
            accuracy: optional(Int32.random(in: 5...600, using: &dice)),
            status: dice.one(in: 3) ? Int.random(in: 0...6, using: &dice) : nil,
            satellites: dice.one(in: 8) ? nil : Int.random(in: 3...30, using: &dice))
        guard hasIncompleteReports else { return [reflected(report)] }
        var reports: [PlainReport] = []
        if dice.one(in: 3) { reports.append(PlainReport(time: nil, mode: 0)) }
        if dice.one(in: 2) {
            var early = report
            early.altitude = nil
            early.speed = nil
            early.mode = 2
            early.latitude = report.latitude.map { $0 + 10 }
            early.time = report.time.map { $0 + Int64.random(in: -1...0, using: &dice) }
            reports.append(early)
        }
        reports.append(report)
        if dice.one(in: 4) {
            var late = report
            late.accuracy = nil
            late.satellites = nil
            late.longitude = report.longitude.map { $0 + 10 }
            reports.append(late)
        }
        // Now and then only half of the story.
        if dice.one(in: 50) { reports.removeLast() }
        return reports
    }

    /// Accelerates, turns, stands still.
    private mutating func wander(_ span: Int64) {
        if dice.one(in: 30) {
            north = Double.random(in: -1...1, using: &dice) * 2.5e-4
            east = Double.random(in: -1...1, using: &dice) * 2.5e-4
        }
        if dice.one(in: 60) { (north, east) = (0, 0) }
        stand(for: span)
        latitude = min(80, max(-80, latitude + north * Double(span) / 1000))
        longitude += east * Double(span) / 1000
        if longitude > 179 || longitude < -179 { east = -east }
        longitude = min(179.5, max(-179.5, longitude))
    }

    /// The vehicle is somewhere else all of a sudden: a ferry, a tow, a reflection.
    mutating func leap() {
        latitude = min(80, max(-80, latitude + Double.random(in: -1...1, using: &dice)))
    }

    /// Long stays now and then, some of them with a creep of a tenth of a metre a second.
    private mutating func stand(for span: Int64) {
        if standing <= 0 {
            guard dice.one(in: 400) else { return }
            standing = Int64.random(in: 60_000...1_500_000, using: &dice)
            (north, east) = (0, dice.one(in: 4) ? 1e-6 : 0)
        }
        standing -= span
        if standing > 0 { north = 0 }
        if standing > 0, abs(east) > 1e-6 { east = 0 }
    }

    private var isStanding: Bool { route?.isStanding ?? (standing > 0) }

    /// cm/s. At rest a receiver says little, and sometimes much.
    private mutating func speed() -> Int32 {
        if let route, !route.isStanding { return Int32(route.speed * 100) + Int32.random(in: -30...30, using: &dice) }
        guard isStanding else { return Int32.random(in: 0...5000, using: &dice) }
        return dice.one(in: 200) ? Int32.random(in: 100...400, using: &dice) : Int32.random(in: 0...80, using: &dice)
    }

    /// At rest, one fix in many is a reflection.
    private mutating func reflected(_ report: PlainReport) -> PlainReport {
        guard isStanding, dice.one(in: 100) else { return report }
        isReflected = true
        var report = report
        report.latitude = report.latitude.map { $0 + Int32.random(in: -3000...3000, using: &dice) }
        return report
    }

    private mutating func optional(_ value: Int32) -> Int32? { dice.one(in: 12) ? nil : value }
}

extension GNSSReport {
    /// As gpsd would say it.
    init(_ plain: PlainReport) {
        self.init(
            time: plain.time.map { Timestamp(milliseconds: $0) }, mode: plain.mode,
            latitude: plain.latitude.map { Double($0) / 1e7 }, longitude: plain.longitude.map { Double($0) / 1e7 },
            speed: plain.speed.map { Double($0) / 100 }, course: plain.course.map { Double($0) / 10 },
            altitudeMSL: plain.altitude.map { Double($0) / 10 },
            horizontalError: plain.accuracy.map { Double($0) / 10 }, status: plain.status,
            satellitesUsed: plain.satellites, device: "/dev/ttyS0")
    }
}

// What the agent hears of the receiver beside its reports.
extension History {
    /// As the agent reads them now.
    var clocks: DateModel.Clocks {
        let system = clock.read()
        let isPossible = system.milliseconds >= SakerVersion.madeAt * 1000
        return DateModel.Clocks(
            now: Int64(loop.now.uptimeNanoseconds / 1_000_000), system: system.milliseconds,
            isKept: system.isSynchronised && isPossible)
    }

    func tellFeedState() {
        guard let watch = box?.feeds.open else { return }
        if !isGPSDUp {
            watch.deliver(.state(.unreachable(reason: "gpsd is gone")))
        } else {
            watch.deliver(.state(receiver.hasFix && !receiver.isInTunnel ? .fix : .noFix))
        }
    }
}
