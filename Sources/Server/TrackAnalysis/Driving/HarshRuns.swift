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
