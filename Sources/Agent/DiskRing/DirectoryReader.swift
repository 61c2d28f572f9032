internal import TrackModel

/// Reads a cache directory. Makes the directory when it is missing, and changes nothing else.
struct DirectoryReader {
    let files: any CacheFileSystem
    let directory: String
    /// Whether a file that the disk refuses is passed over. Otherwise the reading fails with it.
    let readsWhatItCan: Bool
    /// Of a new segment.
    let segmentBytes: Int
    /// Errors that did not end the reading, in order.
    private(set) var errors: [CacheFileError] = []
    private var found = RecoveredDirectory()
    /// Files that the disk refused, in whole or from a byte on, and the numbers that may stand there.
    private var unread: [(path: String, sequences: Range<UInt64>, from: Int)] = []
    /// The last point of the segment that was read last.
    private var newest: NewestPoint?

    init(files: any CacheFileSystem, directory: String, readsWhatItCan: Bool, segmentBytes: Int) {
        self.files = files
        self.directory = directory
        self.readsWhatItCan = readsWhatItCan
        self.segmentBytes = segmentBytes
    }

    /// The names in the directory.
    func list() throws(CacheFileError) -> [String] {
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

    /// Reads what these names stand for.
    mutating func read(_ names: [String]) throws(CacheFileError) -> RecoveredDirectory {
        found = RecoveredDirectory()
        unread = []
        let firsts = names.compactMap { SegmentName.sequence($0) }.sorted()
        sort(names)
        let ledger = readLedger()
        found.ledgerGeneration = ledger?.generation ?? 0
        let scanner = SegmentScanner(files: files)
        var headers: [SegmentHeader] = []
        for (index, first) in firsts.enumerated() {
            let next = index + 1 < firsts.count ? firsts[index + 1] : .max
            if let header = try header(of: first, before: next, scanner) { headers.append(header) }
        }
        found.stream = Self.chooseStream(headers, ledger)
        let ours = headers.filter { $0.stream == found.stream }
        found.report.foreignSegments = headers.count - ours.count
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
            let segment = try readSegment(header, header.firstSequence..<upper, scanner)
            found.segments.append(segment)
            found.highestSeen = max(found.highestSeen, segment.first, segment.last)
            next = header.firstSequence
        }
        found.segments.reverse()
        found.unreadFiles = unread.count
        found.unreadRecords = unread.reduce(0) { $0 + mostRecords(in: $1.path, $1.sequences, from: $1.from) }
        return found
    }

    // MARK: Names, ledger, headers

    private mutating func sort(_ names: [String]) {
        let known: Set<String> = [DirectoryLock.name, Ledger.name]
        for name in names where SegmentName.sequence(name) == nil && !known.contains(name) {
            if SegmentName.sequence(name, suffix: SegmentName.temporarySuffix) == nil {
                found.report.foreignFiles += 1
            } else {
                found.temporaries.append(name)
            }
        }
    }

    /// Nil when there is none, or none that can be read: it is a hint.
    private mutating func readLedger() -> Ledger? {
        do throws(CacheFileError) {
            let file = try files.openFile("\(directory)/\(Ledger.name)", .readOnly)
            defer { files.close(file) }
            return Ledger(decoding: try files.bytes(of: file, at: 0, count: Ledger.fileBytes))
        } catch {
            if error.number != noEntryErrno { errors.append(error) }
            return nil
        }
    }

    private mutating func header(
        of first: UInt64, before next: UInt64, _ scanner: SegmentScanner
    ) throws(CacheFileError) -> SegmentHeader? {
        let path = "\(directory)/\(SegmentName.of(first))"
        do throws(CacheFileError) {
            // Only the header is read, which no stream salts.
            let anyStream = StreamID(high: 0, low: 0)
            guard let header = try scanner.open(path, stream: anyStream, sequences: 0..<0, end: SegmentHeader.bytes),
                header.firstSequence == first
            else {
                found.report.damagedSegments += 1
                return nil
            }
            return header
        } catch {
            try passOver(error)
            // A directory, a link or a pipe of that name is no file of ours, and will not become one.
            guard !notAFileErrnos.contains(error.number) else { return nil }
            found.hasMetDiskError = true
            unread.append((path, first..<min(next, SequenceRange.end(around: first)), SegmentHeader.bytes))
            return nil
        }
    }

