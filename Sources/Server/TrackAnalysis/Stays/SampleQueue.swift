/// Samples first in, first out; both ends take constant time on average.
struct SampleQueue: Sendable {
    private var storage: [TrackSample] = []
    private var head = 0

    var isEmpty: Bool { head == storage.count }
    var first: TrackSample? { isEmpty ? nil : storage[head] }
    var last: TrackSample? { isEmpty ? nil : storage[storage.count - 1] }
    /// What is in the queue, oldest first.
    var samples: ArraySlice<TrackSample> { storage[head...] }

    mutating func append(_ sample: TrackSample) { storage.append(sample) }

    mutating func removeFirst() {
        head += 1
        // The array moves at most once for each removal.
        if head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }

    mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
        head = 0
    }
}
