internal import TrackModel

/// Why numbers before a record have no records any more.
package enum CacheLoss: Hashable, Sendable {
    /// The bound of the cache took them.
    case dropped
    /// A person cleared them.
    case cleared
    /// Their date turned out to be wrong.
    case wrongDate
    /// The disk lost them, or memory was full while the disk did not work.
    case damaged
}

/// What this process has lost of one stream, by number.
struct KnownLosses {
    private struct Part {
        let cause: CacheLoss
        var numbers: ClosedRange<UInt64>
    }

    let stream: StreamID
    /// Oldest first. Each begins and ends with a number that was lost; between them others may be left.
    private var parts: [Part] = []

    /// More parts than these are not kept: the oldest have been read long ago.
    private static let maximumParts = 64

    init(stream: StreamID) { self.stream = stream }

    mutating func note(_ cause: CacheLoss, _ numbers: ClosedRange<UInt64>) {
        if let last = parts.last, last.cause == cause, numbers.lowerBound > last.numbers.upperBound,
            numbers.lowerBound - last.numbers.upperBound == 1
        {
            parts[parts.count - 1].numbers = last.numbers.lowerBound...numbers.upperBound
            return
        }
        parts.append(Part(cause: cause, numbers: numbers))
        if parts.count > Self.maximumParts { parts.removeFirst() }
    }

    /// The lowest number behind another one that was lost.
    func first(after sequence: UInt64) -> UInt64? {
        parts.lazy.filter { $0.numbers.upperBound > sequence }.map { max($0.numbers.lowerBound, sequence + 1) }.min()
    }

    /// What was lost behind a number, as numbers of which `base` is `start`; it is not among the losses any more.
    mutating func take(after sequence: UInt64, from base: UInt64, to start: UInt64) -> [(
        CacheLoss, ClosedRange<UInt64>
    )] {
        let moved = parts.filter { $0.numbers.upperBound > sequence }.map { part in
            let first = max(part.numbers.lowerBound, sequence + 1)
            return (part.cause, start + (first - base)...start + (part.numbers.upperBound - base))
        }
        parts = parts.compactMap { part in
            guard part.numbers.upperBound > sequence else { return part }
            guard part.numbers.lowerBound <= sequence else { return nil }
            return Part(cause: part.cause, numbers: part.numbers.lowerBound...sequence)
        }
        return moved
    }

    /// What took most of these numbers; nil: this process has lost none of them.
    func cause(of missing: ClosedRange<UInt64>) -> CacheLoss? {
        let shares = parts.filter { $0.numbers.overlaps(missing) }.map { part in
            (part.cause, part.numbers.clamped(to: missing).count)
        }
        return shares.max { $0.1 < $1.1 }?.0
    }
}

extension DiskRing {
    /// Why there is nothing between two numbers of the stream. Nil: nothing is missing there, or nobody knows why.
    ///
    /// `after`: a number that was read before, or that the server has; behind it reading goes on. `first`: of the record that is
    /// read next. `entity` and
    /// `time`: of this record, milliseconds since 1970. Of a process before, only its clears are known for sure.
    package func loss(after: UInt64, before first: UInt64, entity: String, time: Int64) -> CacheLoss? {
        // A session begins to read at the oldest record, whatever was before it.
        let last = first == firstSequence ? uploading.acknowledged : max(after, uploading.acknowledged)
        guard first > last, first - last > 1 else { return nil }
        if let known = knownLosses.cause(of: (last + 1)...(first - 1)) { return known }
        let isCleared = clearsFound.contains { clear in
            clear.below > last + 1 && clear.times.lowerBound < time
                && clear.entities?.contains(ExactName(entity)) ?? true
        }
        if isCleared { return .cleared }
        // Each range begins with an opening: the numbers at the end of the range before were never given out.
        guard (first - 1) % SequenceRange.size != 0 else { return nil }
        if first == firstSequence, isNearlyFull { return .dropped }
        let isDamaged =
            counters.corruptRecords + counters.unreadableRecords + counters.droppedInMemory + recovery.corruptRecords
            > 0
        return isDamaged ? .damaged : nil
    }

    /// What was lost in the stream on the disk.
    private var knownLosses: KnownLosses { losses(of: uploading.stream) }

    private func losses(of stream: StreamID) -> KnownLosses {
        losses.first { $0.stream == stream } ?? KnownLosses(stream: stream)
    }

    private func keep(_ known: KnownLosses) {
        losses.removeAll { $0.stream != uploading.stream && $0.stream != waiting?.stream || $0.stream == known.stream }
        losses.append(known)
    }

    /// Records of a segment are lost.
    func noteLoss(_ cause: CacheLoss, _ first: UInt64, through last: UInt64) {
        note(cause, first, through: last, in: uploading.stream)
    }

    /// Records in memory are lost.
    func noteLossInMemory(_ cause: CacheLoss, _ first: UInt64, through last: UInt64) {
        note(cause, first, through: last, in: waiting?.stream ?? uploading.stream)
    }

    private func note(_ cause: CacheLoss, _ first: UInt64, through last: UInt64, in stream: StreamID) {
        guard first <= last else { return }
        var known = losses(of: stream)
        known.note(cause, first...last)
        keep(known)
    }

