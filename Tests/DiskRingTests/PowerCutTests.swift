import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

/// One history, with the power cut at every call that changes the disk; each cut also tears what was not synchronised.
@Suite struct PowerCutTests {
    /// What the owner was told before the lights went out.
    private struct Told {
        var durable: Set<Int> = []
        var cleared: Set<Int> = []
        /// A clear was in progress: its records may be there or not.
        var clearing: Set<Int> = []
        var acknowledged = 0
        var handedOut: UInt64 = 0
        var nextSequence: UInt64 = 0
        var stream: StreamID?
    }

    @Test(arguments: [0, 60_000] as [Int64])
    func everyPointOfAHistoryIsSurvived(interval: Int64) throws {
        let rehearsal = Ring(syncInterval: interval)
        var all = Told()
        try play(rehearsal, &all)
        let calls = rehearsal.disk.changingCalls
        #expect(calls > 100)
        #expect(rehearsal.disk.hasPower)
        for cut in 0..<calls {
            let ring = Ring(syncInterval: interval)
            ring.disk.callsUntilPowerFailure = cut
            var told = Told()
            try play(ring, &told)
            #expect(!ring.disk.hasPower, "cut \(cut)")
            try check(ring, told, cut, seed: UInt64(cut))
            // And again, in the middle of the recovery.
            ring.disk.callsUntilPowerFailure = cut % 12
            _ = try ring.open()
            try check(ring, told, cut, seed: UInt64(cut) &+ 1000)
        }
    }

    private func check(_ ring: Ring, _ told: Told, _ cut: Int, seed: UInt64) throws {
        ring.disk.crash(seed: seed)
        let cache = try ring.open()
        #expect(cache.state == .disk, "cut \(cut)")
        let numbers = cache.numbers()
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "cut \(cut): \(numbers)")
        let missing = told.durable.subtracting(numbers).filter { $0 >= told.acknowledged }
        #expect(missing.isEmpty, "cut \(cut): lost \(missing.sorted())")
        let revived = told.cleared.intersection(numbers)
        #expect(revived.isEmpty, "cut \(cut): revived \(revived.sorted())")
        if told.handedOut > 0 {
            #expect(cache.streamID == told.stream && cache.nextSequence > told.nextSequence, "cut \(cut)")
        }
    }

    /// Appends across several segments, reads, acknowledges, clears and goes on; stops when the power does.
    private func play(_ ring: Ring, _ told: inout Told) throws {
        let cache = try ring.open()
        func append(_ numbers: Range<Int>, size: Int) {
            for number in numbers where ring.disk.hasPower {
                cache.fill(number..<number + 1, size: size)
                guard ring.disk.hasPower, cache.state == .disk, cache.pending.isEmpty else { continue }
                told.durable.formUnion(0...number)
                told.durable.subtract(told.cleared)
                told.durable.subtract(told.clearing)
            }
        }
        append(0..<12, size: 20_000)
        if let batch = cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: 0), ring.disk.hasPower {
            told.handedOut = batch.lastSequence
            told.stream = batch.stream
            told.nextSequence = cache.nextSequence - 1
            told.acknowledged = batch.records.count
            cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 1_000_000)
        }
        append(12..<20, size: 300)
        guard ring.disk.hasPower else { return }
        told.clearing = Set(8...14)
        told.durable.subtract(told.clearing)
        let cleared = try cache.clear(entities: ["car"], from: 8, through: 14, now: 0)
        if ring.disk.hasPower, cleared.isDurable {
            told.cleared = told.clearing
            told.clearing = []
        }
        append(20..<30, size: 20_000)
        guard ring.disk.hasPower else { return }
        cache.close(now: 0)
        if ring.disk.hasPower { told.durable.formUnion(Set(0..<30).subtracting(told.cleared)) }
    }
}

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
    let options: DiskRingOptions

    /// `calls`: how many calls the owner makes, in one or more lives of the process.
    init(seed: UInt64, calls: Int, directory: String) throws {
        var dice = DiskDice(seed: seed)
        self.directory = directory
        var options = DiskRingOptions(segmentBytes: DiskRingOptions.smallestSegment)
        options.syncInterval = dice.one(in: 3) ? 60_000 : 0
        options.limit = dice.one(in: 3) ? 3 * DiskRingOptions.smallestSegment : nil
        self.options = options
        let files = WriteLogFileSystem(POSIXFileSystem())
        var cache = try DiskRing(directory: directory, options: options, fileSystem: files, now: 0)
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
                cache = try DiskRing(directory: directory, options: options, fileSystem: files, now: 0)
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
    func problem(with cache: DiskRing, cut: Int) -> String? {
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
