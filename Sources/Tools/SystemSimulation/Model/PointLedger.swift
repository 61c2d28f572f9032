internal import AgentControl
internal import TrackCache
internal import TrackModel

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
        /// Virtual milliseconds.
        let chosenAt: Int64
        /// Virtual milliseconds of the clear.
        var clearedAt: Int64 = 0
    }

    private struct Key: Hashable {
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

    private(set) var entries: [Entry] = []
    private var byKey: [Key: Int] = [:]
    /// Chosen, and their append not done yet.
    private var chosen: [Int] = []
    /// What the cache must hold, oldest first.
    private(set) var waiting: [Int] = []
    /// How many of `waiting`, from the front, a power cut must not take.
    private var durableCount = 0
    /// On a disk that the cache could not read yet.
    private var unread: [Int] = []
    private var unreadClears: [CacheSelection] = []
    private var before = TrackCacheCounters()
    /// A disk error kept the cache from counting: what it holds is looked at once the disk works.
    private var isBlurred = false
    private var hadRead = false
    private var lastStored: [String: Int] = [:]
    /// The disk was damaged: losses are compared as numbers, not one by one.
    private(set) var isInexact = false
    private var countedDamage: UInt64 = 0
    /// The cache gave a disk up that it could not read: what is on it may be overtaken.
    var mayOvertake = false
    private(set) var storedCount = 0

    /// Every point has reached the disk thread, or is accounted for.
    var isTaken: Bool { chosen.isEmpty }

    private func describe(_ index: Int) -> String {
        "point \(index) (\(entries[index].entity), \(entries[index].fix.time.milliseconds))"
    }

    private func broken(_ guarantee: Violation.Guarantee, _ detail: String) -> Violation {
        Violation(guarantee: guarantee, detail: detail)
    }

    /// What was on it is gone with it.
    mutating func diskReplaced() {
        for index in waiting + chosen + unread { entries[index].fate = .lostWithPower }
        waiting = []
        chosen = []
        unread = []
        durableCount = 0
    }

    /// Bits on the disk flip.
    mutating func expectDamage() {
        isInexact = true
        countedDamage += 1
    }

    // MARK: Gathering

    mutating func choose(
        _ fix: Fix, entity: String, isParked: Bool = false, attributes: [String: AttributeValue] = [:],
        at now: Int64 = 0
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
        before = TrackCacheCounters()
        hadRead = false
        isBlurred = false
        unread += waiting.prefix(durableCount)
        for index in waiting.dropFirst(durableCount) { entries[index].fate = .lostWithPower }
        for index in chosen { entries[index].fate = .lostWithPower }
        chosen = []
        waiting = []
        durableCount = 0
        unreadClears = []
        try observe(cache, .other, at: 0, duplicate: duplicate)
    }

    /// After an operation of the disk thread.
    mutating func observe(
        _ cache: TrackCache, _ label: OperationLabel, at now: Int64, duplicate: () -> [(entity: String, fix: Fix)]
    ) throws(Violation) {
        let counters = cache.counters
        // A clear takes what was there before; the rest of an operation follows.
        if case .clear(let selection) = label {
            try clear(selection, counters.cleared - before.cleared, cache, now)
        }
        if cache.recovery.unreadableSegments > 0, !isInexact { expectDamage() }
        let hasErrors = counters.diskErrors != before.diskErrors
        if cache.hasRead, !hadRead {
            hadRead = true
            // Nothing that was in memory was sure.
            isBlurred = true
            try account(counters)
            // The disk could be read and not be written: what was gathered meanwhile stays in memory, behind it.
            let inMemory = cache.state == .disk ? [] : Array(waiting.suffix(cache.unsynchronisedCount))
            try readDisk(
                duplicate(), count: cache.count - UInt64(inMemory.count),
                dropped: counters.droppedByBound - before.droppedByBound, isSecured: cache.state == .disk,
                apart: Set(inMemory))
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
    }

    private mutating func account(_ counters: TrackCacheCounters) throws(Violation) {
        // A power cut damages only what was not durable; what a disk refuses for good is counted.
        if counters.unreadableRecords > before.unreadableRecords {
            countedDamage += counters.unreadableRecords - before.unreadableRecords
            isInexact = true
            // What was given up stays on disk, and is found by the next start.
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
        for _ in 0..<(counters.droppedByBound - before.droppedByBound) where !waiting.isEmpty {
            giveUpOldest(as: .droppedByBound)
        }
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

    private func matches(_ index: Int, _ selection: CacheSelection) -> Bool {
        let entry = entries[index]
        let time = entry.fix.time.milliseconds
        return (selection.entities?.contains(entry.entity) ?? true) && time >= selection.from ?? .min
            && time <= selection.through ?? .max
    }

    private mutating func clear(
        _ selection: CacheSelection, _ count: UInt64, _ cache: TrackCache, _ now: Int64
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
        let gone = Set(matched)
        waiting.removeAll { gone.contains($0) }
        if !cache.hasRead { unreadClears.append(selection) }
    }

    /// The power went in the middle of an operation: how much of its clear, and of what it dropped to make room, is on the
    /// disk is open.
    mutating func interrupted(_ cache: TrackCache, _ label: OperationLabel) {
        for index in waiting.prefix(Int(cache.counters.droppedByBound - before.droppedByBound)) {
            entries[index].mayBeMissing = true
        }
        guard case .clear(let selection) = label else { return }
        for index in waiting where matches(index, selection) { entries[index].mayBeMissing = true }
    }

    /// The directory was read, at the start or after a time in memory: `found` is what stands there.
    ///
    /// The newest `count` of it wait; what stands before them is acknowledged and not deleted yet. `apart` counts as in
    /// memory, whether it stands there or not.
    private mutating func readDisk(
        _ found: [(entity: String, fix: Fix)], count: UInt64, dropped: UInt64, isSecured: Bool,
        apart: Set<Int> = []
    ) throws(Violation) {
        var dropped = dropped
        let durable = Set(unread)
        var order: [Int] = []
        for record in found {
            guard let index = byKey[Key(record.entity, record.fix)], entries[index].fix == record.fix else {
                throw broken(
                    .recovery, "recovery brought a point of \(record.entity) that was never gathered: \(record.fix)")
            }
            if apart.contains(index) { continue }
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
            entries[index].fate = .acknowledged
        }
        for index in unread where !present.contains(index) {
            // What the server has, or a person cleared, may go, counted or not.
            if entries[index].isStored || entries[index].mayBeMissing {
                entries[index].fate = .acknowledged
                continue
            }
            // Beginning a segment may have cost the oldest.
            if dropped > 0, index < order.first ?? .max {
                dropped -= 1
                entries[index].fate = .droppedByBound
                continue
            }
            if unreadClears.contains(where: { matches(index, $0) }) {
                entries[index].fate = .cleared(isDurable: false)
                continue
            }
            guard isInexact else {
                throw broken(.recovery, "\(describe(index)) was durable and is gone after recovery")
            }
            entries[index].fate = .damaged
        }
        for index in order {
            if case .cleared(isDurable: true) = entries[index].fate, !isInexact {
                throw broken(.exactlyOnce, "\(describe(index)) was cleared, durably, and is back")
            }
            // Owned up to already; what was dropped can stand on the disk once more when the power or the process goes.
            switch entries[index].fate {
            case .droppedByBound, .droppedInMemory: entries[index].mayBeMissing = true
            // Left by a killed process in the kernel's memory, on a disk that takes no writes.
            default: if !isSecured, !durable.contains(index) { entries[index].mayBeMissing = true }
            }
            entries[index].fate = .waiting
        }
        unread = []
        waiting = order
    }

    // MARK: The store

    func wasGathered(_ point: TrackPoint, entity: String) -> Bool {
        byKey[Key(entity, point.fix)].map {
            entries[$0].fix == point.fix && entries[$0].isParked == point.isParked
        } ?? false
    }

    /// A point that was committed now, for the first time as far as its stream's numbers say.
    mutating func stored(_ point: TrackPoint, entity: String, at now: Int64) throws(Violation) {
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

    /// Milliseconds that the oldest point has waited in the cache; nil: none waits.
    func oldestWaiting(at now: Int64) -> Int64? { waiting.first.map { now - entries[$0].chosenAt } }

    // MARK: The end

    /// When everything has had its time: what is not stored must be accounted for.
    func settle() throws(Violation) {
        var damaged: UInt64 = 0
        for (index, entry) in entries.enumerated() where !entry.isStored && !entry.mayBeMissing {
            switch entry.fate {
            case .cleared, .droppedByBound, .droppedInMemory, .lostWithPower: continue
            case .damaged: damaged += 1
            case .chosen, .waiting, .acknowledged:
                guard isInexact else {
                    throw broken(
                        .exactlyOnce,
                        "\(describe(index)), \(entry.fate), was never stored, and nothing owns up to it")
                }
                damaged += 1
            }
        }
        guard damaged == 0 || countedDamage > 0 else {
            throw broken(.exactlyOnce, "\(damaged) points are gone and no counter says so")
        }
    }

    /// Points by what became of them, for the summary.
    func count(_ isCounted: (Fate) -> Bool) -> Int { entries.count { isCounted($0.fate) } }
    var chosenCount: Int { entries.count }
}
