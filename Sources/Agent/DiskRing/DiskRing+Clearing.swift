package import TrackModel

extension DiskRing {
    /// Removes what is waiting, of these entities (nil: all) and with `from <= time <= through` (nil: open). Not
    /// undoable.
    ///
    /// Durable on return when the result says so. What was handed out already may reach the server all the same. `cause`: as what
    /// the records count. A process after this one takes them for cleared.
    /// - Throws: `.tooManyClears`; clearing everything never throws.
    package func clear(
        entities: [String]?, from: Int64?, through: Int64?, as cause: CacheLoss = .cleared, now: MonotonicTime
    ) throws(DiskRingError) -> ClearedCount {
        let lower = from ?? .min
        let upper = through ?? .max
        guard lower <= upper, state != .closed else { return ClearedCount(records: 0, isDurable: true) }
        synchronizeWritten(now: now)
        defer {
            trimMemory()
            leaveIfDrained(now: now)
        }
        // What a disk that has not answered yet holds is older, whatever its numbers.
        let below = directoryState.isKnown ? uploading.next : SequenceRange.plausible.upperBound
        let clear = Tombstone(
            below: below, entities: entities.map { Set($0.map { ExactName($0) }) }, times: lower...upper,
            cause: cause)
        let pieces = clear.pieces
        guard clear.clearsEverything || tombstones.count + pieces.count <= Self.maximumTombstones else {
            throw DiskRingError(
                .tooManyClears,
                "\(tombstones.count) clears wait for upload to pass them, the limit is \(Self.maximumTombstones): "
                    + "clear everything, or try again after uploading")
        }
        var removed: UInt64 = 0
        // What is deleted, but not durably, could come back without the clear. So could what an earlier clear took that
        // stands in a segment which is not secured, and what stands in a file that nobody can read.
        var mayHaveMissed =
            !directoryState.isKnown || !isSecured || directoryState.isBesideOthers
            || segments.contains(where: \.hasLeftovers) || !doomed.isEmpty || hasUnsynchronisedUnlinks
        for index in segments.indices where segments[index].last > uploading.acknowledged {
            guard let matched = clearSegment(index, clear) else {
                lookAgain(at: index, for: cause)
                mayHaveMissed = true
                continue
            }
            removed += matched
        }
        var ends: (first: UInt64, last: UInt64)?
        removed += pending.removeAll { record in
            guard clear.covers(entity: record.entity, time: record.time) else { return false }
            ends = (ends?.first ?? record.sequence, record.sequence)
            return true
        }
        if let ends { noteLossInMemory(cause, ends.first, through: ends.last) }
        if removed == 0, !mayHaveMissed { return ClearedCount(records: 0, isDurable: true) }
        count(removed, as: cause)
        if clear.clearsEverything {
            tombstones = pieces
            unsavedTombstones = pieces.count
        } else {
            tombstones += pieces
            unsavedTombstones += pieces.count
        }
        partialTally = nil
        cursor = nil
        guard writer != nil else {
            removeFinished()
            leaveDrainedStream()
            return ClearedCount(records: removed, isDurable: false)
        }
        do throws(CacheFileError) {
            try saveTombstones()
        } catch {
            fallBackAndRetry(error, now: now)
        }
        removeFinished()
        return ClearedCount(records: removed, isDurable: unsavedTombstones == 0)
    }

    /// Clears that were asked for before the disk answered, applied to what it holds.
    func applyEarlierClears(_ earlier: [Tombstone]) {
        guard !segments.isEmpty else { return }
        for clear in earlier {
            let clear = Tombstone(
                below: highestSeen + 1, entities: clear.entities, times: clear.times, cause: clear.cause)
            for index in segments.indices where segments[index].last > uploading.acknowledged {
                guard let matched = clearSegment(index, clear) else {
                    lookAgain(at: index, for: clear.cause)
                    continue
                }
                count(matched, as: clear.cause)
            }
            tombstones.append(clear)
            unsavedTombstones += 1
        }
    }

    /// Writes the clears that are on no disk yet, durably, with everything before them.
    func saveTombstones() throws(CacheFileError) {
        while unsavedTombstones > 0 || writtenCount > 0 {
            var next = tombstones.count - unsavedTombstones
            while next < tombstones.count {
                guard let writer else { return }
                let body = tombstones[next].encoded()
                guard writer.fits(bytes: RecordFormat.headerBytes + body.count) else { break }
                counters.bytesWritten += UInt64(
                    try writer.append(tombstone: body, sequence: tombstones[next].below))
                segments[segments.count - 1].holdsTombstone = true
                next += 1
            }
            try writer?.synchronize()
            commitWritten()
            unsavedTombstones = tombstones.count - next
            guard unsavedTombstones > 0 else { return }
            // The next segment needs a name of its own: a gap in the numbers is allowed, a segment lost is not.
            if segments.last?.first == uploading.next { uploading.next += 1 }
            try rotate(first: uploading.next)
        }
    }

    /// The disk refused to show what a clear takes from a segment.
    private func lookAgain(at index: Int, for cause: CacheLoss) {
        segments[index].missedClear =
            segments[index].missedClear ?? MissedClear(cause: cause, acknowledged: uploading.acknowledged)
        noteLoss(cause, segments[index].first, through: segments[index].last)
    }

