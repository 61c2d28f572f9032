internal import AgentControl
internal import TrackCache
internal import TrackModel
internal import TrackTestKit

/// What became of every point: plain arrays beside the system, written from what was fed in and from what the cache and the
/// store did, never from what they think.
struct PointLedger {
    enum Fate: Hashable {
        /// On its way to the disk thread.
        case chosen
        case waiting
        /// The cache gave it up because the server said so.
        case acknowledged
        case cleared(isDurable: Bool)
        case droppedByBound
        case droppedInMemory
        /// Not durable when power or process went.
        case lostWithPower
        /// Damage on disk: counted, but not which.
        case damaged
    }

    struct Entry {
        let entity: String
        let fix: Fix
        let isParked: Bool
        let attributes: [String: AttributeValue]
        var fate = Fate.chosen
        var isStored = false
        /// A person cleared it or it was counted as lost, durably or not: whether it arrives is open.
        var mayBeMissing = false
        let chosenAt: MonotonicTime
        var clearedAt = MonotonicTime.distantPast
    }

    struct Key: Hashable {
        let entity: String
        let time: Int64
        let latitude: Int32
        let longitude: Int32

        init(_ entity: String, _ fix: Fix) {
            self.entity = entity
            time = fix.time.milliseconds
            latitude = fix.coordinate.latitudeE7
            longitude = fix.coordinate.longitudeE7
        }
    }

    var entries: [Entry] = []
    var byKey: [Key: Int] = [:]
    /// Chosen, and their append not done yet.
    var chosen: [Int] = []
    /// What the cache must hold, oldest first.
    var waiting: [Int] = []
    /// How many of `waiting`, from the front, a power cut must not take.
    var durableCount = 0
    /// Of `waiting`: left by a killed process in segments whose ends the disk has not taken yet. A power cut may take them.
    var unsecured: Set<Int> = []
    /// On a disk that the cache could not read yet.
    var unread: [Int] = []
    var unreadClears: [CacheSelection] = []
    /// Cleared while the disk did not work: durable once it works again.
    var softlyCleared: [Int] = []
    private var before = TrackCacheCounters()
    /// A disk error kept the cache from counting: what it holds is looked at once the disk works.
    private var isBlurred = false
    private var hadRead = false
    /// Operations that met a disk error since the process began, or since it gave a file up.
    var failedOperations = 0
    private var lastStored: [String: Int] = [:]
    /// The disk was damaged: losses are compared as numbers, not one by one.
    var isInexact = false
    var countedDamage: UInt64 = 0
    /// So many points the damage can have cost; nil: nobody can say.
    var mostDamaged: Int? = 0
    /// The cache gave a disk up that it could not read: what is on it may be overtaken.
    var mayOvertake = false
    private(set) var storedCount = 0

    /// Every point has reached the disk thread, or is accounted for.
    var isTaken: Bool { chosen.isEmpty }

    func describe(_ index: Int) -> String {
        "point \(index) (\(entries[index].entity), \(entries[index].fix.time.milliseconds))"
    }

    func broken(_ guarantee: Violation.Guarantee, _ detail: String) -> Violation {
        Violation(guarantee: guarantee, detail: detail)
    }

    // MARK: Gathering

    mutating func choose(
        _ fix: Fix, entity: String, isParked: Bool = false, attributes: [String: AttributeValue] = [:],
        at now: MonotonicTime = .distantPast
    ) {
        let index = entries.count
        entries.append(
            Entry(entity: entity, fix: fix, isParked: isParked, attributes: attributes, chosenAt: now))
        byKey[Key(entity, fix)] = index
        chosen.append(index)
    }

    /// The queue of the disk thread was full: the newest point was refused, and counted.
    mutating func refuseNewest() {
        if let index = chosen.popLast() { entries[index].fate = .droppedInMemory }
    }

    // MARK: The cache

