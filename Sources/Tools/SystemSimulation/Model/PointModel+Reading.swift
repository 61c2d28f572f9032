internal import AgentControl
internal import DiskRing
internal import TrackModel

// What stands on the vehicle's disk, and what a reading of it has to find.
extension PointModel {
    /// A point that stands on the disk, as the model looks at it.
    private struct Found {
        let index: Int
        let isAcknowledged: Bool
    }

    func index(of point: PointOnDisk) -> Int? {
        guard point.entity.isEmpty else {
            return byKey[Key(point.entity, point.fix)].flatMap { entries[$0].isOf(point.fix) ? $0 : nil }
        }
        // Without its name: of whatever entity.
        return Set(entities).lazy.compactMap { byKey[Key($0, point.fix)] }.first { entries[$0].isOf(point.fix) }
    }

    private var entities: [String] { History.entities }

    /// What was on the disk is gone with it.
    mutating func diskReplaced() {
        for index in waiting + chosen + unread + aside { entries[index].fate = .lostWithPower }
        (waiting, chosen, unread, aside) = ([], [], [], [])
        durableCount = 0
    }

    /// The directory could be read for the first time in this process.
    mutating func observeReading(
        _ cache: DiskRing, _ label: OperationLabel, _ operation: DiskOperation, _ witness: RingFileObserver,
        _ now: MonotonicTime
    ) throws(Violation) {
        hadRead = true
        // Nothing that was in memory was sure.
        isBlurred = true
        try account(cache, label, operation, witness, now, isFirstReading: true)
        let refused = try passedOver(cache, operation)
        let content = witness.content(passingOver: refused, withoutLedger: operation.isLedgerRefused)
        if !operation.isLedgerRefused, !hasFlippedStructure { try markFound?.check(against: content) }
        var found = try content.points.map { point throws(Violation) in
            Found(index: try known(point), isAcknowledged: point.sequence <= content.acknowledged)
        }
        // What is found again was not lost, unless the server has stored what was behind it.
        for (point, standing) in zip(found, content.points)
        where !point.isAcknowledged && canBeStored(standing, of: content.stream) {
            entries[point.index].doubt = nil
        }
        // What the disk took and did not synchronise stands there, and is in memory.
        let unsynchronised = Set(waiting.suffix(cache.unsynchronisedCount))
        let readable = found.count { !$0.isAcknowledged && !unsynchronised.contains($0.index) }
        if !refused.isEmpty {
            try checkUnread(refused, readable: readable, cache, witness)
            try doubt(refused, &found, operation, witness)
        }
        let standing = Set(found.map(\.index))
        // A file whose points have no name any more is deleted in the same operation.
        let elsewhere = Set((content.others + operation.losses.flatMap(\.points)).compactMap { index(of: $0) })
        // The disk could be read and not be written: what was gathered meanwhile stays in memory, behind it.
        let inMemory = cache.state == .disk ? [] : Array(waiting.suffix(cache.unsynchronisedCount))
        // The ledger may not name the stream that has just begun: the process knows what it wrote.
        let others = Set(content.others.compactMap { index(of: $0) })
        let written = cache.state == .disk ? waiting.filter { !standing.contains($0) && others.contains($0) } : []
        try readDisk(
            found, elsewhere: elsewhere, apart: Set(inMemory),
            holds: cache.count - UInt64(inMemory.count + written.count),
            dropped: cache.counters.droppedByBound - before.droppedByBound, isSecured: cache.isSecured, now)
        waiting += written + inMemory
        unreadClears = []
        hasFlippedStructure = false
        hasLetMemoryGo = false
        isBlurred = false
    }

    /// The segments that the reading may have passed over.
    private mutating func passedOver(_ cache: DiskRing, _ operation: DiskOperation) throws(Violation) -> Set<UInt64> {
        let count = cache.recovery.unreadableSegments
        guard count > 0 else { return [] }
        guard failedOperations >= 5 else {
            throw broken(
                .recovery, "opening passed a segment over after \(failedOperations) operations that failed, not 5")
        }
        guard count <= operation.refused.count else {
            throw broken(
                .recovery, "opening passed \(count) segments over, and the disk refused \(operation.refused.count)")
        }
        // A file may have failed for the first time in the same operation.
        failedOperations = 1
        if count == operation.refused.count { givenUp.formUnion(operation.refused) }
        return operation.refused
    }

    /// The cache counts what it could not read: never less than waits there. `readable`: points that wait elsewhere.
    private func checkUnread(
        _ refused: Set<UInt64>, readable: Int, _ cache: DiskRing, _ witness: RingFileObserver
    ) throws(Violation) {
        guard !hasFlippedStructure, unreadClears.isEmpty, cache.counters.droppedByBound == before.droppedByBound else {
            return
        }
        let durable = Set(unread)
        let there = Set(refused.flatMap { witness.points(in: $0) }.compactMap { index(of: $0) })
        let lost = there.count { durable.contains($0) && !entries[$0].isCovered && entries[$0].doubt == nil }
        // Of a file that could be read in part the cache holds that part.
        let held = max(0, Int(cache.count) - cache.unsynchronisedCount - readable)
        let counted = cache.counters.unreadableRecords - before.unreadableRecords
        guard Int(clamping: counted) + held >= lost else {
            throw broken(
                .exactlyOnce, "\(lost) points wait in files that the opening passed over, and it counted \(counted)")
        }
    }

