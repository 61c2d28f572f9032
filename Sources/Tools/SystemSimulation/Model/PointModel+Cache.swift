internal import AgentControl
internal import DiskRing
internal import TrackModel
internal import TrackTestKit

// What the cache did in one operation, and whether it may have done it.
extension PointModel {
    /// `found`: what stood in the ring's directory before the process opened it; nil: nothing that it has to go on from.
    mutating func processStarted(
        _ cache: DiskRing, at now: MonotonicTime, _ witness: RingFileObserver, found: RingContent? = nil
    ) throws(Violation) {
        processEnded()
        markFound = found.flatMap(LedgerPosition.init)
        try observe(cache, .other, at: now, witness)
    }

    /// The process has ended in order: everything that it gathered is in the ring.
    func stopped() throws(Violation) {
        guard let index = chosen.first else { return }
        throw broken(.gatheringNeverWaits, "\(describe(index)) was gathered, and the agent has stopped without it")
    }

    /// What the process held and the disk did not is gone; what was durable has to be found by the next one.
    private mutating func processEnded() {
        before = DiskRingCounters()
        hadRead = false
        failedOperations = 0
        refusedOperations = [:]
        (givenUp, undeleted, returned) = ([], [], [])
        openCounts = []
        uncounted = 0
        isBlurred = false
        let isDurable = { [unsecured] index in !unsecured.contains(index) }
        unread = (unread + aside + waiting.prefix(durableCount).filter(isDurable)).sorted()
        for index in waiting.prefix(durableCount).filter(unsecured.contains) + waiting.dropFirst(durableCount) {
            entries[index].fate = .lostWithPower
        }
        for index in chosen { entries[index].fate = .lostWithPower }
        (unsecured, aside) = ([], [])
        (chosen, waiting, softlyCleared) = ([], [], [])
        durableCount = 0
        unreadClears = []
        expectedDisproved = []
        uncountedDisproved = 0
    }

    /// After an operation of the disk thread.
    mutating func observe(
        _ cache: DiskRing, _ label: OperationLabel, at now: MonotonicTime, _ witness: RingFileObserver
    ) throws(Violation) {
        let counters = cache.counters
        let operation = witness.takeOperation()
        // A clear takes what was there before; the rest of an operation follows.
        if case .clear(let selection) = label {
            try clear(selection, counters.cleared - before.cleared, cache, now)
        }
        if counters.disproved > before.disproved {
            try disprove(counters.disproved - before.disproved, cache, now)
        }
        let hasErrors = counters.diskErrors != before.diskErrors
        if hasErrors { failedOperations += 1 }
        for first in operation.refused { refusedOperations[first, default: 0] += 1 }
        if cache.hasRead, !hadRead {
            try observeReading(cache, label, operation, witness, now)
        } else {
            let excused = try account(cache, label, operation, witness, now)
            if isBlurred, !hasErrors, cache.state == .disk, cache.unsynchronisedCount == 0 {
                try lookAgain(cache, at: now, witness, excused: excused)
            }
            // From the fifth try on the cache may hand out what is newer than the disk.
            if !hadRead, failedOperations >= 5 {
                hasLetMemoryGo = true
                for index in unread { entries[index].mayBeLate = true }
            }
        }
        try settleCounts(cache)
        if !operation.losses.isEmpty { try checkLosses(operation.losses, cache, witness) }
        if hasErrors, counters.segmentsDropped > before.segmentsDropped {
            // The bound takes the oldest, and the cache deletes them in this order.
            undeleted.formUnion(
                witness.segments.prefix(Int(clamping: counters.segmentsDropped - before.segmentsDropped)))
        }
        before = counters
        if cache.count != UInt64(waiting.count), hasErrors { isBlurred = true }
        guard isBlurred || canHold(cache.count) else {
            throw broken(
                .exactlyOnce, "the cache holds \(cache.count) points, \(waiting.count) of what was gathered wait")
        }
        durableCount = max(0, waiting.count - cache.unsynchronisedCount)
        if cache.isSecured { unsecured = [] }
        if cache.state == .disk { clearsAreDurable() }
    }

