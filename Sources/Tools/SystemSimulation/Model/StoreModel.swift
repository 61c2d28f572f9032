internal import TrackModel
internal import TrackStore

/// What the store must hold: every commit once more, in plain lists.
struct StoreModel {
    private struct Stream: Hashable {
        let service: ServiceID
        let id: StreamID
    }

    private var storedThrough: [Stream: UInt64] = [:]
    private(set) var points: [String: [TrackPoint]] = [:]
    private(set) var commits = 0
    private(set) var duplicates = 0

    func through(_ stream: StreamID, _ service: ServiceID) -> UInt64 {
        storedThrough[Stream(service: service, id: stream)] ?? 0
    }

    /// The highest number of any stream that ends in these: what an acknowledgement may say at most.
    func hasStored(_ stream: StreamID, _ service: ServiceID, through sequence: UInt64) -> Bool {
        through(stream, service) >= sequence
    }

    /// Takes a committed batch; returns the points that are new, and checks what the store said of it.
    mutating func commit(_ batch: IngestBatch, _ outcome: IngestOutcome) throws(Violation) -> [TrackPoint] {
        guard let position = batch.position else { return [] }
        let stream = Stream(service: batch.service, id: position.stream)
        let before = storedThrough[stream] ?? 0
        let last = position.first + UInt64(position.count) - 1
        let expected: IngestOutcome = last > before ? .stored(through: last) : .duplicate(through: before)
        guard outcome == expected else {
            throw Violation(
                guarantee: .exactlyOnce,
                detail: "the store answered \(outcome) to \(position.first)...\(last) after \(before)")
        }
        guard last > before else {
            duplicates += 1
            return []
        }
        storedThrough[stream] = last
        commits += 1
        var new: [TrackPoint] = []
        for (point, sequence) in zip(batch.points, batch.sequences) where sequence > before { new.append(point) }
        points[batch.entity, default: []] += new
        return new
    }

    var count: Int { points.values.reduce(0) { $0 + $1.count } }
}
