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

    /// What took most of these numbers; nil: this process has lost none of them.
    func cause(of missing: ClosedRange<UInt64>) -> CacheLoss? {
        let shares = parts.filter { $0.numbers.overlaps(missing) }.map { part in
            (part.cause, part.numbers.clamped(to: missing).count)
        }
        return shares.max { $0.1 < $1.1 }?.0
    }
}

extension TrackCache {
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

    /// What was lost in the present stream.
    private var knownLosses: KnownLosses {
        losses.flatMap { $0.stream == uploading.stream ? $0 : nil } ?? KnownLosses(stream: uploading.stream)
    }

    func noteLoss(_ cause: CacheLoss, _ first: UInt64, through last: UInt64) {
        guard first <= last else { return }
        var known = knownLosses
        known.note(cause, first...last)
        losses = known
    }

    /// The process before may have dropped what is missing before the oldest record.
    private var isNearlyFull: Bool {
        options.limit.map { diskBytes + 2 * options.segmentBytes > $0 } ?? false
    }
}
