package import TrackModel

/// Where reading goes on without searching.
struct ReadCursor {
    let scanner: SegmentScanner
    /// First sequence of the segment the scanner has open.
    let segment: UInt64
    /// Everything up to here is behind the scanner.
    var sequence: UInt64
}

/// The tally of the one segment that is acknowledged in part.
struct PartialTally {
    let segment: UInt64
    let acknowledged: UInt64
    /// Points of the segment, acknowledged or not, when it was taken.
    var counted: UInt64
    var tally: SegmentTally
}

extension DiskRing {
    /// The next records after a sequence (and after what is acknowledged): one entity, consecutive, in order.
    ///
    /// Only what is durable is handed out, or what is in memory because the disk does not work. Nil when there is
    /// nothing, or while a segment or a directory that failed to read waits for its next try. At least one record,
    /// whatever `maximumBytes` of payload says; `maximumCount` under 1 counts as 1. `isForServer` false: they are read for
    /// the vehicle's own use, and nobody will acknowledge them for that. `includesAcknowledged`: also what is acknowledged
    /// and still stands on the disk.
    package func read(
        after: UInt64, maximumCount: Int, maximumBytes: Int, isForServer: Bool = true,
        includesAcknowledged: Bool = false, now: MonotonicTime
    ) -> CacheBatch? {
        guard state != .closed, now >= nextRead else { return nil }
        // A disk that does not answer yet may hold what is older.
        guard directoryState.letsMemoryGo else { return nil }
        var run = Run(maximumCount: max(maximumCount, 1), maximumBytes: maximumBytes)
        let position = includesAcknowledged ? after : max(after, uploading.acknowledged)
        let stream = uploading.stream
        readSegments(after: position, into: &run, now: now)
        if !run.isComplete, !run.isFull, writtenCount > 0, now >= nextRead {
            // What is not durable yet belongs to the batch.
            sync(now: now)
            readSegments(after: run.records.last?.sequence ?? position, into: &run, now: now)
        }
        // What could not be read may have been the last of its stream: positions are another's now.
        guard uploading.stream == stream else { return nil }
        if !run.isComplete, !run.isFull, writer == nil, waiting == nil, now >= nextRead {
            for index in pending.index(after: run.records.last?.sequence ?? position)..<pending.count {
                let record = pending[index]
                guard
                    run.take(sequence: record.sequence, time: record.time, entity: record.entity, { record.payload })
                else { break }
            }
        }
        guard let first = run.records.first, let last = run.records.last else { return nil }
        if isForServer {
            uploading.handedOut = max(uploading.handedOut, last.sequence)
            uploading.awaited = max(uploading.awaited, last.sequence)
        }
        return CacheBatch(
            stream: uploading.stream, entity: run.entity, firstSequence: first.sequence, records: run.records)
    }

    /// A sequence to read after for someone who wants the newest records alone: so many follow, or all that there are. They
    /// may be some more, as many as a segment holds. Sequences have gaps, so subtracting does not find it.
    package func position(beforeNewest count: UInt64) -> UInt64 {
        var found = UInt64(pending.count)
        for index in segments.indices.reversed() {
            found += liveCount(index)
            if found >= count { return segments[index].first - 1 }
        }
        return 0
    }

    /// Whether `read` says nothing because of a disk that does not answer: there may be more, ask again later.
    package func isReadPostponed(now: MonotonicTime) -> Bool {
        guard state != .closed else { return false }
        return now < nextRead || !directoryState.letsMemoryGo
    }

