import TrackModel
import TrackStore

extension IngestBatch {
    /// Two times that are farther apart, in milliseconds, are looked for apart: a range must not hold half a track.
    private static let gap: Int64 = 60_000

    /// Ranges that hold the times of the points up to a sequence, ascending.
    func times(through sequence: UInt64) -> [ClosedRange<Timestamp>] {
        let times = zip(points, sequences).prefix { $0.1 <= sequence }.map(\.0.fix.time).sorted()
        var ranges: [ClosedRange<Timestamp>] = []
        for time in times {
            if let last = ranges.last, time.milliseconds(since: last.upperBound) <= Self.gap {
                ranges[ranges.count - 1] = last.lowerBound...time
            } else {
                ranges.append(time...time)
            }
        }
        return ranges
    }
}
