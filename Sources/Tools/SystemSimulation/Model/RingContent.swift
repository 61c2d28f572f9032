internal import TrackModel

/// A point that stands on the disk.
struct PointOnDisk {
    /// First sequence of its segment, as the file's name says it.
    let segment: UInt64
    let sequence: UInt64
    /// Empty: the record that introduces the name is damaged.
    let entity: String
    let point: TrackPoint

    var fix: Fix { point.fix }
}

/// What stands in the ring's directory and what an opening has to find there, by docs/formats/track-cache.md.
struct RingContent {
    /// Of the stream in use, not cleared, in the order of their numbers; acknowledged ones among them.
    private(set) var points: [PointOnDisk] = []
    /// Sound points that no opening takes: of another stream, in a file without a sound header, or without a name.
    private(set) var others: [PointOnDisk] = []
    /// Files without a sound header.
    private(set) var headless: Set<UInt64> = []
    /// What tells of the points: sound records that introduce a name, and the ledger.
    private(set) var introductions = 0
    private(set) var ledgerGeneration: UInt64 = 0
    /// As far as the ledger tells.
    private(set) var acknowledged: UInt64 = 0
    /// The stream in use; nil: there is none.
    private(set) var stream: [UInt8]?

    /// How many of `points` wait for upload.
    var waitingCount: Int { points.count { $0.sequence > acknowledged } }

    /// - Parameters:
    ///   - files: segments by the first sequence of their names.
    ///   - ledger: the bytes of the file `acknowledged`; nil: there is none, or it could not be read.
    ///   - streams: all that were ever in use, for files without a header.
    ///   - decode: the point in a payload.
    init(
        files: [(first: UInt64, bytes: [UInt8])], ledger: [UInt8]?, streams: Set<[UInt8]> = [],
        decode: ([UInt8], Int64) -> TrackPoint?
    ) {
        let files = files.sorted { $0.first < $1.first }.map { ($0.first, SegmentContent($0.bytes), $0.bytes) }
        let sound = files.filter { first, content, _ in content.header?.first == first }
        let known = ledger.flatMap(Self.newest)
        stream =
            sound.contains { $0.1.header?.stream == known?.stream } ? known?.stream : sound.last?.1.header?.stream
        if let known, known.stream == stream { acknowledged = known.acknowledged }
        ledgerGeneration = known?.generation ?? 0
        introductions = files.reduce(0) { $0 + $1.1.introductions }

        func standing(_ first: UInt64, _ point: SegmentContent.Point) -> PointOnDisk? {
            decode(point.payload, point.time).map {
                PointOnDisk(segment: first, sequence: point.sequence, entity: point.entity ?? "", point: $0)
            }
        }
        var next = UInt64.max
        var clears: [SegmentContent.Clear] = []
        // Newest first, so that a clear is known before what it took.
        for (first, content, bytes) in files.reversed() {
            guard content.header?.first == first, content.header?.stream == stream else {
                if content.header?.first != first { headless.insert(first) }
                let readings = content.header == nil ? streams.map { SegmentContent(bytes, stream: $0) } : [content]
                for reading in readings { others += reading.points.compactMap { standing(first, $0) } }
                continue
            }
            // No number beyond the range of the file's own, nor of the next file.
            let upper = min(next, (first - 1) / (1 << 32) * (1 << 32) + (1 << 32) + 1)
            for var clear in content.clears {
                clear.below = min(clear.below, upper)
                clears.append(clear)
            }
            var last: UInt64 = 0
            var taken: [PointOnDisk] = []
            for point in content.points where (first..<upper).contains(point.sequence) && point.sequence > last {
                last = point.sequence
                guard let found = standing(first, point) else { continue }
                if point.entity == nil {
                    others.append(found)
                } else if !clears.contains(where: { $0.covers(point) }) {
                    taken.append(found)
                }
            }
            points.insert(contentsOf: taken, at: 0)
            next = first
        }
    }

    /// The sound slot of the higher generation.
    private static func newest(_ ledger: [UInt8]) -> (generation: UInt64, stream: [UInt8], acknowledged: UInt64)? {
        var newest: (generation: UInt64, stream: [UInt8], acknowledged: UInt64)?
        for start in [0, 4096] where ledger.count >= start + 64 {
            let slot = Array(ledger[start..<start + 64])
            guard slot.starts(with: "SAKER-AK".utf8), SegmentContent.integer(slot, 8, 2) == 1,
                SegmentContent.sum(slot) == SegmentContent.integer(slot, 12, 4)
            else { continue }
            let generation = SegmentContent.integer(slot, 16, 8)
            if generation >= newest?.generation ?? 0 {
                newest = (generation, Array(slot[24..<40]), SegmentContent.integer(slot, 40, 8))
            }
        }
        return newest
    }
}
