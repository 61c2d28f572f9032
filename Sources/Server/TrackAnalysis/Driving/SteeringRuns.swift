internal import TrackModel

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
