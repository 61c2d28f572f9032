import TrackModel
import TrackTestKit

@testable import DiskRing

/// A cache on a simulated disk, with small segments so that little data makes many.
struct Ring {
    static let directory = "/state/ring"

    let disk: DiskSimulation
    var options = DiskRingOptions(segmentBytes: DiskRingOptions.smallestSegment)

    init(limit: Int? = nil, memoryLimit: Int = 1 << 20, syncInterval: Int64 = 0, seed: UInt64 = 1) {
        disk = DiskSimulation(seed: seed, directories: ["/state"])
        options.limit = limit
        options.memoryLimit = memoryLimit
        options.syncInterval = syncInterval
    }

    /// A process has filled the ring and has ended in order.
    static func closed(holding numbers: Range<Int>) throws -> Ring {
        let ring = Ring()
        try ring.fillAndClose(numbers)
        return ring
    }

    /// A process fills the ring and ends in order. Returns the stream that the records belong to.
    @discardableResult
    func fillAndClose(_ numbers: Range<Int>) throws -> StreamID {
        let cache = try open()
        cache.fill(numbers)
        defer { cache.close(now: 0) }
        return cache.streamID
    }

    func open(now: MonotonicTime = 0) throws(DiskRingError) -> DiskRing {
        try DiskRing(directory: Self.directory, options: options, fileSystem: disk, now: now)
    }

    /// Kills the process, with or without the machine.
    func reopen(_ cache: DiskRing, crashSeed: UInt64? = nil, now: MonotonicTime = 0) throws -> DiskRing {
        if let crashSeed { disk.crash(seed: crashSeed) } else { disk.killProcess() }
        return try withExtendedLifetime(cache) { try open(now: now) }
    }

    var segmentPaths: [String] { disk.paths.filter { $0.hasSuffix(".segment") } }
}

extension DiskRing {
    /// Numbered payloads, one a millisecond.
    func fill(_ numbers: Range<Int>, entity: String = "car", size: Int = 40, now: MonotonicTime = 0) {
        for number in numbers {
            append(entity: entity, time: Int64(number), payload: payload(number, size: size), now: now)
        }
    }

    /// Everything that waits, without acknowledging it.
    func batches(count: Int = 1000, bytes: Int = .max, now: MonotonicTime = 0) -> [CacheBatch] {
        var batches: [CacheBatch] = []
        var position: UInt64 = 0
        while let batch = read(after: position, maximumCount: count, maximumBytes: bytes, now: now) {
            batches.append(batch)
            position = batch.lastSequence
        }
        return batches
    }

    /// Reads everything that waits, and acknowledges the first of it.
    func readAndAcknowledge(through sequence: UInt64) {
        _ = batches()
        acknowledge(through: sequence, of: streamID, now: 0)
    }

    /// The numbers of everything that waits.
    func numbers(now: MonotonicTime = 0) -> [Int] {
        batches(now: now).flatMap { $0.records.map { number(of: $0.payload) } }
    }
}

/// Eight bytes that say which, the rest a pattern of it.
func payload(_ number: Int, size: Int = 40) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        + [UInt8](repeating: UInt8(truncatingIfNeeded: number &* 31), count: max(size - 8, 0))
}

/// -1 when the payload is not one of `payload(_:size:)`.
func number(of bytes: [UInt8]) -> Int {
    guard bytes.count >= 8 else { return -1 }
    let number = (0..<8).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
    return bytes == payload(number, size: bytes.count) ? number : -1
}
