internal import AgentControl
internal import AgentLogic
internal import GNSSFeed
internal import Logging
internal import Systemd
internal import TrackModel

/// What people are told of the receiver's feed.
struct FeedWatch {
    private let source: String
    private(set) var state = FeedState.stopped
    private var since: SystemTime
    var device: String?
    /// The newest fix and when it arrived.
    var fix: (fix: Fix, arrival: MonotonicTime)?

    init(_ gnss: AgentConfiguration.GNSS, since: SystemTime) {
        source = "\(gnss.host):\(gnss.port)"
        self.since = since
    }

    /// False when nothing changed.
    @discardableResult
    mutating func change(_ new: FeedState, at time: SystemTime) -> Bool {
        guard new != state else { return false }
        state = new
        since = time
        return true
    }

    func report(now: MonotonicTime) -> FeedStatus {
        let told: FeedStatus.State
        var error: String?
        switch state {
        case .stopped: told = .closed
        case .connecting: told = .connecting
        case .unreachable(let reason): (told, error) = (.unreachable, reason)
        case .permissionDenied(let reason): (told, error) = (.permissionDenied, reason)
        case .noDevice(let reason): (told, error) = (.noDevice, reason)
        case .noFix: told = .noFix
        case .fix: told = .fix
        }
        return FeedStatus(
            state: told, since: since.milliseconds, source: source, device: device, lastError: error,
            lastFix: fix.map { FixReport($0.fix, age: max(0, now - $0.arrival)) })
    }
}

extension FixReport {
    fileprivate init(_ fix: Fix, age: Int64) {
        self.init(
            time: fix.time.milliseconds, age: age, latitude: fix.coordinate.latitude,
            longitude: fix.coordinate.longitude, speed: fix.speed.map { Double($0) / 100 },
            course: fix.course.map { Double($0) / 10 }, altitude: fix.altitude.map { Double($0) / 10 },
            accuracy: fix.accuracy.map { Double($0) / 10 }, mode: fix.mode.map { Int64($0.rawValue) },
            status: fix.status.map { Int64($0.rawValue) }, satellites: fix.satellites.map(Int64.init))
    }
}

extension LocationState {
    init(_ state: FeedState) {
        self =
            switch state {
            case .stopped, .connecting: .unknown
            case .unreachable(let reason): .off(reason: reason)
            case .permissionDenied(let reason): .forbidden(reason: reason)
            case .noDevice(let reason): .off(reason: reason)
            case .noFix, .fix: .available
            }
    }
}

extension Logger {
    /// What there is of gpsd, its receiver and the fix now.
    func tell(_ state: FeedState) {
        let (sentence, name, reason): (Logger.Message, String, String?)
        switch state {
        case .stopped, .connecting: return
        case .unreachable(let why): (sentence, name, reason) = ("gpsd does not answer", "unreachable", why)
        case .permissionDenied(let why): (sentence, name, reason) = ("gpsd may not be used", "permission denied", why)
        case .noDevice(let why): (sentence, name, reason) = ("There is no receiver", "no device", why)
        case .noFix: (sentence, name, reason) = ("The receiver has no fix", "no fix", nil)
        case .fix: (sentence, name, reason) = ("The receiver has a fix", "fix", nil)
        }
        var fields = Logger.Metadata.event(.feedState, ["feed": "\(name)"])
        if let reason { fields["reason"] = "\(reason)" }
        info(sentence, metadata: fields)
    }
}
