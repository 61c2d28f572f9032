internal import TrackModel

// Opening and recovery: one path, for the first start, after a power cut, and for a disk that appears late.
extension TrackCache {
    private static let lockName = "lock"

    /// Reads the directory; its stream is the one to upload, and what is in memory waits until the disk takes it.
    func readDirectory() throws(CacheFileError) {
        let names: [String]
        let found: Recovered
        do throws(CacheFileError) {
            names = try listDirectory()
            try checkLock()
            let hasSegments = names.contains { SegmentName.sequence($0) != nil }
            // Two streams cannot wait for answers at the same time: first the one in memory.
            guard !hasSegments || !uploading.hasUnansweredRecords else { throw CacheFileError(.join, busyErrno) }
            found = try readAll(names)
            // With nothing told of what stands there, another stream would begin beside it, and what stands there would
            // never be uploaded: that is put off for long.
            let isBlind = found.stream == nil && hasMetDiskError
            guard !isBlind || failedReads >= Self.blindAttempts - 1 else {
                throw CacheFileError(.read, inputOutputErrno)
            }
        } catch {
            let isWaiting = error.operation == .join || (error.operation == .lock && error.number == wouldBlockErrno)
            if !isWaiting { failedReads += 1 }
            throw error
        }
        hasRead = true
        // Nothing could be told of what stands there: read again before anything is written beside it.
        mustReadAgain = found.stream == nil && hasMetDiskError
        adopt(found, names)
        guard lockFile != nil else { return }
        removeTemporaries(names)
        secureNewest()
        // Before anything is written: on a full disk the next segment may need the room.
        cutTails()
    }

    // MARK: The directory and its lock

    private func listDirectory() throws(CacheFileError) -> [String] {
        do throws(CacheFileError) {
            return try files.list(directory)
        } catch {
            guard error.number == noEntryErrno else { throw error }
            try files.makeDirectory(directory)
            let parent = directory.split(separator: "/").dropLast().joined(separator: "/")
            try files.synchronizeNames(in: "/" + parent)
            return try files.list(directory)
        }
    }

    /// Holds the lock on return; throws `EWOULDBLOCK` when another process does.
    func takeLock() throws(CacheFileError) {
        guard lockFile == nil else { return }
        let path = "\(directory)/\(Self.lockName)"
        let file = try files.openFile(path, .readWriteOrCreate)
        do throws(CacheFileError) {
            guard try files.lock(file) else { throw CacheFileError(.lock, wouldBlockErrno) }
            // For people, and for the message of the process that comes second.
            try files.writeFully(file, Array("\(processIdentifier)\n".utf8), at: 0)
            try files.truncate(file, to: "\(processIdentifier)\n".utf8.count)
        } catch {
            guard error.operation == .lock else {
                count(error)
                lockFile = file
                return
            }
            files.close(file)
            throw error
        }
        lockFile = file
    }

    /// A read-only disk keeps nobody from reading; another process does.
    private func checkLock() throws(CacheFileError) {
        do throws(CacheFileError) {
            try takeLock()
        } catch {
            if error.operation == .lock, error.number == wouldBlockErrno { throw error }
            count(error)
        }
    }

