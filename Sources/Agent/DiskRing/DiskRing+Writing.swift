package import TrackModel

// The way to the disk, away from it, and back.
extension DiskRing {
    /// The numbering of new records.
    var numbering: Numbering {
        get { waiting ?? uploading }
        set { if waiting == nil { uploading = newValue } else { waiting = newValue } }
    }

    /// Writes what is pending into the active segment, beginning new ones as they fill.
    func writePending(now: MonotonicTime) {
        do throws(CacheFileError) {
            try writePendingOrThrow()
        } catch {
            // A file that could not be begun is not tried again at once: a full disk stays full.
            switch error.operation {
            case .write, .synchronizeData: fallBackAndRetry(error, now: now)
            default: fallBack(error, now: now)
            }
        }
    }

    private func writePendingOrThrow() throws(CacheFileError) {
        while writtenCount < pending.count {
            let record = pending[writtenCount]
            if let writer, writer.fits(record) {
                counters.bytesWritten += UInt64(try writer.append(record))
                writtenCount += 1
            } else {
                try rotate(first: record.sequence)
            }
        }
    }

    /// Seals the active segment, durable, and begins the next.
    func rotate(first: UInt64) throws(CacheFileError) {
        if let writer {
            if writtenCount > 0 {
                try writer.synchronize()
                commitWritten()
            }
            let names = writer.entities
            self.writer = nil
            try beginSegment(first: first, entities: names)
        } else {
            try beginSegment(first: first, entities: [])
        }
    }

    /// Begins the next segment without another look at the active one: what is not durable yet goes there.
    func leaveActiveSegment() throws(CacheFileError) {
        let names = writer?.entities ?? []
        segments[segments.count - 1].hasLeftovers = true
        writer = nil
        writtenCount = 0
        try beginSegment(first: pending.first?.sequence ?? uploading.next, entities: names)
        try writePendingOrThrow()
    }

    /// Makes a new active segment. One of the same name is replaced: it holds nothing that is not in memory.
    func beginSegment(first: UInt64, entities: [String]) throws(CacheFileError) {
        // The entities that records wait for come first: what was in use long ago need not be carried along.
        var names: [String] = []
        for name in (0..<min(pending.count, 32)).map({ pending[$0].entity }) + entities.suffix(32)
        where !names.contains(where: { ExactName($0) == ExactName(name) }) {
            names.append(name)
        }
        let header = SegmentHeader(
            stream: uploading.stream, firstSequence: first, entities: SegmentHeader.fitting(names))
        let name = SegmentName.of(first)
        let writer: SegmentWriter
        do throws(CacheFileError) {
            writer = try SegmentWriter(
                files: files, directory: directory, header: header, size: options.segmentBytes,
                makeRoom: { makeRoom(for: first) })
        } catch {
            // It may stand there all the same, and must not be found when the stream has changed.
            if !segments.contains(where: { $0.first == first }), !doomed.contains(where: { $0.name == name }) {
                doomed.append(DoomedSegment(name: name, isLast: false))
            }
            throw error
        }
        doomed.removeAll { $0.name == name }
        counters.segmentsCreated += 1
        counters.syncs += 2
        counters.bytesWritten += UInt64(options.segmentBytes)
        // The directory was synchronised on the way.
        hasUnsynchronisedUnlinks = false
        if let same = segments.firstIndex(where: { $0.first == first }) {
            if segments[same].holdsTombstone { unsavedTombstones = tombstones.count }
            if cursor?.segment == first { cursor = nil }
            segments.remove(at: same)
        }
        pruneTombstones()
        highestSeen = max(highestSeen, first)
        segments.append(
            Segment(first: first, last: first - 1, end: writer.offset, bytes: options.segmentBytes))
        self.writer = writer
        writtenCount = 0
        // The one before was kept for its name alone, perhaps.
        removeFinished()
    }

    /// Everything written is durable now.
    func commitWritten() {
        counters.syncs += 1
        let active = segments.count - 1
        for index in 0..<writtenCount {
            let record = pending[index]
            segments[active].last = record.sequence
            segments[active].tally.add(
                entity: record.entity, sequence: record.sequence, time: record.time, bytes: record.payload.count)
            // Kept up, because reading the segment anew for every append would cost more than appending.
            if partialTally?.segment == segments[active].first {
                partialTally?.counted += 1
                partialTally?.tally.add(
                    entity: record.entity, sequence: record.sequence, time: record.time, bytes: record.payload.count)
            }
        }
        pending.removeFirst(writtenCount)
        writtenCount = 0
        segments[active].end = writer?.offset ?? segments[active].end
        highestSeen = max(highestSeen, segments[active].last)
    }

    // MARK: Trouble

    func count(_ error: CacheFileError) {
        counters.diskErrors[error.number, default: 0] += 1
    }

    /// Goes on in memory. What was not durable is in `pending` already.
    ///
    /// The public call that met the error trims memory at its end: by then the disk may have taken the records, or the
    /// call may have cleared some of them.
    func fallBack(_ error: CacheFileError, now: MonotonicTime) {
        count(error)
        if writer != nil { segments[segments.count - 1].hasLeftovers = true }
        writer = nil
        writtenCount = 0
        if case .memory = state {
            retryInterval = min(retryInterval * 2, Self.retryIntervals.upperBound)
        } else {
            counters.memoryFallbacks += 1
            retryInterval = Self.retryIntervals.lowerBound
        }
        state = .memory(error)
        nextAttempt = now + retryInterval
    }