    /// How many records that wait may stand in what the disk refused: as many as there are numbers, and as the bytes hold.
    private func mostRecords(in path: String, _ sequences: Range<UInt64>, from start: Int) -> UInt64 {
        let first = max(sequences.lowerBound, found.acknowledged + 1)
        guard first < sequences.upperBound else { return 0 }
        // A file that does not even tell its size has the size that this agent gives a segment.
        let bytes = (try? size(of: path)) ?? segmentBytes
        return min(sequences.upperBound - first, UInt64(max(0, bytes - start) / RecordFormat.headerBytes))
    }

    private mutating func passOver(_ error: CacheFileError) throws(CacheFileError) {
        guard readsWhatItCan else { throw error }
        errors.append(error)
        found.report.unreadableSegments += 1
    }

    /// The stream that was written last. The ledger knows, unless it is older than what is there, or gone.
    ///
    /// Of a stream without segments it may not know the numbers in use: then a new stream begins, which is always safe.
    private static func chooseStream(_ headers: [SegmentHeader], _ ledger: Ledger?) -> StreamID? {
        if let ledger, headers.contains(where: { $0.stream == ledger.stream }) { return ledger.stream }
        return headers.last?.stream
    }

    // MARK: Records

    private mutating func readSegment(
        _ header: SegmentHeader, _ sequences: Range<UInt64>, _ scanner: SegmentScanner
    ) throws(CacheFileError) -> Segment {
        var segment = Segment(
            first: header.firstSequence, last: header.firstSequence - 1, end: SegmentHeader.bytes, bytes: 0)
        let path = "\(directory)/\(segment.name)"
        do throws(CacheFileError) {
            segment.bytes = try size(of: path)
            try read(&segment, header, sequences, path, scanner)
        } catch {
            // What was read before the error is kept, and so is the file.
            try passOver(error)
            segment.isWhole = false
            segment.holdsUnread = true
            let next = segment.last + 1
            unread.append((path, next..<max(next, sequences.upperBound), max(segment.end, SegmentHeader.bytes)))
        }
        note(scanner.damage, sequences, &segment)
        // Newest first: what an earlier segment holds is older.
        if found.report.newest == nil { found.report.newest = newest }
        return segment
    }

    private mutating func note(
        _ damage: SegmentScanner.Damage, _ sequences: Range<UInt64>, _ segment: inout Segment
    ) {
        segment.damaged = damage.records
        segment.reachesBeyond = damage.reachesBeyond
        found.report.corruptRecords += damage.records
        found.report.duplicateRecords += damage.duplicates
        guard damage.hasTornTail else { return }
        found.report.tornTails += 1
        // Inside a range the next segment's name tells what the tail of this one held.
        if sequences.upperBound % SequenceRange.size != 1 {
            found.report.corruptRecords += sequences.upperBound - 1 - segment.last
        }
    }

    /// As far as the disk gives it.
    private mutating func read(
        _ segment: inout Segment, _ header: SegmentHeader, _ sequences: Range<UInt64>, _ path: String,
        _ scanner: SegmentScanner
    ) throws(CacheFileError) {
        let known = found.tombstones.count
        var failure: CacheFileError?
        do throws(CacheFileError) {
            try tally(&segment, header, sequences, path, scanner)
        } catch {
            failure = error
        }
        if found.tombstones.count > known {
            // It holds clears that may apply to what stands before them in the same file.
            let (last, end, counted) = (segment.last, segment.end, found.report)
            found.highestSeen = max(found.highestSeen, last)
            (segment.last, segment.end) = (header.firstSequence - 1, SegmentHeader.bytes)
            segment.tally = SegmentTally()
            do throws(CacheFileError) {
                try tally(&segment, header, sequences, path, scanner)
                (segment.last, segment.end) = (max(last, segment.last), max(end, segment.end))
            } catch {
                // What only the first pass has read is in no tally: it counts as unread.
                failure = failure ?? error
            }
            found.report = counted
        }
        if let failure { throw failure }
    }