    mutating func processStarted(_ cache: TrackCache, duplicate: () -> [(entity: String, fix: Fix)]) throws(Violation) {
        processEnded()
        try observe(cache, .other, at: 0, duplicate: duplicate)
    }

    /// What the process held and the disk did not is gone; what was durable has to be found by the next one.
    private mutating func processEnded() {
        before = TrackCacheCounters()
        hadRead = false
        failedOperations = 0
        isBlurred = false
        let isDurable = { [unsecured] index in !unsecured.contains(index) }
        unread += waiting.prefix(durableCount).filter(isDurable)
        for index in waiting.prefix(durableCount).filter(unsecured.contains) + waiting.dropFirst(durableCount) {
            entries[index].fate = .lostWithPower
        }
        unsecured = []
        for index in chosen { entries[index].fate = .lostWithPower }
        chosen = []
        waiting = []
        durableCount = 0
        unreadClears = []
        softlyCleared = []
    }

    /// After an operation of the disk thread.
    mutating func observe(
        _ cache: TrackCache, _ label: OperationLabel, at now: MonotonicTime,
        duplicate: () -> [(entity: String, fix: Fix)]
    ) throws(Violation) {
        let counters = cache.counters
        // A clear takes what was there before; the rest of an operation follows.
        if case .clear(let selection) = label {
            try clear(selection, counters.cleared - before.cleared, cache, now)
        }
        let hasErrors = counters.diskErrors != before.diskErrors
        if hasErrors { failedOperations += 1 }
        if cache.hasRead, !hadRead {
            hadRead = true
            let isIncomplete = cache.recovery.unreadableSegments > 0
            if isIncomplete { try gaveUp(tries: 5, "opening passed a segment over") }
            // Nothing that was in memory was sure.
            isBlurred = true
            try account(counters, isFirstReading: true)
            // The disk could be read and not be written: what was gathered meanwhile stays in memory, behind it.
            let inMemory = cache.state == .disk ? [] : Array(waiting.suffix(cache.unsynchronisedCount))
            let missing = try readDisk(
                duplicate(), count: cache.count - UInt64(inMemory.count),
                dropped: counters.droppedByBound - before.droppedByBound, isSecured: cache.isSecured,
                apart: Set(inMemory))
            if isIncomplete { expectDamage(points: missing) }
            waiting += inMemory
            isBlurred = false
        } else {
            try account(counters)
            if isBlurred, !hasErrors, cache.state == .disk, cache.unsynchronisedCount == 0 {
                unread = Array(waiting.prefix(durableCount))
                waiting = []
                try readDisk(
                    duplicate(), count: cache.count, dropped: counters.droppedByBound - before.droppedByBound,
                    isSecured: true)
                isBlurred = false
            }
        }
        before = counters
        if cache.count != UInt64(waiting.count), hasErrors { isBlurred = true }
        if !isInexact, !isBlurred, cache.count != UInt64(waiting.count) {
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

    private mutating func account(
        _ counters: TrackCacheCounters, isFirstReading: Bool = false
    ) throws(Violation) {
        // A power cut damages only what was not durable; what a disk refuses for good is counted.
        if counters.unreadableRecords > before.unreadableRecords {
            try gaveUp(tries: 3, "a segment was given up")
            expectDamage(points: Int(counters.unreadableRecords - before.unreadableRecords))
            mayOvertake = true
        }
        if counters.streamConflicts > 0 {
            throw broken(.exactlyOnce, "a stream conflict, though nobody copied a disk")
        }
        if counters.refused > 0 { throw broken(.exactlyOnce, "the cache refused a point") }
        for _ in 0..<(counters.acknowledged - before.acknowledged) {
            guard let index = waiting.first else { break }
            // A cache that cannot look into its segments guesses how many an acknowledgement covered.
            if isBlurred, !entries[index].isStored, !entries[index].mayBeMissing, !isInexact { break }
            giveUpOldest(as: .acknowledged)
            guard entries[index].isStored || entries[index].mayBeMissing || isInexact else {
                throw broken(
                    .acknowledgementAfterCommit, "the cache gave \(describe(index)) up, and no commit holds it")
            }
        }
        // What was dropped in the operation that read the disk stood there, and not among the points that waited in memory.
        let dropped = isFirstReading ? 0 : counters.droppedByBound - before.droppedByBound
        for _ in 0..<dropped where !waiting.isEmpty { giveUpOldest(as: .droppedByBound) }
        for _ in 0..<(counters.appended - before.appended) {
            guard !chosen.isEmpty else {
                throw broken(.timeGrid, "a point was appended that the grid does not have")
            }
            let index = chosen.removeFirst()
            entries[index].fate = .waiting
            waiting.append(index)
        }
        let droppedInMemory = Int(counters.droppedInMemory - before.droppedInMemory)
        if droppedInMemory > 0 {
            let oldest = min(durableCount, waiting.count)
            let end = min(oldest + droppedInMemory, waiting.count)
            for index in waiting[oldest..<end] { entries[index].fate = .droppedInMemory }
            waiting.removeSubrange(oldest..<end)
        }
    }

    /// What goes from the front was durable, as long as anything is.
    private mutating func giveUpOldest(as fate: Fate) {
        entries[waiting.removeFirst()].fate = fate
        durableCount = max(0, durableCount - 1)
    }

    func matches(_ index: Int, _ selection: CacheSelection) -> Bool {
        let entry = entries[index]
        let time = entry.fix.time.milliseconds
        return (selection.entities?.contains(entry.entity) ?? true) && time >= selection.from ?? .min
            && time <= selection.through ?? .max
    }

    private mutating func clear(
        _ selection: CacheSelection, _ count: UInt64, _ cache: TrackCache, _ now: MonotonicTime
    ) throws(Violation) {
        let matched = waiting.filter { matches($0, selection) }
        // Blind, the cache counts later.
        if cache.counters.diskErrors != before.diskErrors { isBlurred = true }
        guard isInexact || isBlurred || UInt64(matched.count) == count else {
            throw broken(.exactlyOnce, "a clear of \(matched.count) waiting points removed \(count)")
        }
        let isDurable = cache.state == .disk
        for index in matched {
            entries[index].fate = .cleared(isDurable: isDurable)
            entries[index].clearedAt = now
            entries[index].mayBeMissing = true
        }
        if !isDurable { softlyCleared += matched }
        let gone = Set(matched)
        // Memory may drop points in the same operation: these are the oldest behind what is durable.
        durableCount -= waiting.prefix(durableCount).count { gone.contains($0) }
        waiting.removeAll { gone.contains($0) }
        if !cache.hasRead { unreadClears.append(selection) }
    }

    /// The power went while a process opened the ring: `cache` is what that process had opened, `found` is what stands on
    /// the disk after the cut. The bound may have taken the oldest points to make room, durably or not.
    mutating func openingInterrupted(_ cache: TrackCache, found: [(entity: String, fix: Fix)]) {
        processEnded()
        let present = Set(found.compactMap { byKey[Key($0.entity, $0.fix)] })
        let gone = unread.prefix(Int(cache.counters.droppedByBound)).filter { !present.contains($0) }
        for index in gone { entries[index].fate = .droppedByBound }
        unread.removeAll { gone.contains($0) }
    }

    /// The power went in the middle of an operation: how much of its clear, and of what it dropped to make room, is on the
    /// disk is open.
    mutating func interrupted(_ cache: TrackCache, _ label: OperationLabel) {
        // What the disk held comes first, also when this operation was the first that could read it.
        let oldest = hadRead ? waiting : unread + waiting
        for index in oldest.prefix(Int(cache.counters.droppedByBound - before.droppedByBound)) {
            entries[index].mayBeMissing = true
        }
        guard case .clear(let selection) = label else { return }
        for index in waiting where matches(index, selection) { entries[index].mayBeMissing = true }
    }

    // MARK: The store

    func wasGathered(_ point: TrackPoint, entity: String) -> Bool {
        byKey[Key(entity, point.fix)].map {
            entries[$0].fix == point.fix && entries[$0].isParked == point.isParked
        } ?? false
    }

    /// A point that was committed now, for the first time as far as its stream's numbers say.
    mutating func stored(_ point: TrackPoint, entity: String, at now: MonotonicTime) throws(Violation) {
        guard let index = byKey[Key(entity, point.fix)], entries[index].fix == point.fix,
            entries[index].isParked == point.isParked, point.coordinateType == .wgs84, point.objectName == nil
        else {
            throw broken(.exactlyOnce, "a point of \(entity) was stored that was never gathered: \(point.fix)")
        }
        guard entries[index].attributes == point.attributes else {
            throw broken(
                .exactlyOnce,
                "\(describe(index)) was stored with \(point.attributes), and gathered with \(entries[index].attributes)"
            )
        }
        guard !entries[index].isStored else {
            throw broken(.exactlyOnce, "\(describe(index)) was stored twice")
        }
        // What was cleared, but not on the disk, may come back when later points have gone.
        if let last = lastStored[entity], index < last, !mayOvertake, !entries[index].mayBeMissing {
            throw broken(.order, "\(describe(index)) was stored after \(describe(last))")
        }
        if case .cleared(isDurable: true) = entries[index].fate, now - entries[index].clearedAt > 600_000, !isInexact {
            throw broken(.exactlyOnce, "\(describe(index)) was cleared ten minutes ago and is stored now")
        }
        entries[index].isStored = true
        storedCount += 1
        lastStored[entity] = max(index, lastStored[entity] ?? 0)
    }

    /// Milliseconds that the oldest point has waited in a cache that holds `count` points; nil: none waits.
    ///
    /// Segments that the cache gave up stay in `waiting`, because the model does not know which points they held: the cache
    /// holds the newest of them.
    func oldestWaiting(at now: MonotonicTime, count: UInt64) -> Int64? {
        waiting.suffix(Int(count)).first.map { now - entries[$0].chosenAt }
    }

    // MARK: The end

    /// When everything has had its time: what is not stored must be accounted for.
    func settle() throws(Violation) {
        var gone: [Int] = []
        for (index, entry) in entries.enumerated() where !entry.isStored && !entry.mayBeMissing {
            switch entry.fate {
            case .cleared, .droppedByBound, .droppedInMemory, .lostWithPower: continue
            case .damaged: gone.append(index)
            case .chosen, .waiting, .acknowledged:
                guard isInexact else {
                    throw broken(
                        .exactlyOnce,
                        "\(describe(index)), \(entry.fate), was never stored, and nothing owns up to it")
                }
                gone.append(index)
            }
        }
        guard gone.isEmpty || countedDamage > 0 else {
            throw broken(.exactlyOnce, "\(gone.count) points are gone and no counter says so: \(ranges(gone))")
        }
        // Once something is damaged the models know how many, not which: counts go wrong by some.
        if let mostDamaged, gone.count > mostDamaged + mostDamaged / 4 + 40 {
            throw broken(
                .recovery,
                "\(gone.count) points are gone, and the damage can have cost \(mostDamaged): \(ranges(gone))")
        }
    }

    /// Neighbours of the same fate as one.
    private func ranges(_ indices: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for index in indices {
            if let last = ranges.last, last.upperBound == index - 1, entries[index].fate == entries[index - 1].fate {
                ranges[ranges.count - 1] = last.lowerBound...index
            } else {
                ranges.append(index...index)
            }
        }
        return ranges.map { "\($0) \(entries[$0.lowerBound].fate)" }.joined(separator: ", ")
    }

    /// Points by what became of them, for the summary.
    func count(_ isCounted: (Fate) -> Bool) -> Int { entries.count { isCounted($0.fate) } }
    var chosenCount: Int { entries.count }
}
