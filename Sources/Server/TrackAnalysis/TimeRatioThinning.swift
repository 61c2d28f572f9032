internal import Geodesy

/// How strongly a track is thinned for display.
package enum ThinningGrade: Int, Hashable, Sendable, CaseIterable {
    case off = 0
    case finest
    case fine
    case middle
    case coarse
    case coarsest

    /// Metres by which a dropped point may be off the line between its kept neighbours, at its time.
    package var tolerance: Double {
        switch self {
        case .off: 0
        case .finest: 3
        case .fine: 5
        case .middle: 10
        case .coarse: 20
        case .coarsest: 50
        }
    }
}

/// Drops samples that are where the vehicle would be at their time if it went evenly from the kept sample before to the
/// kept sample after: top-down time ratio (Meratnia and de By, 2004).
///
/// A stop at a light on a straight road stays, because its samples are not where even motion would put them. The track
/// is thinned in blocks, so that the time is linear. Ends of blocks, both sides of an interruption or a break, and pinned samples
/// stay.
package struct TimeRatioThinning: TrackStep {
    /// Samples of a block.
    static let block = 1024

    /// Metres.
    private let tolerance: Double
    /// The block so far; its first sample is out already when it ended the block before.
    private var waiting: [TrackSample] = []
    private var startIsOut = false

    package init(metres tolerance: Double) { self.tolerance = tolerance }

    package mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropReasons) {
        guard tolerance > 0 else { return kept.append(sample) }
        if let last = waiting.last, sample.followsBreak || sample.milliseconds(since: last) >= Interruption.span {
            flush(to: &kept, &drops)
            waiting.removeAll(keepingCapacity: true)
            startIsOut = false
        }
        waiting.append(sample)
        if waiting.count > 1, waiting.count == Self.block || sample.isPinned {
            flush(to: &kept, &drops)
            waiting = [sample]
            startIsOut = true
        }
    }

    package mutating func finish(to kept: inout [TrackSample], _ drops: inout DropReasons) {
        flush(to: &kept, &drops)
        waiting = []
        startIsOut = false
    }

    private func flush(to kept: inout [TrackSample], _ drops: inout DropReasons) {
        guard let first = waiting.first else { return }
        if !startIsOut { kept.append(first) }
        guard waiting.count > 1 else { return }
        let stays = chosen()
        for (position, sample) in waiting.enumerated().dropFirst() {
            if stays[position] { kept.append(sample) } else { drops.drop(sample.index, .thinned) }
        }
    }

    /// Which samples of the block stay.
    private func chosen() -> [Bool] {
        var stays = [Bool](repeating: false, count: waiting.count)
        stays[0] = true
        stays[waiting.count - 1] = true
        var parts = [0..<waiting.count - 1]
        while let part = parts.popLast() {
            guard let worst = worst(between: part.lowerBound, and: part.upperBound) else { continue }
            stays[worst] = true
            parts.append(part.lowerBound..<worst)
            parts.append(worst..<part.upperBound)
        }
        return stays
    }

    /// The sample that is farthest from even motion between two others, if it is farther than the tolerance.
    private func worst(between start: Int, and end: Int) -> Int? {
        let (first, last) = (waiting[start], waiting[end])
        let way = last.position - first.position
        let span = max(last.seconds(since: first), .leastNonzeroMagnitude)
        var (worst, largest): (Int?, Double) = (nil, tolerance * tolerance)
        for position in start + 1..<max(end, start + 1) {
            let sample = waiting[position]
            let off = sample.position - (first.position + way * (sample.seconds(since: first) / span))
            // The straight line runs below the ground: only what is off along the ground counts.
            let height = off.dot(sample.position.upwards)
            let squared = off.squaredLength - height * height
            if squared > largest { (worst, largest) = (position, squared) }
        }
        return worst
    }
}
