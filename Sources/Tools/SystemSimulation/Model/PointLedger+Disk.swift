internal import TrackModel

// What stands on the vehicle's disk, and what damage costs.
extension PointLedger {
    /// What was on it is gone with it.
    mutating func diskReplaced() {
        for index in waiting + chosen + unread { entries[index].fate = .lostWithPower }
        waiting = []
        chosen = []
        unread = []
        durableCount = 0
    }

    /// Bits on the disk flip, or files stay unreadable. `points`: so many it can cost; nil: any number.
    mutating func expectDamage(points: Int?) {
        isInexact = true
        countedDamage += 1
        mostDamaged = points.flatMap { points in mostDamaged.map { $0 + points } }
    }

    /// A file that the disk refuses is given up, but not at once: an error may pass.
    /// What was in it stays on the disk, and is found by the next start.
    mutating func gaveUp(tries: Int, _ what: String) throws(Violation) {
        guard failedOperations >= tries else {
            throw broken(.recovery, "\(what) after \(failedOperations) operations that failed, not \(tries)")
        }
        // The next file may have failed for the first time in the same operation.
        failedOperations = 1
        isInexact = true
    }

    /// The directory was read, at the start or after a time in memory: `found` is what stands there.
    ///
    /// The newest `count` of it wait; what stands before them is acknowledged and not deleted yet. `apart` counts as in
    /// memory, whether it stands there or not. Returns how many are missing, of those that should be there.
    @discardableResult
    mutating func readDisk(
        _ found: [(entity: String, fix: Fix)], count: UInt64, dropped: UInt64, isSecured: Bool,
        apart: Set<Int> = []
    ) throws(Violation) -> Int {
        var dropped = dropped
        var missing = 0
        let durable = Set(unread)
        var order: [Int] = []
        for record in found {
            guard let index = byKey[Key(record.entity, record.fix)], entries[index].fix == record.fix else {
                throw broken(
                    .recovery, "recovery brought a point of \(record.entity) that was never gathered: \(record.fix)")
            }
            if apart.contains(index) { continue }
            // Cleared before the disk could be read: what stands there does not count, and goes when the disk takes writes.
            if durable.contains(index), unreadClears.contains(where: { matches(index, $0) }) {
                entries[index].fate = .cleared(isDurable: false)
                entries[index].mayBeMissing = true
                softlyCleared.append(index)
                continue
            }
            if let last = order.last, index <= last {
                throw broken(.order, "on disk \(describe(index)) follows \(describe(last))")
            }
            order.append(index)
        }
        let present = Set(order)
        while order.count > count {
            let index = order.removeFirst()
            if !entries[index].isStored, dropped > 0 {
                // Given up by the bound, and a disk error keeps the file from going.
                dropped -= 1
                entries[index].fate = .droppedByBound
                continue
            }
            guard entries[index].isStored || entries[index].mayBeMissing || isInexact else {
                throw broken(
                    .acknowledgementAfterCommit, "the cache passes \(describe(index)) over, and no commit holds it")
            }
            if !entries[index].isStored { missing += 1 }
            entries[index].fate = .acknowledged
        }
        for index in unread where !present.contains(index) {
            // What the server has, or a person cleared, may go, counted or not.
            if entries[index].isStored || entries[index].mayBeMissing {
                entries[index].fate = .acknowledged
                continue
            }
            // First the clears: what the bound then drops with the same segment it does not count.
            if durable.contains(index), unreadClears.contains(where: { matches(index, $0) }) {
                entries[index].fate = .cleared(isDurable: false)
                softlyCleared.append(index)
                continue
            }
            // Beginning a segment may have cost the oldest.
            if dropped > 0, index < order.first ?? .max {
                dropped -= 1
                entries[index].fate = .droppedByBound
                continue
            }
            guard isInexact else {
                throw broken(.recovery, "\(describe(index)) was durable and is gone after recovery")
            }
            entries[index].fate = .damaged
            missing += 1
        }
        for index in order {
            if case .cleared(isDurable: true) = entries[index].fate, !isInexact {
                throw broken(.exactlyOnce, "\(describe(index)) was cleared, durably, and is back")
            }
            // Owned up to already; what was dropped can stand on the disk once more when the power or the process goes.
            switch entries[index].fate {
            case .droppedByBound, .droppedInMemory:
                entries[index].mayBeMissing = true
                // Once counts and points have parted, another was dropped in its place.
                if isInexact { mostDamaged = mostDamaged.map { $0 + 1 } }
            // Left by a killed process in the kernel's memory, on a disk that has not taken it yet.
            default: if !isSecured, !durable.contains(index) { unsecured.insert(index) }
            }
            entries[index].fate = .waiting
        }
        unread = []
        // What is gathered from now on is newer than these clears.
        unreadClears = []
        waiting = order
        return missing
    }
}