    /// What the holder wrote into the lock file: a process number, nil when there is none to be read.
    var lockHolder: Int? {
        guard let text = contents(of: Self.lockName, maximumBytes: 32) else { return nil }
        return Int(String(decoding: text.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }

    private func contents(of name: String, maximumBytes: Int) -> [UInt8]? {
        do throws(CacheFileError) {
            let file = try files.openFile("\(directory)/\(name)", .readOnly)
            defer { files.close(file) }
            return try bytes(of: file, in: 0..<maximumBytes)
        } catch {
            if error.number != noEntryErrno { count(error) }
            return nil
        }
    }

    // MARK: Recovery

    private struct Recovered {
        var stream: StreamID?
        var segments: [Segment] = []
        var tombstones: [Tombstone] = []
        var acknowledged: UInt64 = 0
        var highestSeen: UInt64 = 0
        /// Highest first sequence that a file name tells, of whatever stream.
        var highestName: UInt64 = 0
    }

    private func adopt(_ found: Recovered, _ names: [String]) {
        let own = uploading
        let earlierClears = tombstones
        highestSeen = found.highestSeen
        segments = found.segments
        tombstones = found.tombstones
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
        counters.corruptRecords += recovery.corruptRecords
        counters.tornTails += UInt64(recovery.tornTails)
        counters.duplicateRecords += recovery.duplicateRecords
    }

    /// Reads everything; changes nothing on disk.
    ///
    /// A disk error may pass: giving a segment up at once would cost what is in it, because uploading goes past it. So
    /// the first attempts throw; the last takes what can be read.
    private func readAll(_ names: [String]) throws(CacheFileError) -> Recovered {
        var found = Recovered()
        recovery = TrackCacheRecovery()
        hasMetDiskError = false
        let known: Set<String> = [Self.lockName, Ledger.name]
        let firsts = names.compactMap { SegmentName.sequence($0) }.sorted()
        recovery.foreignFiles = names.count { name in
            !known.contains(name) && SegmentName.sequence(name) == nil
                && SegmentName.sequence(name, suffix: SegmentName.temporarySuffix) == nil
        }
        let ledger = contents(of: Ledger.name, maximumBytes: Ledger.fileBytes).flatMap(Ledger.init(decoding:))
        ledgerGeneration = ledger?.generation ?? 0
        let scanner = SegmentScanner(files: files)
        var headers: [SegmentHeader] = []
        for first in firsts {
            if let header = try header(of: first, scanner) { headers.append(header) }
        }
        found.stream = chooseStream(headers, ledger)
        let ours = headers.filter { $0.stream == found.stream }
        recovery.foreignSegments = headers.count - ours.count
        // A name is evidence even when what it names is unreadable.
        found.highestName = firsts.last { SequenceRange.believed.contains($0) } ?? 0
        found.highestSeen = found.highestName
        if let ledger, ledger.stream == found.stream {
            found.acknowledged = ledger.acknowledged
            found.highestSeen = max(found.highestSeen, ledger.acknowledged, ledger.rangeStart)
        }
        // Newest first, so that clears are known before what they cleared.
        var next = UInt64.max
        for header in ours.reversed() {
            // Every opening begins a range, so a segment's own name bounds what is in it. What a record or a clear says
            // beyond never counts: else it would depend on the segments that came later.
            let upper = min(next, SequenceRange.end(around: header.firstSequence))
            if let segment = try readSegment(header, header.firstSequence..<upper, scanner, &found) {
                found.segments.append(segment)
                found.highestSeen = max(found.highestSeen, segment.first, segment.last)
            }
            next = header.firstSequence
        }
        found.segments.reverse()
        return found
    }

    private func header(of first: UInt64, _ scanner: SegmentScanner) throws(CacheFileError) -> SegmentHeader? {
        do throws(CacheFileError) {
            let stream = uploading.stream
            let path = "\(directory)/\(SegmentName.of(first))"
            guard let header = try scanner.open(path, stream: stream, sequences: 0..<0, end: SegmentHeader.bytes),
                header.firstSequence == first
            else {
                recovery.damagedSegments += 1
                return nil
            }
            return header
        } catch {
            try giveUp(error)
            recovery.unreadableSegments += 1
            // A directory, a link or a pipe of that name is no file of ours, and will not become one.
            if error.number == inputOutputErrno { hasMetDiskError = true }
            return nil
        }
    }

    private func giveUp(_ error: CacheFileError) throws(CacheFileError) {
        guard failedReads >= Self.readAttempts - 1 else { throw error }
        count(error)
    }

    /// The stream that was written last. The ledger knows, unless it is older than what is there, or gone.
    ///
    /// Of a stream without segments it may not know the numbers in use: then a new stream begins, which is always safe.
    private func chooseStream(_ headers: [SegmentHeader], _ ledger: Ledger?) -> StreamID? {
        if let ledger, headers.contains(where: { $0.stream == ledger.stream }) {
            return ledger.stream
        }
        return headers.last?.stream
    }

    private func readSegment(
        _ header: SegmentHeader, _ sequences: Range<UInt64>, _ scanner: SegmentScanner, _ found: inout Recovered
    ) throws(CacheFileError) -> Segment? {
        var segment = Segment(
            first: header.firstSequence, last: header.firstSequence - 1, end: SegmentHeader.bytes, bytes: 0)
        do throws(CacheFileError) {
            let path = "\(directory)/\(segment.name)"
            segment.bytes = try size(of: path)
            let known = found.tombstones.count
            try tally(&segment, header, sequences, path, scanner, &found)
            if found.tombstones.count > known {
                // It holds clears that may apply to what stands before them in the same file.
                let end = segment.end
                segment.tally = SegmentTally()
                let counted = recovery
                try tally(&segment, header, sequences, path, scanner, &found)
                recovery = counted
                segment.end = max(end, segment.end)
            }
        } catch {
            // What was read before the error is kept; the file is left alone until all of it is acknowledged.
            try giveUp(error)
            recovery.unreadableSegments += 1
            segment.isWhole = false
        }
        let damage = scanner.damage
        segment.damaged = damage.records
        segment.reachesBeyond = damage.reachesBeyond
        recovery.corruptRecords += damage.records
        recovery.duplicateRecords += damage.duplicates
        if damage.hasTornTail {
            recovery.tornTails += 1
            // Inside a range the next segment's name tells what the tail of this one held.
            if sequences.upperBound % SequenceRange.size != 1 {
                recovery.corruptRecords += sequences.upperBound - 1 - segment.last
            }
        }
        return segment
    }

    /// One pass over a segment; clears it meets are added to `found`.
    private func tally(
        _ segment: inout Segment, _ header: SegmentHeader, _ sequences: Range<UInt64>, _ path: String,
        _ scanner: SegmentScanner, _ found: inout Recovered
    ) throws(CacheFileError) {
        guard try scanner.open(path, stream: header.stream, sequences: sequences) != nil else { return }
        var run: TallyRun?
        defer { if let run { segment.tally.add(run.info, first: run.first) } }
        while let record = try scanner.next() {
            segment.end = scanner.position
            switch record.kind {
            case .tombstone:
                segment.holdsTombstone = true
                // It is about this segment and those before, whatever number it bears.
                let below = min(record.sequence, sequences.upperBound)
                let clear = Tombstone(below: below, decoding: scanner.body(of: record))
                if let clear, !found.tombstones.contains(clear) { found.tombstones.append(clear) }
            case .point:
                segment.last = record.sequence
                if run?.entity == record.entity, found.tombstones.isEmpty {
                    run?.add(record)
                    continue
                }
                guard let name = scanner.entity(of: record) else {
                    recovery.corruptRecords += 1
                    continue
                }
                let isCleared = found.tombstones.contains {
                    $0.covers(sequence: record.sequence, entity: name, time: record.time)
                }
                if isCleared { continue }
                if let run { segment.tally.add(run.info, first: run.first) }
                run = TallyRun(record, of: name)
            case .entity:
                // The index of the run may mean another name from here on.
                if let ended = run { segment.tally.add(ended.info, first: ended.first) }
                run = nil
            case nil:
                break
            }
        }
        if scanner.damage.isIncomplete { segment.isWhole = false }
    }

    private func size(of path: String) throws(CacheFileError) -> Int {
        let file = try files.openFile(path, .readOnly)
        defer { files.close(file) }
        return try files.size(of: file)
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
    /// would pass it over; so it is written again. It can only stand at the end of the last two segments: a record that
    /// fails in one is written to one more, and the next attempt replaces that one.
    func secureNewest() {
        guard !hasSecured else { return }
        hasSecured = true
        for segment in segments.suffix(2) {
            do throws(CacheFileError) {
                let file = try files.openFile("\(directory)/\(segment.name)", .readWrite)
                defer { files.close(file) }
                let start = max(0, segment.end - Self.maximumUnsynchronised)
                try files.writeFully(file, bytes(of: file, in: start..<segment.end), at: start)
                try files.synchronizeFile(file, dataOnly: true)
                counters.syncs += 1
            } catch {
                // Tried again when the cache returns from memory; waiting for a block that is bad for good helps nobody.
                hasSecured = false
                count(error)
            }
        }
    }

    private func bytes(of file: CacheFile, in range: Range<Int>) throws(CacheFileError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 1)
        defer { unsafe buffer.deallocate() }
        let count = unsafe try files.readFully(file, into: buffer, at: range.lowerBound)
        return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<count]))
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