    /// Counts anew, once the disk answers, what a clear could not look at; until then more is the safer guess.
    func refreshTally(_ index: Int) {
        guard let missed = segments[index].missedClear else { return }
        var kept = SegmentTally()
        var taken: UInt64 = 0
        let isRead = scan(segments[index]) { record, entity, _ in
            kept.add(entity: entity, sequence: record.sequence, time: record.time, bytes: record.bodyBytes)
        } cleared: { record in
            if record.sequence > missed.acknowledged { taken += 1 }
        }
        guard isRead else { return }
        // Earlier clears took some of these: they are not in the tally.
        let before = segments[index].tally.count
        segments[index].tally = kept
        segments[index].missedClear = nil
        count(min(taken, before - min(kept.count, before)), as: missed.cause)
    }

    /// Counts what a clear has taken.
    private func count(_ records: UInt64, as cause: CacheLoss) {
        if cause == .wrongDate { counters.disproved += records } else { counters.cleared += records }
    }

    /// Counts what a clear takes from a segment and tallies the rest anew; nil when the segment cannot be read.
    private func clearSegment(_ index: Int, _ clear: Tombstone) -> UInt64? {
        let segment = segments[index]
        if segment.tally.count == 0 { return 0 }
        if let entities = segment.tally.entities, !entities.contains(where: { clear.mayTouch($0) }) { return 0 }
        let acknowledged = uploading.acknowledged
        var kept = SegmentTally()
        var matched: UInt64 = 0
        var ends: (first: UInt64, last: UInt64)?
        let isRead = scan(segment) { record, entity, _ in
            if clear.covers(sequence: record.sequence, entity: entity, time: record.time) {
                guard record.sequence > acknowledged else { return }
                matched += 1
                ends = (ends?.first ?? record.sequence, record.sequence)
            } else {
                kept.add(
                    entity: entity, sequence: record.sequence, time: record.time,
                    bytes: record.bodyBytes)
            }
        }
        guard isRead else { return nil }
        segments[index].tally = kept
        if let ends { noteLoss(clear.cause, ends.first, through: ends.last) }
        return matched
    }
}

extension Tombstone {
    fileprivate func mayTouch(_ info: EntityCacheInfo) -> Bool {
        (entities?.contains(ExactName(info.entity)) ?? true) && info.firstTime <= times.upperBound
            && info.lastTime >= times.lowerBound
    }
}

/// One clear: every point before `below` that it names is gone.
struct Tombstone: Equatable {
    /// Names in one record, at most: 65,536 bytes of body hold them at any length.
    static let maximumNames = 500
    private static let everyEntity = UInt16.max

    let below: UInt64
    /// Nil: every entity.
    let entities: Set<ExactName>?
    let times: ClosedRange<Int64>
    /// As what the records count that it takes. Only the process that made it knows: on the disk it does not stand.
    let cause: CacheLoss

    /// Whether nothing before it can be left.
    var clearsEverything: Bool { entities == nil && times == Int64.min...Int64.max }

    func covers(entity: String, time: Int64) -> Bool {
        times.contains(time) && (entities?.contains(ExactName(entity)) ?? true)
    }

    func covers(sequence: UInt64, entity: String, time: Int64) -> Bool {
        sequence < below && covers(entity: entity, time: time)
    }

    /// The same, in pieces that each fit one record.
    var pieces: [Tombstone] {
        guard let entities, entities.count > Self.maximumNames else { return [self] }
        let names = entities.sorted()
        return stride(from: 0, to: names.count, by: Self.maximumNames).map { start in
            let part = names[start..<min(start + Self.maximumNames, names.count)]
            return Tombstone(below: below, entities: Set(part), times: times, cause: cause)
        }
    }

    /// The body of its record; `below` is the record's sequence. A piece, not more.
    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendInteger(UInt64(bitPattern: times.lowerBound))
        bytes.appendInteger(UInt64(bitPattern: times.upperBound))
        guard let entities else {
            bytes.appendInteger(Self.everyEntity)
            return bytes
        }
        bytes.appendInteger(UInt16(entities.count))
        for name in entities.sorted() {
            bytes.append(UInt8(name.text.utf8.count))
            bytes += name.text.utf8
        }
        return bytes
    }

    init(below: UInt64, entities: Set<ExactName>?, times: ClosedRange<Int64>, cause: CacheLoss = .cleared) {
        self.below = below
        self.entities = entities
        self.times = times
        self.cause = cause
    }

    init?(below: UInt64, decoding body: [UInt8]) {
        guard body.count >= 18 else { return nil }
        let from = Int64(bitPattern: body.integer(at: 0, as: UInt64.self))
        let through = Int64(bitPattern: body.integer(at: 8, as: UInt64.self))
        let count: UInt16 = body.integer(at: 16)
        guard from <= through else { return nil }
        guard count != Self.everyEntity else {
            self.init(below: below, entities: nil, times: from...through)
            return
        }
        var names: Set<ExactName> = []
        var offset = 18
        for _ in 0..<count {
            guard offset < body.count else { return nil }
            let end = offset + 1 + Int(body[offset])
            guard end <= body.count, let name = String(validating: body[(offset + 1)..<end], as: UTF8.self) else {
                return nil
            }
            names.insert(ExactName(name))
            offset = end
        }
        self.init(below: below, entities: names, times: from...through)
    }
}
