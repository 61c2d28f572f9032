/// A record that is not yet safe on disk.
struct PendingRecord: Equatable {
    var sequence: UInt64
    let entity: String
    let time: Int64
    let payload: [UInt8]

    /// What it costs in memory, roughly.
    var cost: Int { payload.count + entity.utf8.count + 112 }
}

/// Records in the order of their sequences, taken from the front.
struct RecordQueue {
    private var storage: [PendingRecord] = []
    private var head = 0
    private(set) var cost = 0

    var count: Int { storage.count - head }
    var isEmpty: Bool { head == storage.count }
    var first: PendingRecord? { isEmpty ? nil : storage[head] }

    subscript(index: Int) -> PendingRecord { storage[head + index] }

    mutating func append(_ record: PendingRecord) {
        storage.append(record)
        cost += record.cost
    }

    mutating func removeFirst(_ number: Int = 1) {
        for index in 0..<min(number, count) { cost -= storage[head + index].cost }
        head += min(number, count)
        if isEmpty {
            // A burst's memory is not kept for ever.
            storage.removeAll(keepingCapacity: storage.capacity <= 256)
            head = 0
        } else if head >= 64, head * 4 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }

    /// Index of the first record after a sequence.
    func index(after sequence: UInt64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes what the test accepts; returns how many.
    mutating func removeAll(where test: (PendingRecord) -> Bool) -> UInt64 {
        let kept = storage[head...].filter { !test($0) }
        let removed = UInt64(count - kept.count)
        storage = Array(kept)
        head = 0
        cost = storage.reduce(0) { $0 + $1.cost }
        return removed
    }

    /// Gives the records after a sequence other numbers, as far apart as before: `start` instead of `base`, which is at most the first
    /// of them.
    mutating func renumber(after sequence: UInt64, from base: UInt64, to start: UInt64) {
        for index in (head + self.index(after: sequence))..<storage.count {
            storage[index].sequence = start + (storage[index].sequence - base)
        }
    }
}
