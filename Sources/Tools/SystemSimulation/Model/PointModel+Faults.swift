internal import DiskRing
internal import TrackModel

// What a fault can have cost, point by point; and whether what goes for good had to go.
extension PointModel {
    /// A bit flipped on the disk: what could be read before, and what can be read now.
    mutating func flipped(from before: RingContent, to after: RingContent) {
        func indices(_ points: [PointOnDisk]) -> Set<Int> { Set(points.compactMap { index(of: $0) }) }
        let (readable, still) = (indices(before.points), indices(after.points))
        let (sound, left) = (indices(before.others), indices(after.others))
        for index in readable.subtracting(still).union(sound.subtracting(left).subtracting(still))
        where !entries[index].isStored {
            entries[index].doubt = .flippedBits
            hasDoubts = true
        }
        // A clear is spoiled, or the ledger.
        for index in still.subtracting(readable) { entries[index].mayReturn = true }
        if left != sound || before.headless != after.headless || before.introductions != after.introductions
            || before.ledgerGeneration != after.ledgerGeneration
        {
            hasFlippedStructure = true
        }
    }

    /// The cache gave a file up that the disk refuses: not at once, because an error may pass. What is in it stays on the
    /// disk, and the next opening finds it.
    mutating func gaveUp(
        _ count: UInt64, _ cache: DiskRing, _ operation: DiskOperation, _ witness: RingFileObserver
    ) throws(Violation) {
        let headless = witness.content().headless
        // Without a sound header a file is refused as well, though not by the disk. A file that the disk refuses has a count of
        // its own: it may have been refused before the file that was given up last.
        let refused = operation.refused.filter { refusedOperations[$0] ?? 0 >= 3 }
        // The bound may have taken the file since, in the same operation.
        let taken = operation.losses.filter(\.isGone)
        let unsound = headless.union(taken.filter { !$0.hasSoundHeader }.map(\.segment))
        let candidates = refused.union(failedOperations >= 3 ? unsound : []).sorted()
        guard !candidates.isEmpty else {
            throw broken(.recovery, "a segment was given up that the disk refused in fewer than three operations")
        }
        // The next file may have failed for the first time in the same operation.
        failedOperations = 1
        // A login synchronises what was written, and reads then.
        durableCount = max(durableCount, waiting.count - cache.unsynchronisedCount)
        let held = Set(waiting.prefix(durableCount))
        var rest = count
        var gone: Set<Int> = []
        for first in candidates where rest > 0 {
            let standing = witness.points(in: first) + taken.filter { $0.segment == first }.flatMap(\.points)
            // What was not synchronised when the file was given up is in memory, and behind the rest in the file.
            let points = Set(standing.compactMap { index(of: $0) }).intersection(held).sorted().prefix(Int(rest))
            gone.formUnion(points)
            if !points.isEmpty { givenUp.insert(first) }
            rest -= min(rest, UInt64(points.count))
        }
        guard rest == 0 || isBlurred || hasDoubts else {
            throw broken(.recovery, "\(count) points of files were given up in which \(gone.count) waited")
        }
        guard !gone.isEmpty else { return }
        hasDoubts = true
        for index in gone {
            entries[index].mayBeLate = true
            if !entries[index].isStored { entries[index].doubt = .refusedFile }
        }
        aside.formUnion(gone)
        waiting.removeAll { gone.contains($0) }
        durableCount -= gone.count
    }