    private func readSegments(after: UInt64, into run: inout Run, now: MonotonicTime) {
        var position = after
        while !run.isComplete, let index = segmentIndex(after: position) {
            let segment = segments[index]
            guard segment.last >= segment.first else {
                // Just begun: there is nothing to read, and nothing that a disk error could cost.
                position = max(position, segment.last)
                continue
            }
            do throws(CacheFileError) {
                let scanner = try openCursor(at: index, after: position)
                while let record = try scanner.next() {
                    guard record.kind == .point, record.sequence > position else { continue }
                    guard let entity = scanner.entity(of: record) else { continue }
                    let isCleared = tombstones.contains {
                        $0.covers(sequence: record.sequence, entity: entity, time: record.time)
                    }
                    if isCleared { continue }
                    guard
                        run.take(
                            sequence: record.sequence, time: record.time, entity: entity, { scanner.body(of: record) })
                    else {
                        scanner.rewind(to: record)
                        run.isComplete = true
                        break
                    }
                    if run.isFull { break }
                }
                segments[index].readFailures = 0
                if run.isComplete || run.isFull {
                    cursor?.sequence = run.records.last?.sequence ?? position
                    return
                }
                noteDamage(scanner.damage, at: index)
                position = max(position, segment.last)
                // In the active segment reading goes on where it stopped, in others never again.
                if index == segments.count - 1 { cursor?.sequence = position } else { cursor = nil }
            } catch {
                // With one given up, the next one's turn has come; nothing may be handed out before it.
                guard isGivenUp(error, at: index, now: now) else { return }
            }
        }
    }

