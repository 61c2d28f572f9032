package import TrackModel

// Opening: one path, for the first start, after a power cut, and for a disk that appears late.
extension DiskRing {
    /// Reads the directory. What stands there is uploaded first, and what is in memory waits until the disk takes it.
    ///
    /// - Throws: also when what was read does not count yet.
    func readDirectory() throws(CacheFileError) {
        var reader = DirectoryReader(
            files: files, directory: directory, readsWhatItCan: directoryState.readsWhatItCan,
            segmentBytes: options.segmentBytes)
        let outcome = read(with: &reader)
        for error in reader.errors { count(error) }
        let found: RecoveredDirectory
        do throws(CacheFileError) {
            found = try outcome.get()
        } catch {
            directoryState.readingFailed(error.isHeldByAnother || error.operation == .join ? .waiting : .disk)
            throw error
        }
        let verdict = directoryState.readingEnded(found.sight)
        guard verdict != .tryAgain else { throw CacheFileError(.read, inputOutputErrno) }
        recovery = found.report
        ledgerGeneration = found.ledgerGeneration
        guard verdict == .adopt else {
            // Nothing of ours may bear a name that stands there.
            highestSeen = found.highestSeen
            return
        }
        adopt(found)
        if found.unreadFiles > 0 { directoryState.gaveSegmentUp() }
        guard lock != nil else { return }
        removeTemporaries(found.temporaries)
        secureNewest()
        // Before anything is written: on a full disk the next segment may need the room.
        cutTails()
    }

    private func read(with reader: inout DirectoryReader) -> Result<RecoveredDirectory, CacheFileError> {
        do throws(CacheFileError) {
            let names = try reader.list()
            try checkLock()
            // Two streams cannot wait for answers at the same time: first the one in memory.
            guard !uploading.hasUnansweredRecords || !names.contains(where: { SegmentName.sequence($0) != nil }) else {
                throw CacheFileError(.join, busyErrno)
            }
            return .success(try reader.read(names))
        } catch {
            return .failure(error)
        }
    }

    /// From here on what was found counts.
    private func adopt(_ found: RecoveredDirectory) {
        let own = uploading
        let earlierClears = tombstones
        highestSeen = found.highestSeen
        segments = found.segments
        tombstones = found.tombstones
        clearsFound = found.tombstones
        unsavedTombstones = 0
        if SequenceRange.start(after: highestSeen) > SequenceRange.plausible.upperBound - SequenceRange.size {
            // The stream's numbers have come to an end, and only crafted files do. They stay where they are, and another
            // stream begins, behind their names.
            recovery.foreignSegments += segments.count
            segments = []
            tombstones = []
            highestSeen = max(found.highestName, SequenceRange.size)
            uploading = Numbering(stream: newStream(), start: SequenceRange.start(after: highestSeen))
            waiting = own
        } else if highestSeen > 0 {
            uploading = Numbering(
                stream: found.stream ?? newStream(), start: SequenceRange.start(after: highestSeen))
            uploading.acknowledged = found.acknowledged
            waiting = own
        }
        applyEarlierClears(earlierClears)
        recovery.segments = segments.count
        recovery.records = segments.indices.reduce(0) { $0 + liveCount($1) }
        counters.unreadableRecords += found.unreadRecords
        counters.corruptRecords += recovery.corruptRecords
        counters.tornTails += UInt64(recovery.tornTails)
        counters.duplicateRecords += recovery.duplicateRecords
    }

    /// Begins the stream in memory on the disk, beside segments of which nobody could read one. They are left alone from
    /// then on, as those of any other stream.
    func beginBeside() throws(CacheFileError) {
        let start = SequenceRange.start(after: max(highestSeen, uploading.next - 1))
        nameStreamInUse(rangeStart: start)
        try beginSegment(first: start, entities: [])
        directoryState.beganBeside()
        // Nothing of this stream is unanswered, so its records may get other numbers.
        uploading.start = start
        uploading.next = renumberMemory(
            next: uploading.next, of: uploading.stream, to: uploading.stream, from: start)
        // They were about what is left alone now, and must not take what this segment will hold.
        tombstones = []
        unsavedTombstones = 0
    }

    // MARK: The lock

    /// Holds the lock on return.
    /// - Throws: `EWOULDBLOCK` of `.lock` when another process holds it.
    func takeLock() throws(CacheFileError) {
        guard lock == nil else { return }
        let taken = try DirectoryLock.take(in: directory, files)
        lock = taken
        do throws(CacheFileError) {
            try taken.sign(files)
        } catch {
            count(error)
        }
    }

