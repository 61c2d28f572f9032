/// The largest radius of the samples in a queue, in constant time on average.
struct LargestRadius: Sendable {
    /// Descending radii: a sample that is older and smaller than another one never counts again.
    private var candidates: [(index: Int, radius: Int32)] = []
    private var head = 0

    /// Metres; 0 when no sample has a radius.
    var largest: Double { head < candidates.count ? Double(candidates[head].radius) / 10 : 0 }

    mutating func append(_ sample: TrackSample) {
        guard let radius = sample.accuracy else { return }
        while candidates.count > head, let last = candidates.last, last.radius <= radius { candidates.removeLast() }
        candidates.append((sample.index, radius))
    }

    /// The oldest sample leaves.
    mutating func removeFirst(_ sample: TrackSample) {
        guard head < candidates.count, candidates[head].index == sample.index else { return }
        head += 1
        if head * 2 >= candidates.count {
            candidates.removeFirst(head)
            head = 0
        }
    }

    mutating func removeAll() {
        candidates.removeAll(keepingCapacity: true)
        head = 0
    }
}