    private mutating func clearsAreDurable() {
        for index in softlyCleared where entries[index].fate == .cleared(isDurable: false) {
            entries[index].fate = .cleared(isDurable: true)
        }
        softlyCleared = []
    }

    /// Returns the points that nothing but the bound excuses.
    @discardableResult
    mutating func account(
        _ cache: DiskRing, _ label: OperationLabel, _ operation: DiskOperation, _ witness: RingFileObserver,
        _ now: MonotonicTime, isFirstReading: Bool = false
    ) throws(Violation) -> Set<Int> {
        var excused: Set<Int> = []
        let counters = cache.counters
        // What an opening passes over waits in nobody's count yet.
        if !isFirstReading, counters.unreadableRecords > before.unreadableRecords {
            try gaveUp(counters.unreadableRecords - before.unreadableRecords, cache, operation, witness)
        }
        if counters.streamConflicts > 0 {
            throw broken(.exactlyOnce, "a stream conflict, though nobody copied a disk")
        }
        if counters.refused > 0 { throw broken(.exactlyOnce, "the cache refused a point") }
        for _ in 0..<(counters.acknowledged - before.acknowledged) {
            guard let index = waiting.first else { break }
            // A cache that cannot look into its segments guesses how many an acknowledgement covered.
            if isBlurred, !entries[index].isCovered { break }
            try acknowledgeOldest()
        }
        // What was dropped in the operation that read the disk stood there, and not among the points that waited in memory.
        if !isFirstReading, counters.droppedByBound > before.droppedByBound {
            excused = dropByBound(counters.droppedByBound - before.droppedByBound, cache, operation, witness, now)
        }
        if counters.segmentsDropped > before.segmentsDropped { try checkBound(cache, label, operation, witness) }
        for _ in 0..<(counters.appended - before.appended) {
            guard !chosen.isEmpty else {
                throw broken(.timeGrid, "a point was appended that the grid does not have")
            }
            let index = chosen.removeFirst()
            entries[index].fate = .waiting
            waiting.append(index)
        }
        try dropInMemory(Int(counters.droppedInMemory - before.droppedInMemory), cache, now)
        return excused
    }

    private mutating func dropInMemory(_ count: Int, _ cache: DiskRing, _ now: MonotonicTime) throws(Violation) {
        guard count > 0 else { return }
        let oldest = min(durableCount, waiting.count)
        let end = min(oldest + count, waiting.count)
        var largest = 0
        for index in waiting[oldest..<end] {
            entries[index].fate = .droppedInMemory
            entries[index].goneAt = now
            largest = max(largest, entries[index].cost)
        }
        waiting.removeSubrange(oldest..<end)
        let usage = cache.usage
        if case .memory = cache.state, usage.memoryBytes + largest <= usage.memoryLimit {
            throw broken(
                .exactlyOnce,
                "\(count) points were dropped in memory, which holds \(usage.memoryBytes) of \(usage.memoryLimit) bytes"
            )
        }
    }

    /// What goes from the front was durable, as long as anything is.
    private mutating func giveUpOldest(as fate: Fate) {
        let index = waiting.removeFirst()
        entries[index].fate = fate
        if entries[index].doubt != nil, !entries[index].isStored { openCounts.append(fate) }
        durableCount = max(0, durableCount - 1)
    }

    private mutating func acknowledgeOldest() throws(Violation) {
        guard let index = waiting.first else { return }
        giveUpOldest(as: .acknowledged)
        guard entries[index].isCovered || entries[index].doubt != nil else {
            throw broken(.acknowledgementAfterCommit, "the cache gave \(describe(index)) up, and no commit holds it")
        }
    }