    /// A read-only disk keeps nobody from reading; another process does.
    private func checkLock() throws(CacheFileError) {
        do throws(CacheFileError) {
            try takeLock()
        } catch {
            if error.isHeldByAnother { throw error }
            count(error)
        }
    }

    // MARK: After recovery

    /// What an interrupted beginning of a segment left.
    private func removeTemporaries(_ names: [String]) {
        for name in names where SegmentName.sequence(name, suffix: SegmentName.temporarySuffix) != nil {
            do throws(CacheFileError) {
                try files.unlink("\(directory)/\(name)")
            } catch {
                count(error)
            }
        }
    }

    /// A process that was killed leaves records that the kernel has and the disk may not: found is not durable yet.
    ///
    /// What that process could not synchronise the kernel may call clean without having written it, and synchronising
    /// would pass it over; so it is written again. What the disk refuses is tried again later: `maintain` and each return
    /// from memory do it. Until then these records are not durable, and uploading goes on: waiting for a block that is bad
    /// for good helps nobody.
    func secureNewest() {
        // A segment that is gone, or was given up, needs no securing.
        let refused = directoryState.unsecured.filter { first in
            guard let segment = segments.first(where: { $0.first == first }),
                !segment.holdsUnread || segment.tally.count > 0
            else { return false }
            do throws(CacheFileError) {
                try writeEndAgain(of: segment)
                return false
            } catch {
                count(error)
                return true
            }
        }
        directoryState.secured(except: refused)
    }

    private func writeEndAgain(of segment: Segment) throws(CacheFileError) {
        let file = try files.openFile("\(directory)/\(segment.name)", .readWrite)
        defer { files.close(file) }
        let start = max(0, segment.end - Self.maximumUnsynchronised)
        try files.writeFully(file, files.bytes(of: file, at: start, count: segment.end - start), at: start)
        try files.synchronizeFile(file, dataOnly: true)
        counters.syncs += 1
    }

    /// Another try, when it is due, while the disk takes new records.
    func secureWhenDue(now: MonotonicTime) {
        guard state == .disk, !isSecured, now >= nextAttempt else { return }
        secureNewest()
        retryInterval = min(retryInterval * 2, Self.retryIntervals.upperBound)
        nextAttempt = now + retryInterval
    }

    /// A segment that will not grow any more need not keep its preallocation: many short runs must not fill the bound.
    func cutTails() {
        for index in segments.indices.dropLast(writer == nil ? 0 : 1) {
            let segment = segments[index]
            // An ordinary full segment ends where the next record did not fit: not worth a call.
            let isWorthIt = segment.bytes - segment.end > RecordFormat.maximumBytes
            guard segment.isWhole, isWorthIt || segment.hasLeftovers else { continue }
            do throws(CacheFileError) {
                let file = try files.openFile("\(directory)/\(segment.name)", .readWrite)
                defer { files.close(file) }
                try files.truncate(file, to: segment.end)
                // Else a power cut brings back what was cut, or only its weight.
                try files.synchronizeFile(file, dataOnly: false)
                counters.syncs += 1
                segments[index].hasLeftovers = false
                segments[index].bytes = segment.end
            } catch {
                count(error)
            }
        }
    }
}

extension DiskRing {
    /// Another computer may use the stream of this cache too, because the disk is a copy: new records get a fresh stream as soon as
    /// nothing of this one waits.
    ///
    /// What waits keeps its stream, because the other computer may have the same records, and a server knows them again by stream
    /// and sequence. Until all of it is acknowledged new records go on in the old stream: what is on a disk is of one stream, and
    /// in memory alone they would be lost with the power. Only this process remembers the wish.
    package func leaveStream(now: MonotonicTime) {
        isLeaving = true
        leaveIfDrained(now: now)
    }

    /// The last act of a call that may have ended what waits.
    func leaveIfDrained(now: MonotonicTime) {
        guard isLeaving, state == .disk, waiting == nil, directoryState.isKnown, pending.isEmpty, durableCount == 0
        else {
            return
        }
        isLeaving = false
        // Its segments take no names of the files before, of which a power cut may bring some back.
        waiting = Numbering(
            stream: newStream(), start: SequenceRange.start(after: max(highestSeen, uploading.next - 1)))
        writer = nil
        writtenCount = 0
        leaveDrainedStream()
        do throws(CacheFileError) {
            try resumeStream()
        } catch {
            return fallBack(error, now: now)
        }
        writeLedger(now: now, isDurable: false)
    }
}
