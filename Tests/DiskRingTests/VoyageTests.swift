import Glibc
import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

/// Random histories: faults, power cuts, lost answers, clears, bounds. To repeat one, set `SAKER_TEST_SEED`.
@Suite struct VoyageTests {
    private static var seeds: [UInt64] {
        if let text = getenv("SAKER_TEST_SEED"), let seed = UInt64(String(cString: text)) { return [seed] }
        let count = getenv("SAKER_TEST_SEEDS").flatMap { Int(String(cString: $0)) } ?? 200
        return (0..<count).map { UInt64($0) }
    }

    @Test func nothingIsLostTwiceStoredOrRevivedWhateverTheDiskDoes() throws {
        for seed in Self.seeds {
            var voyage = try Voyage(seed: seed)
            for _ in 0..<150 where voyage.problems.isEmpty { try voyage.step() }
            if voyage.problems.isEmpty { voyage.arrive() }
            #expect(voyage.problems.isEmpty, "seed \(seed): \(voyage.problems.prefix(5))")
        }
    }
}

/// What a server remembers of streams: the rule that makes delivery exactly once.
struct StoredStreams {
    private(set) var storedThrough: [StreamID: UInt64] = [:]
    /// The numbers of the records in the order of storing, by entity.
    private(set) var stored: [String: [Int]] = [:]

    mutating func ingest(_ batch: CacheBatch) {
        let known = storedThrough[batch.stream] ?? 0
        for record in batch.records where record.sequence > known {
            stored[batch.entity, default: []].append(number(of: record.payload))
        }
        storedThrough[batch.stream] = max(known, batch.lastSequence)
    }
}

/// A cache, its owner and a server, on a bad disk and a bad link, driven by one seed.
struct Voyage {
    private enum Fate {
        /// Not durable yet.
        case pending
        /// Must arrive, unless a counter owns up to it.
        case durable
        /// May arrive: it was not durable when the power went, or was cleared after it was sent.
        case open
        /// Must not arrive: it was cleared, durably, before it was sent.
        case cleared
    }

    let ring: Ring
    var dice: DiskDice
    var cache: DiskRing
    var server = StoredStreams()
    var now: MonotonicTime = 1000
    private var fates: [Fate] = []
    private var entities: [String] = []
    private var handedOut: Set<Int> = []
    private var stream: StreamID
    private var position: UInt64 = 0
    private var link: [CacheBatch] = []
    /// Left in the network by connections that are gone; may still arrive, in order.
    private var stragglers: [CacheBatch] = []
    private var dropped: UInt64 = 0
    private var lostToMemory: UInt64 = 0
    /// A segment that could not even be counted was given up, and said so.
    private var hasUncountedLoss = false
    private(set) var problems: [String] = []