    private mutating func dropByBound(
        _ count: UInt64, _ cache: DiskRing, _ operation: DiskOperation, _ witness: RingFileObserver,
        _ now: MonotonicTime
    ) -> Set<Int> {
        func needsExcuse(_ index: Int) -> Bool { !entries[index].isCovered && entries[index].doubt == nil }
        // A cache that cannot look into its segments guesses how many it dropped; the files tell, wherever they stood.
        if isBlurred, operation.losses.contains(where: \.isGone) {
            let gone = operation.losses.filter(\.isGone).flatMap(\.points)
            let content = witness.content()
            let left = Set(gone.compactMap { index(of: $0) })
                .subtracting((content.points + content.others).compactMap { index(of: $0) })
                .subtracting(waiting.suffix(cache.unsynchronisedCount))
            durableCount -= waiting.prefix(durableCount).count { left.contains($0) }
            let excused = Set(waiting.filter { left.contains($0) && needsExcuse($0) })
            for index in waiting where left.contains(index) { markDropped(index, now) }
            waiting.removeAll { left.contains($0) }
            return excused
        }
        var rest = count
        var excused: Set<Int> = []
        while rest > 0, let index = waiting.first {
            // Of a file that the opening passed over the cache does not count what goes. `settleCounts` looks at the others.
            if !isBlurred || entries[index].doubt != .refusedFile { rest -= 1 }
            if needsExcuse(index) { excused.insert(index) }
            entries[index].goneAt = now
            giveUpOldest(as: .droppedByBound)
        }
        return excused
    }

    mutating func markDropped(_ index: Int, _ now: MonotonicTime) {
        entries[index].goneAt = now
        entries[index].fate = .droppedByBound
    }

    /// A doubtful point that left was perhaps not counted: then one more has left. So has what left while a disk error kept
    /// the cache from counting.
    private mutating func settleCounts(_ cache: DiskRing) throws(Violation) {
        while let fate = openCounts.first, !waiting.isEmpty, !isBlurred, !canHold(cache.count),
            cache.count < UInt64(waiting.count)
        {
            openCounts.removeFirst()
            if fate == .acknowledged { try acknowledgeOldest() } else { giveUpOldest(as: fate) }
        }
        openCounts = []
        while uncounted > 0, !waiting.isEmpty, !isBlurred, !canHold(cache.count), cache.count < UInt64(waiting.count) {
            uncounted -= 1
            try acknowledgeOldest()
        }
    }

    /// The cache holds all of `waiting`, or all but doubtful ones.
    private func canHold(_ count: UInt64) -> Bool {
        if count == UInt64(waiting.count) { return true }
        guard hasDoubts, count < UInt64(waiting.count) else { return false }
        return UInt64(waiting.count { entries[$0].doubt == nil }) <= count
    }

    /// The dates of points turned out to be wrong, in these ranges: the agent takes them from the ring.
    mutating func expectDisproved(_ dates: ClosedRange<Int64>) {
        let selection = CacheSelection(entities: nil, from: dates.lowerBound, through: dates.upperBound)
        expectedDisproved.append(selection)
        if !hadRead { unreadClears.append(selection) }
    }

    private mutating func disprove(
        _ count: UInt64, _ cache: DiskRing, _ now: MonotonicTime
    ) throws(Violation) {
        // While the disk does not answer, the cache drops what is in memory, and what is on the disk when it can look there.
        let inMemory = waiting.dropFirst(durableCount)
        if cache.counters.diskErrors != before.diskErrors,
            let place = expectedDisproved.firstIndex(where: { selection in
                count == UInt64(inMemory.count { matches($0, selection) })
                    && !waiting.prefix(durableCount).contains { matches($0, selection) }
            })
        {
            return try clear(expectedDisproved.remove(at: place), count, cache, now)
        }
        let place = expectedDisproved.firstIndex { selection in
            waiting.contains { matches($0, selection) }
        }
        guard let place else {
            // What the disk kept from being counted when it was taken.
            guard count <= uncountedDisproved else {
                throw broken(.exactlyOnce, "\(count) points were dropped for their date, and no date was wrong")
            }
            uncountedDisproved -= count
            return
        }
        let matched = UInt64(waiting.count { matches($0, expectedDisproved[place]) })
        try clear(expectedDisproved[place], count, cache, now)
        if isBlurred, count < matched { uncountedDisproved += matched - count }
        expectedDisproved.removeFirst(place + 1)
    }

