internal import AgentControl
internal import DiskRing
internal import TrackModel
internal import TrackTestKit

/// What became of every point: plain arrays beside the system, written from what was fed in, from what the cache and the
/// store did, and from what stands on the disk, never from what they think.
struct PointModel {
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
        /// An opening did not find it, and a fault can have cost it.
        case missing
    }

    /// The fault that can have cost a point.
    enum Doubt: Hashable, CaseIterable {
        case flippedBits
        /// The disk refused its file until the cache gave the file up.
        case refusedFile
    }

    struct Entry {
        let entity: String
        let fix: Fix
        let isParked: Bool
        let attributes: [String: AttributeValue]
        /// What it costs in the cache's memory, at most.
        let cost: Int
        var fate = Fate.chosen
        var isStored = false
        /// A person cleared it or it was counted as lost, durably or not: whether it arrives is open.
        var mayBeMissing = false
        /// Whether the cache holds it and whether it arrives is open.
        var doubt: Doubt?
        /// It stood in a file that the disk refused for long: what is newer may go before it.
        var mayBeLate = false
        /// It was stored behind a newer one for this reason.
        var wasLate = false
        /// The server had told the vehicle that it has it, and lost it when a backup was put back.
        var isLostWithServer = false
        /// The stream and the number under which it was stored last.
        var origin: (stream: [UInt8], sequence: UInt64)?
        /// A fault spoiled the clear that took it.
        var mayReturn = false
        let chosenAt: MonotonicTime
        /// When it was cleared or dropped.
        var goneAt = MonotonicTime.distantPast

        /// Whether it was made of this fix. An older server does not hear that the time is the clock's.
        func isOf(_ fix: Fix) -> Bool {
            var own = self.fix
            own.isClockTime = own.isClockTime && fix.isClockTime
            return own == fix
        }

        /// The cache may let go of it.
        var isCovered: Bool { isStored || mayBeMissing || isLostWithServer }
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
    /// What the agent is to take from the ring because of its date.
    var expectedDisproved: [CacheSelection] = []
    /// Points that were dropped for their date and that the cache has not counted yet, because of the disk.
    var uncountedDisproved: UInt64 = 0
    var byKey: [Key: Int] = [:]
    /// Chosen, and their append not done yet.
    var chosen: [Int] = []
    /// What the cache must hold, oldest first; the doubtful ones among them it may hold.
    var waiting: [Int] = []
    /// How many of `waiting`, from the front, a power cut must not take.
    var durableCount = 0
    /// Of `waiting`: left by a killed process in segments whose ends the disk has not taken yet. A power cut may take them.
    var unsecured: Set<Int> = []
    /// On a disk that the cache could not read yet.
    var unread: [Int] = []
    var unreadClears: [CacheSelection] = []
    /// In files that the cache gave up; the next opening finds them.
    var aside: Set<Int> = []
    /// Cleared while the disk did not work: durable once it works again.
    var softlyCleared: [Int] = []
    var before = DiskRingCounters()
    /// A disk error kept the cache from counting: what it holds is looked at once the disk works.
    var isBlurred = false
    var hadRead = false
    /// Where the ledger had come to when the process began.
    var markFound: LedgerPosition?
    /// Before the directory could be read: what is newer than the disk may have gone.
    var hasLetMemoryGo = false
    /// Operations that met a disk error since the process began, or since it gave a file up.
    var failedOperations = 0
    /// Operations in which the disk refused to read a segment, since the process began.
    var refusedOperations: [UInt64: Int] = [:]
    /// Segments that this process could not read, first or last. Their files stay.
    var givenUp: Set<UInt64> = []
    /// Segments that the bound may have taken while the disk refused to delete their files.
    var undeleted: Set<UInt64> = []
    /// Points that this process found because it passed over the file with the clear that took them.
    var returned: Set<Int> = []
    /// Doubtful points that were counted among those that left, or were not: what each of them may stand for.
    var openCounts: [Fate] = []
    /// Points of `waiting` that the cache did not hold when the model looked again. They are in doubt, or have left from the
    /// front while the cache could not count.
    var uncounted = 0
    /// Bits flipped in what tells of other points: a header, a name, the ledger. Until the next opening.
    var hasFlippedStructure = false
    var hasDoubts = false
    /// The highest number of each stream that the server has stored. It stores nothing up to this number any more.
    var takenThrough: [[UInt8]: UInt64] = [:]
    var lastStored: [String: Int] = [:]
    var storedCount = 0

    /// Every point has reached the disk thread, or is accounted for.
    var isTaken: Bool { chosen.isEmpty }

    func describe(_ index: Int) -> String {
        "point \(index) (\(entries[index].entity), \(entries[index].fix.time.milliseconds))"
    }

    func broken(_ guarantee: Violation.Guarantee, _ detail: String) -> Violation {
        Violation(guarantee: guarantee, detail: detail)
    }

    // MARK: Gathering

    /// `bytes`: of the payload, when it is not the agent's.
    mutating func choose(
        _ fix: Fix, entity: String, isParked: Bool = false, attributes: [String: AttributeValue] = [:],
        at now: MonotonicTime = .distantPast, bytes: Int? = nil
    ) {
        let index = entries.count
        let text = attributes.reduce(0) { sum, attribute in
            if case .string(let text) = attribute.value { sum + text.utf8.count + 24 } else { sum + 24 }
        }
        entries.append(
            Entry(
                entity: entity, fix: fix, isParked: isParked, attributes: attributes,
                cost: (bytes ?? 120 + text) + entity.utf8.count + 112, chosenAt: now))
        byKey[Key(entity, fix)] = index
        chosen.append(index)
    }

    /// The server refuses the newest point, if it comes: its date is too far ahead.
    mutating func newestIsAhead() {
        if !entries.isEmpty { entries[entries.count - 1].mayBeMissing = true }
    }

    /// The queue of the disk thread was full: the newest point was refused, and counted.
    mutating func refuseNewest() {
        if let index = chosen.popLast() { entries[index].fate = .droppedInMemory }
    }

    func matches(_ index: Int, _ selection: CacheSelection) -> Bool {
        let entry = entries[index]
        let time = entry.fix.time.milliseconds
        return (selection.entities?.contains(entry.entity) ?? true) && time >= selection.from ?? .min
            && time <= selection.through ?? .max
    }

    // MARK: The store

    func wasGathered(_ point: TrackPoint, entity: String) -> Bool {
        byKey[Key(entity, point.fix)].map {
            entries[$0].isOf(point.fix) && entries[$0].isParked == point.isParked
        } ?? false
    }

    /// A point that was committed now, for the first time as far as its stream's numbers say.
    mutating func stored(_ point: TrackPoint, entity: String, at now: MonotonicTime) throws(Violation) {
        guard let index = byKey[Key(entity, point.fix)], entries[index].isOf(point.fix),
            entries[index].isParked == point.isParked, point.coordinateType == .wgs84, point.objectName == nil
        else {
            throw broken(.exactlyOnce, "a point of \(entity) was stored that was never gathered: \(point.fix)")
        }
        let entry = entries[index]
        guard entry.attributes == point.attributes else {
            throw broken(
                .exactlyOnce,
                "\(describe(index)) was stored with \(point.attributes), and gathered with \(entry.attributes)")
        }
        guard !entry.isStored else {
            throw broken(.exactlyOnce, "\(describe(index)) was stored twice")
        }
        // What was cleared, but not on the disk, may come back when later points have gone.
        if let last = lastStored[entity], index < last {
            guard entry.mayBeLate || entry.mayBeMissing || entry.isLostWithServer else {
                throw broken(.order, "\(describe(index)) was stored after \(describe(last))")
            }
            entries[index].wasLate = entry.mayBeLate
        }
        if now - entry.goneAt > 600_000 {
            switch entry.fate {
            case .cleared(isDurable: true) where !entry.mayReturn:
                throw broken(.exactlyOnce, "\(describe(index)) was cleared ten minutes ago and is stored now")
            case .droppedByBound where !entry.mayBeMissing, .droppedInMemory where !entry.mayBeMissing:
                throw broken(
                    .exactlyOnce, "\(describe(index)) was counted as dropped ten minutes ago and is stored now")
            default: break
            }
        }
        entries[index].isStored = true
        storedCount += 1
        lastStored[entity] = max(index, lastStored[entity] ?? 0)
    }

    /// The server has committed a batch up to this number of a stream.
    mutating func committed(_ stream: [UInt8], through last: UInt64) {
        takenThrough[stream] = max(last, takenThrough[stream] ?? 0)
    }

    /// Whether a point that stands on the disk can still be stored, as far as its number tells.
    func canBeStored(_ point: PointOnDisk, of stream: [UInt8]?) -> Bool {
        point.sequence > stream.flatMap { takenThrough[$0] } ?? 0
    }

    /// Milliseconds that the oldest point has waited in a cache that holds `count` points; nil: none waits.
    ///
    /// Of what is doubtful the cache may hold nothing: then it holds the newest of `waiting`. Nobody waits for a doubtful
    /// point: it leaves when later points are acknowledged.
    func oldestWaiting(at now: MonotonicTime, count: UInt64) -> Int64? {
        waiting.suffix(Int(count)).first { entries[$0].doubt == nil }.map { now - entries[$0].chosenAt }
    }

    // MARK: The end

    /// When everything has had its time: what is not stored must be accounted for, point by point.
    func settle() throws(Violation) {
        for (index, entry) in entries.enumerated() where !entry.isCovered && entry.doubt == nil {
            switch entry.fate {
            case .cleared, .droppedByBound, .droppedInMemory, .lostWithPower: continue
            case .chosen, .waiting, .acknowledged, .missing:
                throw broken(
                    .exactlyOnce, "\(describe(index)), \(entry.fate), was never stored, and nothing owns up to it")
            }
        }
    }

    /// Points that faults excuse from a check at the end, by cause.
    var weaknesses: [Weakness: Int] {
        var found: [Weakness: Int] = [:]
        for entry in entries {
            if let doubt = entry.doubt, !entry.isStored {
                found[doubt == .flippedBits ? .lostToFlippedBits : .lostInRefusedFile, default: 0] += 1
            }
            if entry.isLostWithServer, !entry.isStored { found[.lostWithServer, default: 0] += 1 }
            if entry.wasLate { found[.late, default: 0] += 1 }
        }
        return found
    }

    /// Points by what became of them, for the summary.
    func count(_ isCounted: (Fate) -> Bool) -> Int { entries.count { isCounted($0.fate) } }
    var chosenCount: Int { entries.count }
}
