internal import TrackModel

/// What the cache remembers of one segment file: enough to answer, to bound and to delete without reading it.
struct Segment {
    let first: UInt64
    /// Highest sequence of a point in it; `first - 1` when it holds none.
    var last: UInt64
    /// Where sound records end.
    var end: Int
    /// Of the file.
    var bytes: Int
    /// Points that are not cleared, acknowledged or not.
    var tally = SegmentTally()
    var holdsTombstone = false
    /// It holds points of numbers that only the next segment's name keeps from being taken. No agent writes such a file.
    var reachesBeyond = false
    /// Whether everything in the file was read or written by this process: only then may its tail be cut.
    var isWhole = true
    /// The disk refused records that may stand in it. Nobody knows whether they wait, so the file stays for the next
    /// opening; only the bound takes it.
    var holdsUnread = false
    /// Unsynchronised records stand behind its end, and in memory or nowhere: they must not come back.
    var hasLeftovers = false
    /// Records known to be damaged, so that each is counted once.
    var damaged: UInt64 = 0
    var readFailures = 0
    /// A clear could not look into it, so the tally may count what is cleared. Of several clears the first.
    var missedClear: MissedClear?
    var isTallyStale: Bool { missedClear != nil }

    /// Whether no number in it is missing: then counting needs no reading.
    var isDense: Bool { !isTallyStale && tally.count > 0 && tally.count == last - first + 1 }

    var name: String { SegmentName.of(first) }

    /// It could be read, and cannot any more: nothing of it waits for this process.
    mutating func giveUp() {
        last = first - 1
        tally = SegmentTally()
        missedClear = nil
        isWhole = false
        holdsUnread = true
    }
}

/// A clear of a segment that the disk refused to show.
struct MissedClear {
    /// As what the records count that it took.
    var cause: CacheLoss
    /// What was acknowledged then: the server has it, and the clear took none of it.
    var acknowledged: UInt64
}

/// Counts of points by entity.
struct SegmentTally {
    /// More entities than this are not kept a segment; whoever asks has to read it.
    private static let maximumEntities = 64

    private(set) var count: UInt64 = 0
    /// Lowest sequence counted; 0 when none.
    private(set) var first: UInt64 = 0
    /// Nil: too many.
    private(set) var entities: [EntityCacheInfo]? = []

    mutating func add(entity: String, sequence: UInt64, time: Int64, bytes: Int) {
        add(EntityCacheInfo(first: entity, time: time, bytes: bytes), first: sequence)
    }

    /// Points of one entity at once; `first` is their lowest sequence.
    mutating func add(_ info: EntityCacheInfo, first sequence: UInt64) {
        if count == 0 { first = sequence }
        count += info.count
        guard entities != nil else { return }
        if let index = entities?.firstIndex(where: { ExactName($0.entity) == ExactName(info.entity) }) {
            entities?[index].merge(info)
        } else if let known = entities?.count, known < Self.maximumEntities {
            entities?.append(info)
        } else {
            entities = nil
        }
    }
}

/// Consecutive points of one entity, counted without looking at names: opening reads a million records in its budget.
struct TallyRun {
    let entity: Int
    let name: String
    let first: UInt64
    private var count: UInt64 = 1
    private var firstTime: Int64
    private var lastTime: Int64
    private(set) var newestTime: Int64
    private var bytes: UInt64

    init(_ record: SegmentScanner.Record, of name: String) {
        entity = record.entity
        self.name = name
        first = record.sequence
        firstTime = record.time
        lastTime = record.time
        newestTime = record.time
        bytes = UInt64(record.bodyBytes)
    }

    mutating func add(_ record: SegmentScanner.Record) {
        count += 1
        firstTime = min(firstTime, record.time)
        lastTime = max(lastTime, record.time)
        newestTime = record.time
        bytes += UInt64(record.bodyBytes)
    }

    var newest: NewestPoint { NewestPoint(entity: name, time: newestTime) }

    var info: EntityCacheInfo {
        EntityCacheInfo(entity: name, count: count, firstTime: firstTime, lastTime: lastTime, bytes: bytes)
    }
}

extension EntityCacheInfo {
    init(first entity: String, time: Int64, bytes: Int) {
        self.init(entity: entity, count: 1, firstTime: time, lastTime: time, bytes: UInt64(bytes))
    }

    mutating func merge(_ other: EntityCacheInfo) {
        count += other.count
        firstTime = min(firstTime, other.firstTime)
        lastTime = max(lastTime, other.lastTime)
        bytes += other.bytes
    }
}