    init(seed: UInt64) throws {
        var dice = DiskDice(seed: seed)
        let limit: Int? =
            dice.one(in: 3) ? Int.random(in: 2...6, using: &dice) * DiskRingOptions.smallestSegment : nil
        ring = Ring(
            limit: limit, memoryLimit: dice.one(in: 3) ? 20_000 : 1 << 20,
            syncInterval: dice.one(in: 2) ? 0 : Int64.random(in: 1...20_000, using: &dice), seed: seed)
        ring.disk.hasShortTransfers = dice.one(in: 4)
        ring.disk.interruptionOdds = dice.one(in: 4) ? 10 : nil
        self.dice = dice
        cache = try ring.open(now: now)
        stream = cache.streamID
    }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &dice) {
        case 0..<40: append()
        case 40..<55: send()
        case 55..<68: deliver()
        case 68..<70: straggle()
        case 70..<72: login()
        case 72..<75: clear()
        case 75..<80: trouble()
        case 80..<83: ring.disk.faults = []; ring.disk.isReadOnly = false; ring.disk.capacity = nil
        case 83..<90: now += Int64.random(in: 1...30_000, using: &dice)
        case 90..<93: cache.maintain(now: now)
        case 93..<95: cache.sync(now: now)
        case 95: cache.setLimit(bytes: Bool.random(using: &dice) ? nil : Int.random(in: 0...1 << 20, using: &dice))
        case 96: cache.setSyncInterval(milliseconds: Int64.random(in: 0...20_000, using: &dice), now: now)
        default: try restart()
        }
        settle()
    }

    /// A good disk and a good link for as long as it takes; then what is known must hold.
    mutating func arrive() {
        ring.disk.faults = []
        ring.disk.isReadOnly = false
        ring.disk.capacity = nil
        for _ in 0..<20_000 where cache.state != .disk || cache.count > 0 || !link.isEmpty || !stragglers.isEmpty {
            now += 1000
            cache.maintain(now: now)
            straggle()
            if link.isEmpty { login() }
            send()
            while !link.isEmpty { deliver() }
            settle()
        }
        if cache.count > 0 { problems.append("\(cache.count) records never left, \(cache.state)") }
        collectLosses()
        judge()
    }

    // MARK: What happens

    private mutating func append() {
        let entity = ["car", "car", "car", "van", "tram"].randomElement(using: &dice) ?? "car"
        for _ in 0..<(dice.one(in: 5) ? Int.random(in: 1...60, using: &dice) : 1) {
            let number = fates.count
            fates.append(.pending)
            entities.append(entity)
            let size =
                dice.one(in: 40) ? Int.random(in: 8...65_536, using: &dice) : Int.random(in: 8...400, using: &dice)
            cache.append(entity: entity, time: Int64(number), payload: payload(number, size: size), now: now)
            settle()
        }
        if dice.one(in: 2) { now += 1000 }
    }

    private mutating func send() {
        guard cache.streamID == stream, link.count < 8 else { return }
        let batch = cache.read(
            after: position, maximumCount: Int.random(in: 1...100, using: &dice),
            maximumBytes: Int.random(in: 1...100_000, using: &dice), now: now)
        settle()
        guard let batch else { return }
        // Giving up what cannot be read may have been the end of a stream.
        if batch.stream != stream { return login() }
        let sequences = batch.records.map(\.sequence)
        if sequences != Array(batch.firstSequence...batch.lastSequence) || batch.firstSequence <= position {
            problems.append("a batch with gaps or behind its position")
        }
        position = batch.lastSequence
        for record in batch.records {
            let number = number(of: record.payload)
            handedOut.insert(number)
            if !fates.indices.contains(number) || record.time != Int64(number) || batch.entity != entities[number] {
                problems.append("record \(number) is not as it was appended")
            } else if fates[number] == .pending, cache.state == .disk {
                problems.append("record \(number) was handed out before it was durable")
            }
        }
        link.append(batch)
    }

    private mutating func deliver() {
        guard !link.isEmpty else { return }
        let batch = link.removeFirst()
        server.ingest(batch)
        // The answer may be lost with the link.
        if dice.one(in: 10) { return login() }
        cache.acknowledge(through: server.storedThrough[batch.stream] ?? 0, of: batch.stream, now: now)
        if cache.streamID != stream { login() }
    }

    private mutating func straggle() {
        if !stragglers.isEmpty { server.ingest(stragglers.removeFirst()) }
    }

    private mutating func disconnect() {
        // Of what a broken connection carried a first part may still arrive; an earlier connection's is older.
        if stragglers.isEmpty { stragglers = Array(link.prefix(Int.random(in: 0...link.count, using: &dice))) }
        link = []
    }

    private mutating func login() {
        disconnect()
        stream = cache.streamID
        // Of the same stream a straggler may come at any time: its numbers tell. Another stream's connection is over.
        stragglers.removeAll { $0.stream != stream }
        let stored = server.storedThrough[stream] ?? 0
        cache.confirm(serverStoredThrough: stored, now: now)
        if cache.streamID != stream {
            stream = cache.streamID
            cache.confirm(serverStoredThrough: server.storedThrough[stream] ?? 0, now: now)
        }
        position = server.storedThrough[stream] ?? 0
    }

    private mutating func clear() {
        guard dice.one(in: 3) else { return }
        let names: [String]? = dice.one(in: 2) ? nil : [entities.randomElement(using: &dice) ?? "car"]
        let from: Int64? = dice.one(in: 4) ? nil : Int64.random(in: 0...Int64(fates.count), using: &dice)
        let through: Int64? = dice.one(in: 4) ? nil : (from ?? 0) + Int64.random(in: 0...200, using: &dice)
        settle()
        guard let cleared = try? cache.clear(entities: names, from: from, through: through, now: now) else {
            problems.append("a clear was refused")
            return
        }
        for number in fates.indices
        where (names?.contains(entities[number]) ?? true) && (from.map { Int64(number) >= $0 } ?? true)
            && (through.map { Int64(number) <= $0 } ?? true)
        {
            fates[number] = handedOut.contains(number) || !cleared.isDurable ? .open : .cleared
        }
        // A clear that did not reach the disk holds for this process; the records must not be read now either way.
    }

    private mutating func trouble() {
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: ring.disk.isReadOnly = true
        case 1: ring.disk.capacity = ring.disk.usedBytes + Int.random(in: 0...200_000, using: &dice)
        case 2:
            ring.disk.faults = [
                DiskFault(
                    after: Int.random(in: 0...30, using: &dice), times: Int.random(in: 1...4, using: &dice), number: 5)
            ]
        default:
            ring.disk.faults = [
                DiskFault(
                    [[.write, .synchronizeData, .synchronize, .rename, .unlink].randomElement(using: &dice) ?? .write],
                    after: Int.random(in: 0...5, using: &dice), times: Int.random(in: 1...20, using: &dice), number: 28)
            ]
        }
    }

    private mutating func restart() throws {
        disconnect()
        let kind = Int.random(in: 0..<4, using: &dice)
        if kind == 0 {
            cache.close(now: now)
            settle()
        }
        if kind == 1 { ring.disk.callsUntilPowerFailure = Int.random(in: 0...20, using: &dice) }
        if kind == 1 {
            // The power goes somewhere inside this.
            append()
            cache.sync(now: now)
            send()
            settle()
            link = []
        }
        collectLosses()
        if kind == 3 { ring.disk.killProcess() } else { ring.disk.crash(seed: dice.next()) }
        for number in fates.indices where fates[number] == .pending { fates[number] = .open }
        lostToMemory = 0
        cache = try ring.open(now: now)
        stream = cache.streamID
        position = 0
        login()
    }

    // MARK: Judging

    /// What is no longer pending has become durable, unless memory dropped it.
    private mutating func settle() {
        let pending = Set((0..<cache.pending.count).map { number(of: cache.pending[$0].payload) })
        let hasDropped = cache.counters.droppedInMemory != lostToMemory
        lostToMemory = cache.counters.droppedInMemory
        for number in fates.indices.suffix(4000) where fates[number] == .pending && !pending.contains(number) {
            fates[number] = hasDropped || cache.state == .closed ? .open : .durable
        }
        if cache.counters.streamConflicts > 0 { problems.append("a sequence was used twice") }
    }

    private mutating func collectLosses() {
        let counters = cache.counters
        hasUncountedLoss = hasUncountedLoss || cache.recovery.unreadableSegments > 0
        dropped += counters.droppedByBound + counters.unreadableRecords + counters.lostToConflict
    }

    private mutating func judge() {
        var arrived: Set<Int> = []
        for (entity, numbers) in server.stored {
            // What came back after a clear that was not durable comes late.
            let inOrder = numbers.filter { fates[$0] == .durable }
            if inOrder != inOrder.sorted() { problems.append("records of \(entity) overtook others") }
            for number in numbers where !arrived.insert(number).inserted {
                problems.append("record \(number) was stored twice")
            }
        }
        var missing: [Int] = []
        for (number, fate) in fates.enumerated() {
            switch fate {
            case .durable: if !arrived.contains(number) { missing.append(number) }
            case .cleared: if arrived.contains(number) { problems.append("record \(number) came back after its clear") }
            case .open, .pending: break
            }
        }
        if missing.count > Int(clamping: dropped), !hasUncountedLoss {
            problems.append("\(missing.count) records missing, \(dropped) owned up to: \(missing.prefix(20))")
        }
    }
}
