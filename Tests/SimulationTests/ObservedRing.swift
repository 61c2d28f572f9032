import AgentControl
import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// A ring on a simulated disk, and the model that observes every operation.
final class ObservedRing {
    let disk = DiskSimulation(directories: ["/var"])
    /// Of the next process.
    var options: DiskRingOptions
    private let witness: RingFileObserver
    var ledger = PointModel()
    private(set) var cache: DiskRing
    var now: MonotonicTime = 0

    static let segmentBytes = DiskRingOptions.smallestSegment

    /// `limit`, `memoryLimit`: bytes.
    init(limit: Int? = nil, memoryLimit: Int = 4096) throws {
        options = DiskRingOptions(
            limit: limit, memoryLimit: memoryLimit, syncInterval: 3_600_000, segmentBytes: Self.segmentBytes)
        // A record's time is its number.
        witness = RingFileObserver(disk, directory: "/ring") { _, time in
            (try? Self.fix(Int(time))).map { TrackPoint($0) }
        }
        cache = try DiskRing(directory: "/ring", options: options, fileSystem: disk, now: 0)
        try ledger.processStarted(cache, at: now, witness)
    }

    /// The opening alone: the disk may lose its power in the middle.
    func open() throws {
        cache = try DiskRing(directory: "/ring", options: options, fileSystem: disk, now: 0)
    }

    /// The next process.
    func start() throws {
        let found = content
        try open()
        try ledger.processStarted(cache, at: now, witness, found: found)
    }

    /// The next process, after the power went in an opening before it, if the opening had so many calls.
    func start(withPowerFailingAfter calls: UInt64) throws {
        disk.callsUntilPowerFailure = Int(calls)
        try open()
        if !disk.hasPower {
            disk.crash(seed: calls)
            openingInterrupted()
            disk.callsUntilPowerFailure = nil
            try open()
        }
        try started()
    }

    func started() throws { try ledger.processStarted(cache, at: now, witness) }

    /// What is on the disk.
    var content: RingContent { witness.content() }

    func observe(_ operation: OperationLabel = .other) throws {
        try ledger.observe(cache, operation, at: now, witness)
    }

    /// `bytes`: of each payload, as the model counts it; `payload`: its bytes, when there are fewer.
    func gather(
        _ numbers: ClosedRange<Int>, as entity: String = "van", bytes: Int = 1000, payload: Int? = nil
    ) throws {
        let payload = [UInt8](repeating: 7, count: payload ?? bytes)
        for number in numbers {
            ledger.choose(try Self.fix(number), entity: entity, bytes: bytes)
            cache.append(entity: entity, time: Int64(number), payload: payload, now: now)
            try observe()
        }
    }

    func sync() throws {
        cache.sync(now: now)
        try observe()
    }

    /// The server stores the ring's next points and says so; `answered`: before the ring hears it.
    func upload(_ count: Int, answered: () -> Void = {}) throws {
        let batch = try #require(
            cache.read(after: 0, maximumCount: count, maximumBytes: 1 << 20, now: now), "\(cache.count) wait")
        for record in batch.records {
            guard !ledger.entries[Int(record.time) - 1].isStored else { continue }
            try ledger.stored(TrackPoint(Self.fix(Int(record.time))), entity: batch.entity, at: now)
        }
        ledger.committed(batch.stream.bytes, through: batch.lastSequence)
        answered()
        cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: now)
        try observe()
    }

    func clear(_ selection: CacheSelection) throws {
        _ = try cache.clear(
            entities: selection.entities, from: selection.from, through: selection.through, now: now)
        try observe(.clear(selection))
    }

    /// The dates of these points turned out to be wrong.
    func disprove(_ dates: ClosedRange<Int64>) throws {
        ledger.expectDisproved(dates)
        _ = try cache.clear(
            entities: nil, from: dates.lowerBound, through: dates.upperBound, as: .wrongDate, now: now)
        try observe()
    }

    /// The ring's next look at the disk, which the model does not observe yet.
    func maintain() throws {
        now = try #require(cache.nextMaintenance)
        cache.maintain(now: now)
    }

    func openingInterrupted() { ledger.openingInterrupted(cache, witness) }

    /// The power has gone in an operation.
    func interrupted(seed: UInt64) {
        ledger.interrupted(cache, .other, witness)
        disk.crash(seed: seed)
        _ = witness.takeOperation()
    }

    /// The next process, which the disk keeps from reading the directory four times. From the fifth time on the ring reads
    /// what it can, and then the disk refuses the header of this segment, the oldest being 1, and what `more` says.
    ///
    /// The model does not observe the operation that reads. `gathering`: before it, in memory.
    func startRefusing(
        segment: Int, _ more: [DiskFault] = [], gathering numbers: ClosedRange<Int>? = nil
    ) throws {
        disk.killProcess()
        disk.faults = [DiskFault([.list], number: 5)]
        try start()
        for _ in 2...4 {
            try maintain()
            try observe()
        }
        if let numbers { try gather(numbers, payload: 1) }
        // The files of the lock and of the ledger are opened before the segments.
        disk.faults = [DiskFault([.open], after: segment + 1, times: 1, number: 5)] + more
        try maintain()
    }

    /// The fix of a point: its number is its time and its place.
    static func fix(_ number: Int) throws -> Fix {
        let place = try #require(Coordinate(latitudeE7: Int32(number), longitudeE7: 7))
        return Fix(time: Timestamp(milliseconds: Int64(number)), coordinate: place, mode: .threeDimensional)
    }
}
