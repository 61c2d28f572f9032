import Testing
import TrackModel
import TrackTestKit

@testable import TrackCache

/// A history of one cache on a real directory, with what its owner knew after every call: which records must survive a
/// power cut there, which must not come back, and which numbers were handed out.
struct RecordedHistory {
    struct Moment {
        /// Entries of the log when the call had returned.
        var entries = 0
        /// Durable, and neither acknowledged, cleared nor dropped.
        var durable: Set<Int> = []
        /// Cleared durably.
        var cleared: Set<Int> = []
        var appended = 0
        var handedOut: [StreamID: [UInt64: Int]] = [:]
    }

    private(set) var log = WriteLog()
    private(set) var moments: [Moment] = [Moment()]
    let directory: String
    let options: TrackCacheOptions

    /// `calls`: how many calls the owner makes, in one or more lives of the process.
    init(seed: UInt64, calls: Int, directory: String) throws {
        var dice = DiskDice(seed: seed)
        self.directory = directory
        var options = TrackCacheOptions(segmentBytes: TrackCacheOptions.smallestSegment)
        options.syncInterval = dice.one(in: 3) ? 60_000 : 0
        options.limit = dice.one(in: 3) ? 3 * TrackCacheOptions.smallestSegment : nil
        self.options = options
        let files = WriteLogFileSystem(POSIXFileSystem())
        var cache = try TrackCache(directory: directory, options: options, fileSystem: files, now: 0)
        var moment = Moment()
        var waiting: [Int] = []
        var dropped: UInt64 = 0
        /// The owner forgets what is gone, and believes what is durable.
        func note() {
            let drops = cache.counters.droppedByBound
            waiting.removeFirst(min(Int(drops - dropped), waiting.count))
            dropped = drops
            moment.durable.formIntersection(waiting)
            if cache.state == .disk, cache.pending.isEmpty { moment.durable = Set(waiting) }
            moment.entries = files.log.entries.count
            moments.append(moment)
        }
        note()
        for _ in 0..<calls {
            switch Int.random(in: 0..<20, using: &dice) {
            case 0..<12:
                let size = dice.one(in: 3) ? Int.random(in: 8...30_000, using: &dice) : 60
                let number = moment.appended
                moment.appended += 1
                waiting.append(number)
                cache.append(entity: "car", time: Int64(number), payload: payload(number, size: size), now: 0)
            case 12..<14:
                let batch = cache.read(
                    after: 0, maximumCount: Int.random(in: 1...12, using: &dice), maximumBytes: .max, now: 0)
                note()
                guard let batch else { break }
                for record in batch.records {
                    moment.handedOut[batch.stream, default: [:]][record.sequence] = number(of: record.payload)
                }
                note()
                if dice.one(in: 2) {
                    let read = batch.records.map { number(of: $0.payload) }
                    try #require(waiting.starts(with: read), "seed \(seed): read \(read), waiting are \(waiting)")
                    waiting.removeFirst(batch.records.count)
                    cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: dice.one(in: 2) ? 0 : 900_000)
                }
            case 14..<17:
                // Of late, else there is little left to clear.
                let from = max(moment.appended - Int.random(in: 1...12, using: &dice), 0)
                let through = from + Int.random(in: 0...8, using: &dice)
                // While it runs its records may be there or not.
                let affected = Set(waiting.filter { (from...through).contains($0) })
                moment.durable.subtract(affected)
                waiting.removeAll(where: affected.contains)
                moments.append(moment)
                let result = try cache.clear(entities: nil, from: Int64(from), through: Int64(through), now: 0)
                if result.isDurable { moment.cleared.formUnion(affected) }
            case 17: cache.sync(now: 0)
            default:
                if dice.one(in: 2) { cache.close(now: 0) } else { cache.sync(now: 0) }
                note()
                // The process ends; what it wrote stays with the machine.
                cache.close(now: 0)
                cache = try TrackCache(directory: directory, options: options, fileSystem: files, now: 0)
                // What the opening dropped is in this difference; `note` must not take it off once more.
                dropped = cache.counters.droppedByBound
                waiting.removeFirst(max(waiting.count - Int(cache.count), 0))
            }
            note()
        }
        cache.close(now: 0)
        note()
        log = files.log
    }
}

extension RecordedHistory {
    /// What must hold of a cache that was opened after a cut behind so many entries; nil when it does.
    func problem(with cache: TrackCache, cut: Int) -> String? {
        guard cache.state == .disk else { return "the cache is \(cache.state)" }
        let index = moments.lastIndex { $0.entries <= cut } ?? 0
        let before = moments[index]
        let after = moments[min(index + 1, moments.count - 1)]
        var found: [Int] = []
        var handedOut = before.handedOut
        for batch in cache.batches() {
            for record in batch.records {
                let number = number(of: record.payload)
                if number < 0 || record.time != Int64(number) || batch.entity != "car" { return "a record is foreign" }
                if let known = handedOut[batch.stream]?[record.sequence], known != number {
                    return "sequence \(record.sequence) was \(known) and is \(number)"
                }
                handedOut[batch.stream, default: [:]][record.sequence] = number
                found.append(number)
            }
        }
        if found != found.sorted() || Set(found).count != found.count { return "order: \(found)" }
        if let last = found.last, last >= after.appended { return "\(last) is from the future" }
        let missing = before.durable.intersection(after.durable).subtracting(found)
        // The opening makes a segment of its own, and the bound may take the oldest for it; that is counted.
        let dropped = Int(cache.counters.droppedByBound)
        if missing.count > dropped || missing.contains(where: { $0 > found.first ?? .max }) {
            return "lost \(missing.sorted()), \(dropped) dropped"
        }
        let revived = before.cleared.intersection(found)
        if !revived.isEmpty { return "revived \(revived.sorted())" }
        let stream = cache.streamID
        guard let sequence = cache.append(entity: "car", time: 0, payload: payload(0), now: 0) else {
            return "an append is refused"
        }
        if cache.streamID == stream, let taken = handedOut[stream]?.keys.max(), sequence <= taken {
            return "sequence \(sequence) is used again, \(taken) was handed out"
        }
        return nil
    }
}
