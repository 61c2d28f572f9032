package import Geodesy
package import TrackModel

/// A harsh acceleration or braking.
package struct HarshEvent: Hashable, Sendable {
    /// The sample at which it begins.
    package let index: Int
    package let time: Timestamp
    /// WGS 84.
    package let place: Degrees
    /// km/h.
    package let initialSpeed: Double
    package let endSpeed: Double
    /// Seconds from the first sample to the last.
    package let seconds: Double
    /// m/s²: the mean from the first sample to the last; negative when braking.
    package let acceleration: Double

    init?(from start: TrackSample, to end: TrackSample) {
        guard let first = start.kilometresAnHour, let last = end.kilometresAnHour,
            let acceleration = SpeedPair.acceleration(from: start, to: end)
        else { return nil }
        index = start.index
        time = Timestamp(milliseconds: start.time)
        place = start.place
        initialSpeed = first
        endSpeed = last
        seconds = end.seconds(since: start)
        self.acceleration = acceleration
    }
}

/// Joins pairs beyond a threshold that follow each other to one event: one hard stop is one event, not five.
struct HarshRuns: Sendable {
    /// m/s²; the sign tells the direction.
    let threshold: Double
    private(set) var events: [HarshEvent] = []
    private var run: (start: TrackSample, end: TrackSample)?

    init(threshold: Double) { self.threshold = threshold }

    mutating func add(_ pair: SpeedPair) {
        guard let acceleration = pair.acceleration, isBeyond(acceleration) else { return close() }
        run = (run?.start ?? pair.start.sample, pair.end.sample)
    }

    mutating func close() {
        if let run, let event = HarshEvent(from: run.start, to: run.end) { events.append(event) }
        run = nil
    }

    private func isBeyond(_ acceleration: Double) -> Bool {
        threshold < 0 ? acceleration <= threshold : acceleration >= threshold
    }
}

/// A curve taken too fast.
package struct SteeringEvent: Hashable, Sendable {
    package enum Turn: String, Hashable, Sendable {
        case left
        case right
        /// The Web API's spelling of "unknown".
        case unknown = "unknow"
    }

    /// The sample at which the sharpest part begins.
    package let index: Int
    package let time: Timestamp
    /// WGS 84.
    package let place: Degrees
    /// m/s² towards the centre of the curve: the largest of the event.
    package let centripetalAcceleration: Double
    /// km/h where it is largest.
    package let speed: Double
    /// By the turn of the whole event.
    package let turn: Turn
}

/// Joins pairs in which the vehicle turns too fast to events.
struct SteeringRuns: Sendable {
    /// Degrees of the whole event below which nobody can say to which side it went.
    static let clearTurn = 10.0

    /// m/s², positive.
    let threshold: Double
    private(set) var events: [SteeringEvent] = []
    private var sharpest: (start: TrackSample, acceleration: Double, speed: Double)?
    private var turn = 0.0

    init(threshold: Double) { self.threshold = threshold }

    mutating func add(_ pair: SpeedPair) {
        guard let turned = pair.turn, let speed = pair.meanSpeed else { return close() }
        let acceleration = speed * turned.magnitude * (.pi / 180) / pair.seconds
        guard acceleration >= threshold else { return close() }
        turn += turned
        if acceleration > sharpest?.acceleration ?? 0 {
            sharpest = (pair.start.sample, acceleration, speed)
        }
    }

    mutating func close() {
        defer {
            sharpest = nil
            turn = 0
        }
        guard let sharpest else { return }
        let side: SteeringEvent.Turn = turn.magnitude < Self.clearTurn ? .unknown : turn > 0 ? .right : .left
        events.append(
            SteeringEvent(
                index: sharpest.start.index, time: Timestamp(milliseconds: sharpest.start.time),
                place: sharpest.start.place, centripetalAcceleration: sharpest.acceleration,
                speed: sharpest.speed * 3.6, turn: side))
    }
}

/// Two or more samples in a row over the limit.
package struct SpeedingEpisode: Hashable, Sendable {
    package struct End: Hashable, Sendable {
        package let index: Int
        package let time: Timestamp
        /// WGS 84.
        package let place: Degrees
        /// km/h.
        package let actualSpeed: Double
        package let limit: Double
    }

    package let start: End
    package let end: End
    /// Metres from the first sample to the last.
    package let distance: Double
}

/// Joins samples over their limit to episodes.
struct SpeedingEpisodes: Sendable {
    /// km/h; nil for the limits of the roads.
    private let fixedLimit: Double?
    private(set) var episodes: [SpeedingEpisode] = []
    private var open: (start: SpeedingEpisode.End, end: SpeedingEpisode.End, distance: Double, last: TrackSample)?

    init(threshold: Double) { fixedLimit = threshold > 0 ? threshold : nil }

    mutating func add(_ driven: DrivenSample) {
        guard let end = over(driven) else { return close() }
        guard let run = open, driven.sample.milliseconds(since: run.last) < Interruption.span,
            !driven.sample.followsBreak
        else {
            close()
            return open = (end, end, 0, driven.sample)
        }
        let way = driven.path ?? run.last.distance(to: driven.sample)
        open = (run.start, end, run.distance + way, driven.sample)
    }

    mutating func close() {
        if let open, open.start.index != open.end.index {
            episodes.append(SpeedingEpisode(start: open.start, end: open.end, distance: open.distance))
        }
        open = nil
    }

    /// The sample with its limit when it is over it.
    private func over(_ driven: DrivenSample) -> SpeedingEpisode.End? {
        guard let limit = fixedLimit ?? driven.limit, let speed = driven.sample.shownSpeed, speed > limit
        else { return nil }
        return SpeedingEpisode.End(
            index: driven.sample.index, time: Timestamp(milliseconds: driven.sample.time),
            place: driven.sample.place, actualSpeed: speed, limit: limit)
    }
}
