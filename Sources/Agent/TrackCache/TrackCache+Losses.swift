internal import TrackModel

/// Why numbers before a record have no records any more.
package enum CacheLoss: Hashable, Sendable {
    /// The bound of the cache took them.
    case dropped
    /// A person cleared them.
    case cleared
    /// The disk lost them, or memory was full while the disk did not work.
    case damaged
}

/// What this process knows of the losses of one stream.
struct KnownLosses {
    let stream: StreamID
    /// The highest number that the bound took.
    var droppedThrough: UInt64 = 0
    /// A clear took records below this number.
    var clearedBelow: UInt64 = 0
}

extension TrackCache {
    /// Why there is nothing between two numbers of the stream. Nil: nothing is missing there, or nobody knows why.
    ///
    /// `after`: a number that was read before, or that the server has. `first`: of the record that is read next.
    package func loss(after: UInt64, before first: UInt64) -> CacheLoss? {
        let last = max(after, uploading.acknowledged)
        // Each range begins with an opening: the numbers at the end of the range before were never given out.
        guard first > last, first - last > 1, (first - 1) % SequenceRange.size != 0 else { return nil }
        let known = knownLosses
        if known.droppedThrough > last { return .dropped }
        if known.clearedBelow > last + 1 || tombstones.contains(where: { $0.below > last + 1 }) { return .cleared }
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

    func noteDropped(through last: UInt64) {
        var known = knownLosses
        known.droppedThrough = max(known.droppedThrough, last)
        losses = known
    }

    func noteCleared() {
        var known = knownLosses
        known.clearedBelow = max(known.clearedBelow, uploading.next)
        losses = known
    }

    /// The process before may have dropped what is missing before the oldest record.
    private var isNearlyFull: Bool {
        options.limit.map { diskBytes + 2 * options.segmentBytes > $0 } ?? false
    }
}
