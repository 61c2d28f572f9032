internal import Compression
package import TrackModel

extension DiskRing {
    /// The server owns everything up to this sequence. Never more is given up than can have been handed out.
    ///
    /// `stream`: whose acknowledgement it is; another stream's is late and ignored.
    package func acknowledge(through sequence: UInt64, of stream: StreamID, now: MonotonicTime) {
        guard state != .closed, stream == uploading.stream else { return }
        counters.acknowledged += giveUp(through: min(sequence, uploading.acknowledgeable), now: now)
        leaveIfDrained(now: now)
    }

    /// What a login told: everything of `streamID` up to this sequence is stored. Call it before reading on.
    ///
    /// A number that this cache cannot have caused means that somebody else uses the stream, after a disk was copied:
    /// numbering goes on beyond it, and what the server will take for duplicates is counted as lost.
    package func confirm(serverStoredThrough sequence: UInt64, now: MonotonicTime) {
        forgetAwaited()
        guard state != .closed, SequenceRange.believed.contains(sequence), sequence > uploading.acknowledged else {
            return
        }
        defer { leaveIfDrained(now: now) }
        guard sequence > uploading.acknowledgeable else {
            counters.acknowledged += giveUp(through: sequence, now: now)
            return
        }
        let stream = uploading.stream
        counters.streamConflicts += 1
        sync(now: now)
        counters.acknowledged += giveUp(through: uploading.acknowledgeable, now: now)
        let start = SequenceRange.start(after: max(sequence, highestSeen))
        if waiting == nil, writer == nil {
            // In memory nothing is lost: these numbers were never handed out.
            uploading.next = renumberMemory(
                after: uploading.acknowledged, next: uploading.next, of: stream, to: stream, from: start)
            uploading.start = start
        }
        counters.lostToConflict += giveUp(through: sequence, now: now)
        guard uploading.stream == stream, sequence >= uploading.next else { return }
        uploading.next = start
        uploading.start = start
        guard writer != nil else { return }
        do throws(CacheFileError) {
            try rotate(first: start)
        } catch {
            fallBack(error, now: now)
            trimMemory()
        }
    }

    /// A login answers for what was sent before it. What is not here any more is not sent again, so nothing answers for it.
    private func forgetAwaited() {
        guard waiting == nil, writer == nil else { return }
        let sent = pending.index(after: uploading.awaited)
        uploading.awaited = sent > 0 ? pending[sent - 1].sequence : 0
    }

    var durableCount: UInt64 { segments.indices.reduce(0) { $0 + liveCount($1) } }

    /// Returns how many records left.
    private func giveUp(through sequence: UInt64, now: MonotonicTime) -> UInt64 {
        guard sequence > uploading.acknowledged else { return 0 }
        let reached = segments.indices.prefix { segments[$0].first <= sequence }
        let before = reached.reduce(UInt64(0)) { $0 + liveCount($1) }
        uploading.acknowledged = sequence
        let after = reached.reduce(UInt64(0)) { $0 + liveCount($1) }
        var given = before - min(after, before)
        if waiting == nil, writer == nil {
            let number = pending.index(after: sequence)
            pending.removeFirst(number)
            given += UInt64(number)
        }
        removeFinished()
        leaveDrainedStream()
        if now - lastLedgerWrite >= Self.ledgerInterval { writeLedger(now: now, isDurable: false) }
        return given
    }

    /// When the old stream is empty, the records that waited in memory follow, under their own.
    func leaveDrainedStream() {
        guard var following = waiting, writer == nil, durableCount == 0 else { return }
        if directoryState.isBesideOthers {
            // Files that nobody could read stay, with the newest one, the evidence of the numbers in use. The stream that
            // follows must not take their names, and the next opening must take it for the newer one.
            while !segments.isEmpty {
                if segments.count == 1 || segments[0].holdsUnread { forget(at: 0) } else { remove(at: 0) }
            }
            let (stream, next) = (following.stream, following.next)
            following.start = SequenceRange.start(after: max(highestSeen, next - 1))
            following.next = renumberMemory(next: next, of: stream, to: stream, from: following.start)
        } else {
            while !segments.isEmpty { remove(at: 0) }
        }
        tombstones = []
        unsavedTombstones = 0
        uploading = following
        waiting = nil
        highestSeen = following.next - 1
        cursor = nil
    }

    // MARK: The ledger

    /// A hint: any failure costs a re-send.
    func writeLedger(now: MonotonicTime, isDurable: Bool) {
        guard ledgerFile != nil, waiting == nil else { return }
        lastLedgerWrite = now
        do throws(CacheFileError) {
            try writeLedgerOrThrow(isDurable: isDurable, rangeStart: uploading.start)
        } catch {
            count(error)
        }
    }