    /// What stands in refused files the cache has, or not, or in part; what their clears took may come back.
    private mutating func doubt(
        _ refused: Set<UInt64>, _ found: inout [Found], _ operation: DiskOperation, _ witness: RingFileObserver
    ) throws(Violation) {
        // The bound may take such a file in the same operation.
        for index in operation.losses.filter({ refused.contains($0.segment) }).flatMap(\.points)
            .compactMap({ index(of: $0) })
        where !entries[index].isStored {
            entries[index].mayBeLate = true
            entries[index].doubt = .refusedFile
        }
        hasDoubts = true
        let full = witness.content(withoutLedger: operation.isLedgerRefused)
        let complete = Set(full.points.compactMap { index(of: $0) })
        let elsewhere = Set(full.others.compactMap { index(of: $0) })
        for point in found where !complete.contains(point.index) {
            // Of another stream, or taken by a clear in a refused file.
            if !elsewhere.contains(point.index) { returned.insert(point.index) }
            guard case .cleared = entries[point.index].fate else { continue }
            entries[point.index].mayReturn = true
            if !entries[point.index].isStored { entries[point.index].doubt = .refusedFile }
        }
        var readable = Set(found.map(\.index))
        for point in full.points + full.others where refused.contains(point.segment) {
            guard let index = index(of: point) else { continue }
            entries[index].mayBeLate = true
            if !entries[index].isStored { entries[index].doubt = .refusedFile }
            if complete.contains(index), readable.insert(index).inserted {
                found.append(Found(index: index, isAcknowledged: point.sequence <= full.acknowledged))
            }
        }
        // The disk may have refused one of them only at first, and another one that holds a clear to the end.
        for file in refused {
            let alone = witness.content(
                passingOver: refused.subtracting([file]), withoutLedger: operation.isLedgerRefused)
            for point in alone.points where point.segment == file {
                guard let index = index(of: point), case .cleared = entries[index].fate,
                    readable.insert(index).inserted
                else { continue }
                (entries[index].mayBeLate, entries[index].mayReturn) = (true, true)
                if !entries[index].isStored { entries[index].doubt = .refusedFile }
                found.append(Found(index: index, isAcknowledged: point.sequence <= alone.acknowledged))
            }
        }
        found.sort { $0.index < $1.index }
    }

    /// Disk errors kept the cache from counting: what it holds are the newest of what stands there, but for what is in doubt.
    /// `excused`: points that the bound took in this operation, as far as its count has excused them.
    mutating func lookAgain(
        _ cache: DiskRing, at now: MonotonicTime, _ witness: RingFileObserver, excused: Set<Int>
    ) throws(Violation) {
        let content = witness.content()
        var indices: [Int] = []
        for point in content.points {
            let index = try known(point)
            if !aside.contains(index) { indices.append(index) }
        }
        let standing = Set(indices)
        let doubtful = waiting.filter { entries[$0].doubt != nil && !standing.contains($0) }
        let elsewhere = Set(content.others.compactMap { index(of: $0) })
        indices += doubtful
        // Begun beside files of a stream that the ledger still names, or taken by a clear that this process has not read.
        indices += waiting.filter {
            (elsewhere.contains($0) || returned.contains($0)) && !standing.contains($0) && entries[$0].doubt == nil
        }
        indices.sort()
        // What is in doubt may be what the cache does not hold, wherever it stands. What else it does not hold has gone from
        // the front.
        var surplus = max(0, indices.count { entries[$0].doubt == nil } - Int(cache.count))
        // What memory dropped may stand there, anywhere between the others.
        let dropped = Set(
            indices.filter { entries[$0].fate == .droppedInMemory && entries[$0].doubt == nil }.prefix(surplus))
        surplus -= dropped.count
        let found = indices.map { index in
            if dropped.contains(index) { return Found(index: index, isAcknowledged: true) }
            let hasGone = surplus > 0
            if entries[index].doubt == nil, hasGone { surplus -= 1 }
            return Found(index: index, isAcknowledged: hasGone)
        }
        unread = Array(waiting.prefix(durableCount))
        waiting = []
        // The count excuses each point once. What was taken for one of them and waits has used none of it.
        let waits = Set(found.filter { !$0.isAcknowledged }.map(\.index))
        let used = UInt64(excused.subtracting(waits).count)
        let counted = cache.counters.droppedByBound - before.droppedByBound
        try readDisk(
            found, elsewhere: elsewhere, apart: [], holds: cache.count, dropped: counted - min(counted, used),
            isSecured: true, now)
        uncounted = max(0, waiting.count - Int(cache.count))
        isBlurred = false
    }