    /// The same, but a fresh segment may lie on sound blocks: tried once, at once.
    func fallBackAndRetry(_ error: CacheFileError, now: MonotonicTime) {
        fallBack(error, now: now)
        returnToDisk(now: now)
    }

    /// Keeps memory within its bound while the disk does not work.
    func trimMemory() {
        guard case .memory = state else { return }
        while pending.cost > options.memoryLimit, !pending.isEmpty {
            noteLossInMemory(.damaged, pending[0].sequence, through: pending[0].sequence)
            pending.removeFirst()
            counters.droppedInMemory += 1
        }
    }

    /// Takes the records in memory back to the disk, in order. True when the cache is on disk afterwards.
    @discardableResult
    package func tryReturnToDisk(now: MonotonicTime) -> Bool {
        defer { trimMemory() }
        return returnToDisk(now: now)
    }

    @discardableResult
    private func returnToDisk(now: MonotonicTime) -> Bool {
        guard case .memory = state else { return state == .disk }
        do throws(CacheFileError) {
            try reachDisk(now: now)
        } catch {
            fallBack(error, now: now)
            return false
        }
        counters.memoryReturns += 1
        return true
    }

    /// From memory to disk: the first opening, and every return. Afterwards everything is durable, except what stands in
    /// `directoryState.unsecured`.
    func reachDisk(now: MonotonicTime) throws(CacheFileError) {
        if !directoryState.isKnown { try readDirectory() }
        do throws(CacheFileError) {
            try takeLock()
            secureNewest()
            if !directoryState.isKnown {
                try beginBeside()
            } else if waiting == nil {
                try resumeStream()
            } else {
                try joinStream()
            }
        } catch {
            // A range that is not on disk may have been used before, without a trace. A stream nobody has seen cannot.
            leaveDrainedStream()
            throw error
        }
        try writePendingOrThrow()
        try saveTombstones()
        state = .disk
        retryInterval = Self.retryIntervals.lowerBound
        nextAttempt = now + retryInterval
        cutTails()
        removeFinished()
        openLedger(now: now)
    }

    /// The records in memory join the stream on the disk. Nothing of their own stream is unanswered, so they may get other
    /// numbers: those of a fresh range, which is durable before a number of it is given out.
    private func joinStream() throws(CacheFileError) {
        let start = SequenceRange.start(after: max(highestSeen, uploading.next - 1))
        if directoryState.mustNameStream { nameStreamInUse(rangeStart: uploading.start) }
        try beginSegment(first: start, entities: segments.last?.tally.entities?.map(\.entity) ?? [])
        assert(waiting?.hasUnansweredRecords != true)
        let own = waiting ?? uploading
        uploading.start = start
        uploading.next = renumberMemory(next: own.next, of: own.stream, to: uploading.stream, from: start)
        waiting = nil
    }

    /// The records in memory are of the stream on the disk, or of one that follows it.
    func resumeStream() throws(CacheFileError) {
        try unlinkDoomed(all: true)
        if directoryState.mustNameStream { nameStreamInUse(rangeStart: uploading.start) }
        try beginSegment(first: pending.first?.sequence ?? uploading.next, entities: [])
    }
}

/// A record that is not yet safe on disk.
struct PendingRecord: Equatable {
    var sequence: UInt64
    let entity: String
    let time: Int64
    let payload: [UInt8]

    /// What it costs in memory, roughly.
    var cost: Int { payload.count + entity.utf8.count + 112 }
}

/// Records in the order of their sequences, taken from the front.
struct RecordQueue {
    private var storage: [PendingRecord] = []
    private var head = 0
    private(set) var cost = 0

    var count: Int { storage.count - head }
    var isEmpty: Bool { head == storage.count }
    var first: PendingRecord? { isEmpty ? nil : storage[head] }

    subscript(index: Int) -> PendingRecord { storage[head + index] }

    mutating func append(_ record: PendingRecord) {
        storage.append(record)
        cost += record.cost
    }

    mutating func removeFirst(_ number: Int = 1) {
        for index in 0..<min(number, count) { cost -= storage[head + index].cost }
        head += min(number, count)
        if isEmpty {
            // A burst's memory is not kept for ever.
            storage.removeAll(keepingCapacity: storage.capacity <= 256)
            head = 0
        } else if head >= 64, head * 4 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }

    /// Index of the first record after a sequence.
    func index(after sequence: UInt64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes what the test accepts; returns how many.
    mutating func removeAll(where test: (PendingRecord) -> Bool) -> UInt64 {
        let kept = storage[head...].filter { !test($0) }
        let removed = UInt64(count - kept.count)
        storage = Array(kept)
        head = 0
        cost = storage.reduce(0) { $0 + $1.cost }
        return removed
    }

    /// Gives the records after a sequence other numbers, as far apart as before: `start` instead of `base`, which is at most the first
    /// of them.
    mutating func renumber(after sequence: UInt64, from base: UInt64, to start: UInt64) {
        for index in (head + self.index(after: sequence))..<storage.count {
            storage[index].sequence = start + (storage[index].sequence - base)
        }
    }
}