    /// Opens the ledger for writing and writes it; called when the disk works.
    func openLedger(now: MonotonicTime) {
        do throws(CacheFileError) {
            try openLedgerFile()
        } catch {
            count(error)
        }
        writeLedger(now: now, isDurable: false)
    }

    /// Durable before the first segment of a stream that begins beside files nobody can read now: the next opening may
    /// be able to, and must not take theirs for the stream in use. A ledger that cannot be written is no obstacle.
    func nameStreamInUse(rangeStart: UInt64) {
        do throws(CacheFileError) {
            try openLedgerFile()
            try writeLedgerOrThrow(isDurable: true, rangeStart: rangeStart)
            try files.synchronizeNames(in: directory)
        } catch {
            count(error)
        }
    }

    private func openLedgerFile() throws(CacheFileError) {
        guard ledgerFile == nil else { return }
        // What could not be read may be of a later generation than what is written now: it must not win.
        let access: CacheFileAccess = ledgerGeneration == 0 ? .replace : .readWriteOrCreate
        ledgerFile = try files.openFile("\(directory)/\(Ledger.name)", access)
    }

    private func writeLedgerOrThrow(isDurable: Bool, rangeStart: UInt64) throws(CacheFileError) {
        guard let ledgerFile else { return }
        ledgerGeneration += 1
        let ledger = Ledger(
            generation: ledgerGeneration, stream: uploading.stream, acknowledged: uploading.acknowledged,
            rangeStart: rangeStart)
        let bytes = ledger.encoded()
        try files.writeFully(ledgerFile, bytes, at: ledger.offset)
        counters.bytesWritten += UInt64(bytes.count)
        guard isDurable else { return }
        try files.synchronizeFile(ledgerFile, dataOnly: true)
        counters.syncs += 1
    }
}

/// The file `acknowledged`: a hint where uploading had come to. Two slots written in turn, in place; a torn one leaves
/// the other. Losing it costs a re-send that the server recognises, never a record.
struct Ledger: Equatable {
    static let name = "acknowledged"
    static let fileBytes = 2 * slotDistance
    private static let slotDistance = 4096
    private static let slotBytes = 64
    private static let magic: [UInt8] = Array("SAKER-AK".utf8)
    private static let version: UInt16 = 1

    var generation: UInt64
    var stream: StreamID
    var acknowledged: UInt64
    /// The highest first sequence of an opening's range.
    var rangeStart: UInt64

    /// Where this generation is written.
    var offset: Int { generation % 2 == 0 ? 0 : Self.slotDistance }

    func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes.appendInteger(Self.version)
        bytes.appendInteger(UInt16(0))
        bytes.appendInteger(UInt32(0))
        bytes.appendInteger(generation)
        bytes += stream.bytes
        bytes.appendInteger(acknowledged)
        bytes.appendInteger(rangeStart)
        bytes += [UInt8](repeating: 0, count: Self.slotBytes - bytes.count)
        bytes.setInteger(Self.checksum(of: bytes), at: 12)
        return bytes
    }

    /// The newer of the sound slots.
    init?(decoding file: [UInt8]) {
        let slots = [0, Self.slotDistance].compactMap { start -> Ledger? in
            guard file.count >= start + Self.slotBytes else { return nil }
            return Ledger(slot: Array(file[start..<start + Self.slotBytes]))
        }
        guard let newest = slots.max(by: { $0.generation < $1.generation }) else { return nil }
        self = newest
    }

    init(generation: UInt64, stream: StreamID, acknowledged: UInt64, rangeStart: UInt64) {
        self.generation = generation
        self.stream = stream
        self.acknowledged = acknowledged
        self.rangeStart = rangeStart
    }

    private init?(slot: [UInt8]) {
        guard slot.starts(with: Self.magic), slot.integer(at: 12) == Self.checksum(of: slot),
            slot.integer(at: 8) == Self.version, let stream = StreamID(bytes: slot[24..<40])
        else { return nil }
        self.init(
            generation: slot.integer(at: 16), stream: stream, acknowledged: slot.integer(at: 40),
            rangeStart: slot.integer(at: 48))
        let limit = SequenceRange.believed.upperBound
        // Numbers so high were never written, and counting on from a generation must not overflow.
        guard acknowledged <= limit, rangeStart <= limit, generation <= limit else { return nil }
    }

    private static func checksum(of slot: [UInt8]) -> UInt32 {
        crc32(slot[16...], continuing: crc32(slot[..<12]))
    }
}