    private func known(_ point: PointOnDisk) throws(Violation) -> Int {
        guard let index = index(of: point) else {
            throw broken(
                .recovery, "recovery brought a point of \(point.entity) that was never gathered: \(point.fix)")
        }
        return index
    }

    /// `found` is what stands there and can be read, `elsewhere` what stands in files that no opening takes. `apart` counts
    /// as in memory, whether it stands there or not. The cache says that it `holds` so many of them.
    private mutating func readDisk(
        _ found: [Found], elsewhere: Set<Int>, apart: Set<Int>, holds: UInt64, dropped: UInt64, isSecured: Bool,
        _ now: MonotonicTime
    ) throws(Violation) {
        var dropped = dropped
        let durable = Set(unread)
        let own = Set(waiting)
        var order: [Int] = []
        var last: Int?
        for point in found where !apart.contains(point.index) {
            let index = point.index
            if let last, index <= last {
                throw broken(.order, "on disk \(describe(index)) follows \(describe(last))")
            }
            last = index
            // Cleared before the disk could be read: what stands there does not count, and goes when the disk takes writes.
            if !own.contains(index), unreadClears.contains(where: { matches(index, $0) }) {
                clearSoftly(index, now)
            } else if point.isAcknowledged {
                try passOver(index, &dropped, now)
            } else {
                order.append(index)
            }
        }
        // Given up by the bound, and a disk error keeps the file from going.
        while dropped > 0, order.count(where: { entries[$0].doubt == nil }) > holds {
            let index = order.removeFirst()
            if entries[index].doubt == nil { dropped -= 1 }
            markDropped(index, now)
        }
        // A file that the opening passed over stays where it is when the bound takes the files behind it.
        let oldest = order.first { entries[$0].doubt == nil } ?? .max
        let present = Set(found.map(\.index))
        for index in unread where !present.contains(index) {
            // First the clears: what the bound then drops with the same segment it does not count.
            if entries[index].isCovered {
                // What the server has, or a person cleared, may go, counted or not.
                entries[index].fate = .acknowledged
            } else if unreadClears.contains(where: { matches(index, $0) }) {
                clearSoftly(index, now)
            } else if entries[index].doubt == nil, dropped > 0, index < oldest {
                // Beginning a segment may have cost the oldest. What nobody can read any more is not counted with them.
                dropped -= 1
                markDropped(index, now)
            } else {
                try missed(index, stands: elsewhere.contains(index))
            }
        }
        for index in order { try take(index, isSecured || durable.contains(index)) }
        unread = []
        waiting = order
    }

    private mutating func clearSoftly(_ index: Int, _ now: MonotonicTime) {
        entries[index].fate = .cleared(isDurable: false)
        entries[index].mayBeMissing = true
        entries[index].goneAt = now
        softlyCleared.append(index)
    }

    /// It stands there, and the cache says that it is acknowledged.
    private mutating func passOver(_ index: Int, _ dropped: inout UInt64, _ now: MonotonicTime) throws(Violation) {
        let entry = entries[index]
        switch entry.fate {
        // Owned up to already, and acknowledged with what came later.
        case .droppedByBound, .droppedInMemory, .cleared: return
        default: break
        }
        // What the server has told the vehicle, or a person cleared, needs no excuse: the bound may have taken others.
        if !entry.isCovered, entry.doubt == nil, dropped > 0 {
            dropped -= 1
            markDropped(index, now)
            return
        }
        guard entry.isCovered || entry.doubt != nil else {
            throw broken(
                .acknowledgementAfterCommit, "the cache passes \(describe(index)) over, and no commit holds it")
        }
        entries[index].fate = .acknowledged
    }

    /// It was durable, and the reading does not find it.
    private mutating func missed(_ index: Int, stands: Bool) throws(Violation) {
        // In a file of another stream, without a header or without a name: bits flipped in what says so.
        if stands, entries[index].doubt == nil, hasFlippedStructure {
            hasDoubts = true
            entries[index].doubt = .flippedBits
            entries[index].mayBeLate = true
        }
        // A file that was given up may be of a stream that has ended. A later process may also delete it, when points behind
        // it are acknowledged: the server takes nothing of these numbers any more.
        guard entries[index].doubt != nil else {
            throw broken(.recovery, "\(describe(index)) was durable and is gone after recovery")
        }
        entries[index].fate = .missing
    }

    /// It stands there, and waits.
    private mutating func take(_ index: Int, _ isDurable: Bool) throws(Violation) {
        switch entries[index].fate {
        case .cleared(isDurable: true) where !entries[index].mayReturn:
            throw broken(.exactlyOnce, "\(describe(index)) was cleared, durably, and is back")
        // Owned up to already; what was dropped can stand on the disk once more when the power or the process goes.
        case .droppedByBound, .droppedInMemory: entries[index].mayBeMissing = true
        // Left by a killed process in the kernel's memory, on a disk that has not taken it yet.
        default: if !isDurable { unsecured.insert(index) }
        }
        entries[index].fate = .waiting
        // What could not be read was overtaken, also when another process had let memory go.
        if hasLetMemoryGo { entries[index].mayBeLate = true }
    }
}