    /// One pass over a segment; clears it meets are added to `found`.
    private mutating func tally(
        _ segment: inout Segment, _ header: SegmentHeader, _ sequences: Range<UInt64>, _ path: String,
        _ scanner: SegmentScanner
    ) throws(CacheFileError) {
        newest = nil
        guard try scanner.open(path, stream: header.stream, sequences: sequences) != nil else { return }
        var run: TallyRun?
        func endRun() {
            guard let ended = run else { return }
            segment.tally.add(ended.info, first: ended.first)
            newest = ended.newest
            run = nil
        }
        defer { endRun() }
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
                    found.report.corruptRecords += 1
                    continue
                }
                let isCleared = found.tombstones.contains {
                    $0.covers(sequence: record.sequence, entity: name, time: record.time)
                }
                if isCleared { continue }
                endRun()
                run = TallyRun(record, of: name)
            case .entity:
                // The index of the run may mean another name from here on.
                endRun()
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
}

/// What reading a directory brought: a value, of which nothing is in force until the cache adopts it.
struct RecoveredDirectory {
    /// The stream to go on with; nil when no segment tells of one.
    var stream: StreamID?
    /// Of this stream, ascending.
    var segments: [Segment] = []
    var tombstones: [Tombstone] = []
    /// As far as the ledger tells.
    var acknowledged: UInt64 = 0
    /// 0 when the ledger could not be read.
    var ledgerGeneration: UInt64 = 0
    /// Highest sequence that anything gave evidence of.
    var highestSeen: UInt64 = 0
    /// Highest first sequence that a file name tells, of whatever stream.
    var highestName: UInt64 = 0
    /// What an interrupted beginning of a segment left.
    var temporaries: [String] = []
    /// Files that the disk refused, in whole or in part, and how many records that wait may stand there.
    var unreadFiles = 0
    var unreadRecords: UInt64 = 0
    /// The disk refused the header of a segment.
    var hasMetDiskError = false
    /// For the journal; `segments` and `records` are counted when the cache adopts.
    var report = DiskRingRecovery()

    /// A record that fails in one segment is written to one more, and the next attempt replaces that one: what a killed
    /// process could not synchronise stands at the ends of the newest two.
    var sight: DirectoryState.Sight {
        stream == nil && hasMetDiskError ? .blind : .clear(newest: segments.suffix(2).map(\.first))
    }
}

/// The file `lock` of a cache directory, open and locked: no other process changes what stands there.
struct DirectoryLock {
    static let name = "lock"

    let file: CacheFile

    /// - Throws: `EWOULDBLOCK` of `.lock` when another process holds it.
    static func take(
        in directory: String, _ files: any CacheFileSystem
    ) throws(CacheFileError) -> DirectoryLock {
        let file = try files.openFile("\(directory)/\(name)", .readWriteOrCreate)
        do throws(CacheFileError) {
            guard try files.lock(file) else { throw CacheFileError(.lock, wouldBlockErrno) }
        } catch {
            files.close(file)
            throw error
        }
        return DirectoryLock(file: file)
    }

    /// Tells people which process holds the lock, and the process that comes second.
    func sign(_ files: any CacheFileSystem) throws(CacheFileError) {
        let text = Array("\(processIdentifier)\n".utf8)
        try files.writeFully(file, text, at: 0)
        try files.truncate(file, to: text.count)
    }

    /// The process that the holder's signature names; nil when nothing can be read there.
    static func holder(in directory: String, _ files: any CacheFileSystem) throws(CacheFileError) -> Int? {
        let file = try files.openFile("\(directory)/\(name)", .readOnly)
        defer { files.close(file) }
        let text = try files.bytes(of: file, at: 0, count: 32)
        return Int(String(decoding: text.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
}

extension CacheFileError {
    /// Another process holds the directory.
    var isHeldByAnother: Bool { operation == .lock && number == wouldBlockErrno }
}