    /// The bound takes a segment only when another would not fit.
    func checkBound(
        _ cache: DiskRing, _ label: OperationLabel, _ operation: DiskOperation, _ witness: RingFileObserver
    ) throws(Violation) {
        let begun = cache.counters.segmentsCreated - before.segmentsCreated
        var bytes = witness.segmentBytes + (begun == 0 ? cache.options.segmentBytes : 0)
        // The unused end of a segment is cut after the next one has begun. A file that the next one replaces, or in which
        // nothing is left when the next one stands, takes no room from it.
        for loss in operation.losses where !loss.isGone { bytes += max(0, loss.bytes) }
        let gone = operation.losses.filter(\.isGone)
        // The bound takes the oldest. Of several the last one tells: without it there was too little room.
        let sizes = Dictionary(
            gone.filter { !$0.holdsClears }.map { ($0.segment, $0.bytes) }, uniquingKeysWith: { max($0, $1) }
        ).sorted { $0.key < $1.key }.map(\.value)
        if case .clear = label {
            // What a clear takes goes when the clear is on the disk, in a segment that may have to be begun for it.
            let dropped = Int(cache.counters.segmentsDropped - before.segmentsDropped)
            bytes += sizes.dropFirst(max(0, dropped - 1)).reduce(0, +)
        } else {
            bytes += sizes.max() ?? 0
        }
        // A clear stays as long as what it may be about, so it does take room.
        bytes += gone.filter(\.holdsClears).reduce(0) { $0 + $1.bytes }
        guard let limit = cache.usage.diskLimit, bytes > limit else {
            throw broken(
                .exactlyOnce,
                "the bound of \(cache.usage.diskLimit ?? -1) bytes took a segment of \(bytes) bytes in all")
        }
    }

    /// No file goes with a point in it that waits, unless the point stands elsewhere.
    func checkLosses(_ losses: [LostFile], _ cache: DiskRing, _ witness: RingFileObserver) throws(Violation) {
        // Nobody knows what else stands there; only the bound may take it.
        if cache.counters.segmentsDropped == before.segmentsDropped,
            let file = losses.first(where: {
                $0.isGone && givenUp.contains($0.segment) && !undeleted.contains($0.segment)
            })
        {
            throw broken(
                .recovery, "the cache deleted the file \(String(file.segment, radix: 16)), which it could not read")
        }
        let suspects = Set(losses.flatMap(\.points).compactMap { index(of: $0) }).filter {
            entries[$0].fate == .waiting && !entries[$0].isCovered && entries[$0].doubt == nil
        }.subtracting(waiting.suffix(cache.unsynchronisedCount))
        guard !suspects.isEmpty else { return }
        let content = witness.content()
        let standing = Set((content.points + content.others).compactMap { index(of: $0) })
        guard let index = suspects.subtracting(standing).min() else { return }
        throw broken(.recovery, "the cache deleted a file with \(describe(index)), which waits and stands nowhere else")
    }
}

/// What the server has of the points at the time of a backup.
struct RestoredPoints {
    fileprivate let count: Int
    fileprivate let stored: Set<Int>
    fileprivate let lastStored: [String: Int]
    fileprivate let takenThrough: [[UInt8]: UInt64]
}

// The server begins again with an earlier store.
extension PointModel {
    var storedPoints: RestoredPoints {
        RestoredPoints(
            count: storedCount, stored: Set(entries.indices.filter { entries[$0].isStored }), lastStored: lastStored,
            takenThrough: takenThrough)
    }

    /// A batch brought a point under this number of its stream.
    mutating func came(_ point: TrackPoint, of entity: String, as sequence: UInt64, _ stream: [UInt8]) {
        guard let index = byKey[Key(entity, point.fix)] else { return }
        entries[index].origin = (stream, sequence)
    }

    /// The server has what it had then. What it has told the vehicle since, by streams, the vehicle may have let go of; every
    /// other point must come again.
    mutating func serverRestored(_ kept: RestoredPoints, told: [[UInt8]: UInt64]) {
        for index in entries.indices where entries[index].isStored && !kept.stored.contains(index) {
            entries[index].isStored = false
            let isTold = entries[index].origin.map { $0.sequence <= told[$0.stream] ?? 0 } ?? true
            entries[index].isLostWithServer = isTold || entries[index].fate == .acknowledged
        }
        (storedCount, lastStored, takenThrough) = (kept.count, kept.lastStored, kept.takenThrough)
    }
}
