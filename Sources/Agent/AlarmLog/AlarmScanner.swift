internal import DiskRing
internal import TrackModel

/// Reads the records of a journal's file one behind the other. Behind a place that is damaged, or that the disk does not give, it
/// finds the next sound record.
struct AlarmScanner {
    struct Found {
        let record: AlarmFormat.Record
        let offset: Int
        let length: Int

        var end: Int { offset + length }
    }

    /// Bytes of the file at an offset; nil: the disk has refused them for so long that nobody waits for them any more.
    typealias Source = (_ offset: Int, _ count: Int) throws(CacheFileError) -> [UInt8]?

    private static let windowBytes = 64 * 1024
    /// A disk refuses whole blocks.
    private static let blockBytes = 4096
    /// A block that is refused may take a disk some seconds.
    private static let mostRefusedBlocks = 256

    private let source: Source
    /// Where the file ends.
    private let size: Int
    /// Where the next record begins.
    private(set) var position: Int
    /// Damaged places with a sound record behind them: records, as far as their lengths tell.
    private(set) var damaged = 0
    /// Something stands behind the last sound record.
    private(set) var hasTornTail = false
    /// Bytes of checksums that the search may still compute: a crafted file must not hold up the start.
    private var searchRest: Int
    private var refusedBlocks = 0

    init(from offset: Int, size: Int, source: @escaping Source) {
        (position, self.size, self.source) = (offset, size, source)
        searchRest = (8 << 20) + 4 * size
    }

    /// The next sound record; nil when there is none.
    mutating func next() throws(CacheFileError) -> Found? {
        guard position < size else { return nil }
        if let found = try record(at: position), !found.isPart {
            position = found.found.end
            return found.found
        }
        guard let found = try search(after: position) else {
            hasTornTail = true
            position = size
            return nil
        }
        damaged += try records(from: position, to: found.offset)
        position = found.end
        return found
    }

    // MARK: Records

    private func record(at offset: Int) throws(CacheFileError) -> (found: Found, isPart: Bool)? {
        guard let head = try bytes(offset, AlarmFormat.recordBytes), let length = AlarmFormat.length(head),
            let record = try bytes(offset, length), let content = AlarmFormat.decode(record)
        else { return nil }
        return (Found(record: content, offset: offset, length: length), AlarmFormat.isPart(record))
    }

    private func bytes(_ offset: Int, _ count: Int) throws(CacheFileError) -> [UInt8]? {
        offset + count <= size ? try source(offset, count) : nil
    }

    /// How many damaged records stand there; 1 when their lengths do not tell.
    private func records(from start: Int, to end: Int) throws(CacheFileError) -> Int {
        var (offset, count) = (start, 0)
        while offset < end {
            guard let head = try bytes(offset, AlarmFormat.recordBytes), let length = AlarmFormat.length(head) else {
                return 1
            }
            offset += length
            count += 1
        }
        return offset == end ? count : 1
    }

    // MARK: Finding the next record

    /// The content of an alarm cannot hold the bytes of a record, and the records inside a verdict bear a mark: one without its
    /// verdict does not count.
    private mutating func search(after start: Int) throws(CacheFileError) -> Found? {
        var offset = start + 1
        while offset + AlarmFormat.recordBytes <= size {
            guard let window = try window(at: offset) else {
                refusedBlocks += 1
                guard refusedBlocks < Self.mostRefusedBlocks else { return nil }
                offset = (offset / Self.blockBytes + 1) * Self.blockBytes
                continue
            }
            var candidate = 0
            while candidate + AlarmFormat.recordBytes <= window.count {
                guard let length = AlarmFormat.length(window, at: candidate), offset + candidate + length <= size else {
                    candidate += 1
                    continue
                }
                searchRest -= length
                guard searchRest > 0 else { return nil }
                guard let found = try record(at: offset + candidate) else {
                    candidate += 1
                    continue
                }
                guard found.isPart else { return found.found }
                candidate += length
            }
            offset += max(candidate, 1)
        }
        return nil
    }

    /// Bytes from an offset on, at least a head; nil when the disk refuses them.
    private func window(at offset: Int) throws(CacheFileError) -> [UInt8]? {
        if refusedBlocks == 0, let window = try source(offset, min(Self.windowBytes, size - offset)) { return window }
        let end = (offset + AlarmFormat.recordBytes + Self.blockBytes - 1) / Self.blockBytes * Self.blockBytes
        return try source(offset, min(end, size) - offset)
    }
}

/// How long the journal waits for bytes that the disk refuses to read. An error may pass, and what is given up is lost.
///
/// Attempts count when time has passed since the last one that counted: a burst of operations at a disk that fails for a
/// moment is one attempt. The pauses are those of the ring: 1 second, then 2, 4 and so on, up to 60 seconds.
struct ReadRetryLimit: Hashable {
    /// The last of these attempts comes ten minutes after the first at the earliest.
    static let attempts = 16
    static let pauses: ClosedRange<Int64> = 1000...60_000

    private var refusals = 0
    private var next = MonotonicTime.distantPast
    private var pause = pauses.lowerBound

    /// The disk has refused. True: for so long that nobody waits any more.
    mutating func refused(at now: MonotonicTime) -> Bool {
        guard refusals < Self.attempts else { return true }
        guard now >= next else { return false }
        refusals += 1
        next = now + pause
        pause = min(pause * 2, Self.pauses.upperBound)
        return refusals == Self.attempts
    }
}