    /// The first segment that may hold a record after a sequence.
    private func segmentIndex(after sequence: UInt64) -> Int? {
        var low = 0
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].last <= sequence { low = middle + 1 } else { high = middle }
        }
        return low < segments.count ? low : nil
    }

    /// The scanner stands before the next record after `position`, or before the segment's first.
    private func openCursor(at index: Int, after position: UInt64) throws(CacheFileError) -> SegmentScanner {
        let segment = segments[index]
        if let cursor, cursor.segment == segment.first, cursor.sequence <= position {
            cursor.scanner.extend(to: segment.end, last: segment.last)
            return cursor.scanner
        }
        let scanner = cursor?.scanner ?? SegmentScanner(files: files)
        cursor = nil
        try open(segment, in: scanner)
        cursor = ReadCursor(scanner: scanner, segment: segment.first, sequence: 0)
        return scanner
    }

    /// At the first record of a segment of ours.
    func open(_ segment: Segment, in scanner: SegmentScanner) throws(CacheFileError) {
        let header = try scanner.open(
            "\(directory)/\(segment.name)", stream: uploading.stream, sequences: segment.first..<(segment.last + 1),
            end: segment.end)
        guard header?.stream == uploading.stream else { throw CacheFileError(.read, inputOutputErrno) }
    }

    /// Damage that was not there when the segment was read before.
    private func noteDamage(_ damage: SegmentScanner.Damage, at index: Int) {
        let records = damage.records + (damage.hasTornTail ? 1 : 0)
        guard records > segments[index].damaged else { return }
        counters.corruptRecords += records - segments[index].damaged
        segments[index].damaged = records
    }

    /// A disk that comes back after a while must not have cost a segment: only the third failure gives it up.
    private func isGivenUp(_ error: CacheFileError, at index: Int, now: MonotonicTime) -> Bool {
        count(error)
        cursor = nil
        segments[index].readFailures += 1
        let isGone = error.operation == .open && error.number == noEntryErrno
        guard segments[index].readFailures >= 3 || isGone else {
            nextRead = now + (segments[index].readFailures == 1 ? 1000 : 10_000)
            return false
        }
        let first = segments[index].first
        counters.unreadableRecords += liveCount(index)
        noteLoss(.damaged, first, through: segments[index].last)
        directoryState.gaveSegmentUp()
        segments[index].giveUp()
        if writer != nil, index == segments.count - 1 {
            // Appending behind what cannot be read would hide it as well.
            do throws(CacheFileError) {
                try leaveActiveSegment()
            } catch {
                fallBack(error, now: now)
                trimMemory()
            }
        }
        if isGone { segments.removeAll { $0.first == first } }
        leaveDrainedStream()
        return true
    }

    // MARK: What is live

    /// How many points of a segment are neither acknowledged nor cleared.
    func liveCount(_ index: Int) -> UInt64 {
        let segment = segments[index]
        let acknowledged = uploading.acknowledged
        if segment.isDense {
            if segment.last <= acknowledged { return 0 }
            return segment.last - max(acknowledged, segment.first - 1)
        }
        return liveTally(index).count
    }

    /// Points of a segment that are neither acknowledged nor cleared.
    func liveTally(_ index: Int) -> SegmentTally {
        refreshTally(index)
        let segment = segments[index]
        let acknowledged = uploading.acknowledged
        if segment.last <= acknowledged || segment.tally.count == 0 { return SegmentTally() }
        if segment.first > acknowledged { return segment.tally }
        if let known = partialTally, known.segment == segment.first, known.acknowledged == acknowledged,
            known.counted == segment.tally.count
        {
            return known.tally
        }
        var tally = SegmentTally()
        let isRead = scan(segment) { record, entity, _ in
            guard record.sequence > acknowledged else { return }
            tally.add(
                entity: entity, sequence: record.sequence, time: record.time,
                bytes: record.bodyBytes)
        }
        // Unreadable now: more is the safer guess, and what was left when it could be read is nearer than all of it.
        if !isRead {
            return partialTally?.segment == segment.first ? partialTally?.tally ?? segment.tally : segment.tally
        }
        partialTally = PartialTally(
            segment: segment.first, acknowledged: acknowledged, counted: segment.tally.count, tally: tally)
        return tally
    }

    /// Visits the durable points of a segment that are not cleared; false when the disk refuses.
    func scan(
        _ segment: Segment, _ visit: (SegmentScanner.Record, String, SegmentScanner) -> Void,
        cleared: (SegmentScanner.Record) -> Void = { _ in }
    ) -> Bool {
        let scanner = SegmentScanner(files: files)
        do throws(CacheFileError) {
            try open(segment, in: scanner)
            while let record = try scanner.next() {
                guard record.kind == .point, let entity = scanner.entity(of: record) else { continue }
                let isCleared = tombstones.contains {
                    $0.covers(sequence: record.sequence, entity: entity, time: record.time)
                }
                if isCleared { cleared(record) } else { visit(record, entity, scanner) }
            }
            return true
        } catch {
            count(error)
            return false
        }
    }

    /// What waits for upload, in the order of entity names (bytes of UTF-8). May read segments.
    package func info() -> [EntityCacheInfo] {
        var entities: [ExactName: EntityCacheInfo] = [:]
        func merge(_ info: EntityCacheInfo) {
            let name = ExactName(info.entity)
            if entities[name]?.merge(info) == nil { entities[name] = info }
        }
        for index in segments.indices {
            let tally = liveTally(index)
            if let known = tally.entities {
                known.forEach(merge)
            } else {
                let acknowledged = uploading.acknowledged
                _ = scan(segments[index]) { record, entity, _ in
                    guard record.sequence > acknowledged else { return }
                    merge(
                        EntityCacheInfo(
                            first: entity, time: record.time, bytes: record.bodyBytes))
                }
            }
        }
        for index in 0..<pending.count {
            let record = pending[index]
            merge(EntityCacheInfo(first: record.entity, time: record.time, bytes: record.payload.count))
        }
        return entities.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// A batch in the making.
private struct Run {
    let maximumCount: Int
    let maximumBytes: Int
    var entity = ""
    var records: [CacheRecord] = []
    var bytes = 0
    /// A record was met that does not belong to it.
    var isComplete = false

    init(maximumCount: Int, maximumBytes: Int) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    var isFull: Bool { records.count >= maximumCount }

    /// False when the record does not belong to the run.
    mutating func take(sequence: UInt64, time: Int64, entity: String, _ payload: () -> [UInt8]) -> Bool {
        if let last = records.last {
            guard records.count < maximumCount, sequence == last.sequence + 1,
                ExactName(entity) == ExactName(self.entity)
            else {
                return false
            }
        } else {
            self.entity = entity
        }
        let payload = payload()
        guard records.isEmpty || bytes + payload.count <= maximumBytes else { return false }
        bytes += payload.count
        records.append(CacheRecord(sequence: sequence, time: time, payload: payload))
        return true
    }
}
