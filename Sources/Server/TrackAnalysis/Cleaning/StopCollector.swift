internal import Geodesy

/// Chooses the samples that stand for a stop.
struct StopCollector: StaySink, Sendable {
    private var kept: [TrackSample] = []
    private var dropped: [Int] = []
    /// What stands for the open stop, without its last sample.
    private var chosen: [TrackSample] = []
    /// The last sample inside, unless it is chosen.
    private var newest: TrackSample?

    mutating func passed(_ sample: TrackSample) { kept.append(sample) }

    mutating func entered(_ sample: TrackSample) {
        guard let last = chosen.last else { return chosen.append(sample) }
        if let newest {
            // Without it the next one would be too far from the last that is chosen.
            if sample.milliseconds(since: last) > StopCollapse.interval {
                chosen.append(newest)
            } else {
                dropped.append(newest.index)
            }
        }
        newest = sample
    }

    mutating func strayed(_ sample: TrackSample) { dropped.append(sample.index) }

    mutating func ended(_ stay: StayRun, isOpen: Bool) {
        if let newest { chosen.append(newest) }
        let place = stay.mean.degrees
        for (position, sample) in chosen.enumerated() {
            var standing = sample.standing(at: stay.mean, of: place)
            standing.isPinned = position == 0 || position == chosen.count - 1
            kept.append(standing)
        }
        chosen.removeAll(keepingCapacity: true)
        newest = nil
    }

    mutating func drain(to kept: inout [TrackSample], _ drops: inout DropLedger) {
        guard !self.kept.isEmpty || !dropped.isEmpty else { return }
        kept += self.kept
        for index in dropped { drops.drop(index, .stop) }
        self.kept.removeAll(keepingCapacity: true)
        dropped.removeAll(keepingCapacity: true)
    }
}