    private mutating func clear(
        _ selection: CacheSelection, _ count: UInt64, _ cache: DiskRing, _ now: MonotonicTime
    ) throws(Violation) {
        let matched = waiting.filter { matches($0, selection) }
        // Blind, the cache counts later.
        if cache.counters.diskErrors != before.diskErrors { isBlurred = true }
        let sure = hasDoubts ? matched.count { entries[$0].doubt == nil } : matched.count
        guard isBlurred || (UInt64(sure)...UInt64(matched.count)).contains(count) else {
            throw broken(.exactlyOnce, "a clear of \(matched.count) waiting points removed \(count)")
        }
        let isDurable = cache.state == .disk
        for index in matched {
            entries[index].fate = .cleared(isDurable: isDurable)
            entries[index].goneAt = now
            entries[index].mayBeMissing = true
        }
        if !isDurable { softlyCleared += matched }
        let gone = Set(matched)
        // Memory may drop points in the same operation: these are the oldest behind what is durable.
        durableCount -= waiting.prefix(durableCount).count { gone.contains($0) }
        waiting.removeAll { gone.contains($0) }
        if !cache.hasRead { unreadClears.append(selection) }
    }

    /// The power went while a process opened the ring: `cache` is what that process had opened. The bound may have taken the
    /// oldest points to make room, durably or not.
    mutating func openingInterrupted(_ cache: DiskRing, _ witness: RingFileObserver) {
        processEnded()
        let operation = witness.takeOperation()
        let lost = Set(operation.losses.flatMap(\.points).compactMap { index(of: $0) })
        if hasFlippedStructure {
            hasDoubts = true
            for index in unread where lost.contains(index) { entries[index].doubt = .flippedBits }
        }
        let content = witness.content()
        let present = Set((content.points + content.others).compactMap { index(of: $0) })
        let gone = takenByBound(of: unread, cache, operation).filter { !present.contains($0) }
        for index in gone { entries[index].fate = .droppedByBound }
        unread.removeAll { gone.contains($0) }
    }

    /// What an operation that the power ended took because of the bound: in files that went, the oldest points, as many as
    /// the cache counted. What is in doubt it may not have counted, and what is stored needs no excuse.
    private func takenByBound(of candidates: [Int], _ cache: DiskRing, _ operation: DiskOperation) -> [Int] {
        let lost = Set(operation.losses.flatMap(\.points).compactMap { index(of: $0) })
        var rest = cache.counters.droppedByBound - before.droppedByBound
        return candidates.filter { lost.contains($0) && !entries[$0].isCovered }.prefix { index in
            guard rest > 0 else { return false }
            if entries[index].doubt == nil { rest -= 1 }
            return true
        }
    }

    /// The power went in the middle of an operation. How much of what the operation took is on the disk is open: of its clear, of
    /// points with a wrong date, and of what it dropped to make room.
    mutating func interrupted(_ cache: DiskRing, _ label: OperationLabel, _ witness: RingFileObserver) {
        // What the disk held comes first, also when this operation was the first that could read it.
        let oldest = hadRead ? waiting : unread + waiting
        for index in takenByBound(of: oldest, cache, witness.takeOperation()) { entries[index].mayBeMissing = true }
        // The operation may have read the disk, taken what earlier clears left of it, and not written the clears.
        for index in unread where unreadClears.contains(where: { matches(index, $0) }) {
            entries[index].mayBeMissing = true
        }
        var selections = expectedDisproved
        if case .clear(let selection) = label { selections.append(selection) }
        for index in waiting where selections.contains(where: { matches(index, $0) }) {
            entries[index].mayBeMissing = true
        }
    }
}