    /// The records in memory behind a number get others, from `start` on, as far apart as they were: what is missing between two of them
    /// stays missing, with its reason. They were of `stream`, and are of `target`; the next record would have had the number `next`.
    /// Returns the one that it has.
    func renumberMemory(
        after sequence: UInt64 = 0, next: UInt64, of stream: StreamID, to target: StreamID, from start: UInt64
    ) -> UInt64 {
        var known = losses(of: stream)
        let index = pending.index(after: sequence)
        let first = index < pending.count ? pending[index].sequence : nil
        let base = [first, known.first(after: sequence), next].compactMap(\.self).min() ?? next
        pending.renumber(after: sequence, from: base, to: start)
        let moved = known.take(after: sequence, from: base, to: start)
        if !moved.isEmpty {
            keep(known)
            for (cause, numbers) in moved { note(cause, numbers.lowerBound, through: numbers.upperBound, in: target) }
        }
        return start + (next - base)
    }

    /// The process before may have dropped what is missing before the oldest record.
    private var isNearlyFull: Bool {
        options.limit.map { diskBytes + 2 * options.segmentBytes > $0 } ?? false
    }
}

// Deleting: what is acknowledged, what is over the bound.
extension DiskRing {
    var diskBytes: Int { segments.reduce(0) { $0 + $1.bytes } }

    /// The newest segment stays, active or not: its header is the evidence of the numbers in use.
    private var sealedCount: Int { max(segments.count - 1, 0) }

    /// Makes room for a new segment of a name.
    ///
    /// What goes when the new segment stands needs no room beside it: a segment of the same name, and a newest one in
    /// which nothing is left. For a moment the files exceed the bound by this segment.
    func makeRoom(for first: UInt64) {
        removeFinished()
        enforceLimit(adding: options.segmentBytes, for: first)
    }

    /// Drops the oldest segments until `bytes` more fit, those of a segment of the name `first`; the newest one stays.
    func enforceLimit(adding bytes: Int, for first: UInt64? = nil) {
        guard let limit = options.limit else { return }
        while sealedCount > 0, diskBytes + bytes - bytesReplaced(by: first) > limit {
            let count = liveCount(0)
            if count > 0 { noteLoss(.dropped, segments[0].first, through: segments[0].last) }
            counters.droppedByBound += count
            counters.segmentsDropped += 1
            remove(at: 0)
        }
        unlinkWhatIsDoomed()
    }

    private func bytesReplaced(by first: UInt64?) -> Int {
        guard let first, let newest = segments.last else { return 0 }
        return newest.first == first || isFinished(segments.count - 1) ? newest.bytes : 0
    }

    /// Deletes segments in which nothing is left to upload.
    func removeFinished() {
        var index = 0
        while index < sealedCount {
            if isFinished(index) { remove(at: index) } else { index += 1 }
        }
        unlinkWhatIsDoomed()
    }

    /// Nothing in it is left to upload, and nothing else needs it.
    private func isFinished(_ index: Int) -> Bool {
        let segment = segments[index]
        guard segment.last <= uploading.acknowledged || segment.tally.count == 0, !segment.holdsUnread else {
            return false
        }
        // A clear stays on disk as long as anything it may apply to, and a segment as long as what its name guards.
        if index > 0 { return !segment.holdsTombstone && !segments[index - 1].reachesBeyond }
        return !segment.holdsTombstone || !directoryState.isBesideOthers
    }

    func remove(at index: Int) {
        let segment = forget(at: index)
        doomed.append(
            DoomedSegment(name: segment.name, isLast: segment.holdsTombstone || segments.isEmpty))
        pruneTombstones()
    }

    /// This process has no more to do with it; its file stays.
    @discardableResult
    func forget(at index: Int) -> Segment {
        let segment = segments.remove(at: index)
        if cursor?.segment == segment.first { cursor = nil }
        return segment
    }

    /// Forgets clears of which everything they apply to is gone.
    func pruneTombstones() {
        // What is not durably unlinked may come back with a power cut, and would need its clear.
        guard !tombstones.isEmpty, doomed.isEmpty, !hasUnsynchronisedUnlinks else { return }
        let oldest = segments.first?.first ?? uploading.next
        let saved = tombstones.count - unsavedTombstones
        // The unsaved ones still have to reach the disk.
        let kept = tombstones[..<saved].filter { $0.below > oldest }
        tombstones = kept + tombstones[saved...]
    }

    private func unlinkWhatIsDoomed() {
        do throws(CacheFileError) {
            try unlinkDoomed(all: false)
        } catch {
            // They stay listed: tried again with the next deletion, and before a disk is trusted again.
            count(error)
        }
    }

    /// In order, so that no clear vanishes before what it cleared, nor the highest numbers of a stream before lower
    /// ones. `all`: also makes it durable.
    func unlinkDoomed(all: Bool) throws(CacheFileError) {
        guard lock != nil else { return }
        while let next = doomed.first {
            if next.isLast { try synchronizeUnlinks() }
            do throws(CacheFileError) {
                try files.unlink("\(directory)/\(next.name)")
            } catch {
                guard error.number == noEntryErrno else { throw error }
            }
            hasUnsynchronisedUnlinks = true
            doomed.removeFirst()
        }
        if all { try synchronizeUnlinks() }
    }

    private func synchronizeUnlinks() throws(CacheFileError) {
        guard hasUnsynchronisedUnlinks else { return }
        try files.synchronizeNames(in: directory)
        counters.syncs += 1
        hasUnsynchronisedUnlinks = false
    }
}
