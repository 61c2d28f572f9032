package import TrackModel

/// The agent's disk ring: opaque records, numbered, durable, kept until the server owns them.
///
/// Owned by one thread: every call may wait for the disk, none is safe from two threads. Nothing a file holds and
/// nothing the disk does makes a call fail: trouble moves the cache to memory (`state`, `counters`) and it returns by
/// itself. `now` is read from one clock.
///
/// Format, invariants and limits: docs/formats/track-cache.md. Numbering: docs/decisions/0002-sequence-ranges.md.
package final class DiskRing {
    /// Unsynchronised records are synchronised at this cost, whatever the interval.
    static let maximumUnsynchronised = 256 * 1024
    /// Clears in force at a time; clearing everything ends all earlier ones.
    static let maximumTombstones = 4096
    static let ledgerInterval: Int64 = 300_000
    static let retryIntervals: ClosedRange<Int64> = 1000...60_000

    package let directory: String
    package internal(set) var options: DiskRingOptions
    package internal(set) var counters = DiskRingCounters()
    /// What opening found; filled when the directory was first read, which may be after a time in memory.
    package internal(set) var recovery = DiskRingRecovery()
    package internal(set) var state: DiskRingState = .disk

    let files: any CacheFileSystem
    let newStream: () -> StreamID
    /// Nil: nothing in the directory may be changed.
    var lock: DirectoryLock?
    var ledgerFile: CacheFile?
    var ledgerGeneration: UInt64 = 0
    var lastLedgerWrite = MonotonicTime.distantPast
    var directoryState = DirectoryState.unread(failures: 0)

    /// The stream that is uploaded now; what is on disk is always of this stream.
    var uploading: Numbering
    /// The stream of new records while they must not be numbered in `uploading`, which is uploaded first.
    var waiting: Numbering?
    /// The stream is to be left when nothing of it waits: see ``leaveStream(now:)``.
    var isLeaving = false
    /// Highest sequence that any file of this stream gave evidence of.
    var highestSeen: UInt64 = 0

    /// Ascending. The last is the active one while `writer` exists.
    var segments: [Segment] = []
    var writer: SegmentWriter?
    /// Not yet durable: written but not synchronised, or not written.
    var pending = RecordQueue()
    /// How many of `pending` stand in the active segment.
    var writtenCount = 0
    var pendingSince = MonotonicTime.distantPast
    var tombstones: [Tombstone] = []
    /// How many of `tombstones`, from the end, are on no disk yet.
    var unsavedTombstones = 0
    /// Segments given up, oldest first, that are still to be unlinked.
    var doomed: [DoomedSegment] = []
    var hasUnsynchronisedUnlinks = false

    var cursor: ReadCursor?
    var nextRead = MonotonicTime.distantPast
    var partialTally: PartialTally?
    var nextAttempt = MonotonicTime.distantPast
    /// Since the opening, of the stream that is uploaded and of the one that waits behind it.
    var losses: [KnownLosses] = []
    /// Of the processes before, as they were found on the disk.
    var clearsFound: [Tombstone] = []
    var retryInterval = DiskRing.retryIntervals.lowerBound

    /// Opens a directory, which is recovery: whatever is in it, the cache starts.
    ///
    /// A missing directory is made. When the disk cannot be used, or a file is in the way, the cache starts in memory.
    /// - Throws: `.inUse` when another process holds the directory, `.directory` when the path is not absolute.
    package init(
        directory: String, options: DiskRingOptions = DiskRingOptions(),
        fileSystem: any CacheFileSystem = POSIXFileSystem(), now: MonotonicTime,
        newStream: @escaping () -> StreamID = DiskRing.randomStream
    ) throws(DiskRingError) {
        self.directory = directory
        self.options = options
        self.newStream = newStream
        files = fileSystem
        uploading = Numbering(stream: newStream(), start: 1)
        self.options.limit = options.limit.map { max($0, 2 * options.segmentBytes) }
        guard directory.hasPrefix("/") else {
            throw DiskRingError(
                .directory,
                "the cache directory \"\(directory)\" is not an absolute path: configure one that begins with /")
        }
        do throws(CacheFileError) {
            try reachDisk(now: now)
        } catch {
            if error.isHeldByAnother { throw inUse() }
            fallBack(error, now: now)
        }
    }

    deinit { closeFiles() }

    package static func randomStream() -> StreamID {
        var generator = SystemRandomNumberGenerator()
        return .random(using: &generator)
    }

    // MARK: Numbers

    /// The stream of what `read` returns and of `firstSequence` and `nextSequence`: the one to log in with.
    ///
    /// It can change in any call, but only when nothing of it is left to upload (or nothing of it was ever handed out).
    /// The owner then logs in again; acknowledgements of the stream before are ignored.
    package var streamID: StreamID { uploading.stream }

    /// The sequence the next record of `streamID` will get.
    package var nextSequence: UInt64 { uploading.next }

    /// No record of `streamID` in the cache is before this one; `nextSequence` when there is none.
    package var firstSequence: UInt64 {
        for index in segments.indices {
            guard liveCount(index) > 0 else { continue }
            let segment = segments[index]
            if segment.isDense { return max(segment.first, uploading.acknowledged + 1) }
            return liveTally(index).first
        }
        guard waiting == nil, let first = pending.first else { return uploading.next }
        return first.sequence
    }

    /// The server has said that it owns everything of `streamID` up to here; 0 when it has said nothing.
    package var acknowledgedThrough: UInt64 { uploading.acknowledged }

    /// Records waiting, of every stream.
    package var count: UInt64 {
        segments.indices.reduce(UInt64(pending.count)) { $0 + liveCount($1) }
    }

    /// Of these, the newest, which a power cut would take now: in memory, or written and not synchronised.
    package var unsynchronisedCount: Int { pending.count }

    /// What was found in the directory is on the disk.
    package var isSecured: Bool {
        if case .inherited = directoryState { return false }
        return true
    }

    package var usage: DiskRingUsage {
        DiskRingUsage(
            segments: segments.count, diskBytes: diskBytes, diskLimit: options.limit, memoryBytes: pending.cost,
            memoryLimit: options.memoryLimit)
    }

    /// When `maintain` has something to do, in the clock of `now`; nil when nothing is due.
    package var nextMaintenance: MonotonicTime? {
        switch state {
        case .disk: [nextSync, isSecured ? nil : nextAttempt].compactMap(\.self).min()
        case .memory: nextAttempt
        case .closed: nil
        }
    }

    private var nextSync: MonotonicTime? { pending.isEmpty ? nil : pendingSince + options.syncInterval }

    /// What the directory holds is known. Until then only what is in memory is counted and handed out.
    package var hasRead: Bool { directoryState.isKnown }

    // MARK: Appending

    /// Takes a record; with a sync interval of 0 it is durable on return, unless `state` says otherwise.
    ///
    /// Returns its sequence, which may still change while the record is in memory, until `read` has returned it. Nil
    /// when the entity is empty or over 128 bytes of UTF-8, the payload is over 64 KiB, or the cache is closed
    /// (counted).
    @discardableResult
    package func append(entity: String, time: Int64, payload: [UInt8], now: MonotonicTime) -> UInt64? {
        guard (1...RecordFormat.maximumEntityBytes).contains(entity.utf8.count),
            payload.count <= RecordFormat.maximumBody, state != .closed
        else {
            counters.refused += 1
            return nil
        }
        counters.appended += 1
        counters.appendedBytes += UInt64(RecordFormat.headerBytes + payload.count)
        if pending.isEmpty { pendingSince = now }
        pending.append(PendingRecord(sequence: numbering.next, entity: entity, time: time, payload: payload))
        numbering.next += 1
        if writer != nil {
            writePending(now: now)
            if pending.cost >= Self.maximumUnsynchronised { synchronizeWritten(now: now) }
        }
        maintain(now: now)
        trimMemory()
        return numbering.next - 1
    }

    /// Does what is due: synchronises after the interval, tries again what the disk refused. Call it at `nextMaintenance`.
    package func maintain(now: MonotonicTime) {
        guard let due = nextMaintenance, now >= due else { return }
        switch state {
        case .disk:
            if let nextSync, now >= nextSync { sync(now: now) }
            secureWhenDue(now: now)
        case .memory: tryReturnToDisk(now: now)
        case .closed: break
        }
    }

    /// Makes every record durable that is on the way to the disk; in memory, nothing.
    package func sync(now: MonotonicTime) {
        synchronizeWritten(now: now)
        trimMemory()
    }

    func synchronizeWritten(now: MonotonicTime) {
        guard let writer, writtenCount > 0 else { return }
        do throws(CacheFileError) {
            try writer.synchronize()
            commitWritten()
        } catch {
            // The kernel may have dropped the pages it failed to write and call them clean: what counts is in
            // `pending`.
            fallBackAndRetry(error, now: now)
        }
    }

    package func setSyncInterval(milliseconds: Int64, now: MonotonicTime) {
        options.syncInterval = max(milliseconds, 0)
        maintain(now: now)
    }

    /// Bytes of segment files, at least two segments; nil: unlimited. Drops what is over a lower bound at once.
    package func setLimit(bytes: Int?) {
        options.limit = bytes.map { max($0, 2 * options.segmentBytes) }
        enforceLimit(adding: 0)
        leaveDrainedStream()
    }

    /// Synchronises, writes the ledger and gives the directory up. Further calls do nothing.
    package func close(now: MonotonicTime) {
        guard state != .closed else { return }
        sync(now: now)
        writeLedger(now: now, isDurable: true)
        state = .closed
        closeFiles()
    }

    private func closeFiles() {
        writer = nil
        cursor = nil
        for file in [ledgerFile, lock?.file].compactMap(\.self) { files.close(file) }
        ledgerFile = nil
        lock = nil
    }

    private func inUse() -> DiskRingError {
        // The signature is for people alone: without it the message says less.
        let process = (try? DirectoryLock.holder(in: directory, files)) ?? nil
        let holder = process.map { "process \($0)" } ?? "another process"
        return DiskRingError(
            .inUse, "the cache directory \(directory) is in use by \(holder): stop it, or configure another directory")
    }
}

/// One sequence space, seen from the agent.
struct Numbering {
    let stream: StreamID
    var next: UInt64
    /// First sequence of this opening's range.
    var start: UInt64
    /// Highest sequence this process handed out; 0 before.
    var handedOut: UInt64 = 0
    /// Highest sequence of those handed out that an answer may still come for; lower than ``handedOut`` when the last ones
    /// were cleared and a new login has said what the server has.
    var awaited: UInt64 = 0
    var acknowledged: UInt64 = 0

    init(stream: StreamID, start: UInt64) {
        self.stream = stream
        self.start = start
        next = start
    }

    /// Whether the server may have records of which it has not said so.
    var hasUnansweredRecords: Bool { awaited > acknowledged }

    /// What an acknowledgement can cover: earlier processes' records, and what was handed out.
    var acknowledgeable: UInt64 { max(start - 1, handedOut) }
}

struct DoomedSegment {
    let name: String
    /// It must not vanish before every earlier one has.
    let isLast: Bool
}

/// What a cache is opened with. Limits, sizes and defaults of the format are in docs/formats/track-cache.md.
package struct DiskRingOptions: Hashable, Sendable {
    /// Bytes of segment files; nil: as many as the disk holds. At least two segments. Default 256 MiB.
    package var limit: Int?
    /// Bytes of records held while the disk does not work. Default 1 MiB.
    package var memoryLimit: Int
    /// Milliseconds an appended record may stay unsynchronised; 0: every append is durable when it returns. Default 0.
    package var syncInterval: Int64
    /// Bytes of a new segment, `smallestSegment` or more. Default 1 MiB; anything else is for tests.
    package var segmentBytes: Int

    package static let smallestSegment = 80 * 1024

    package init(
        limit: Int? = 256 << 20, memoryLimit: Int = 1 << 20, syncInterval: Int64 = 0, segmentBytes: Int = 1 << 20
    ) {
        self.limit = limit
        self.memoryLimit = max(memoryLimit, 0)
        self.syncInterval = max(syncInterval, 0)
        self.segmentBytes = max(segmentBytes, Self.smallestSegment)
    }
}

/// Why a cache could not be opened, or refused a request.
package struct DiskRingError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Another process holds the directory. A retry helps once that process has ended.
        case inUse
        /// The configured path can never be the cache's directory; only another configuration helps.
        case directory
        /// Too many separate clears are still in force. Clearing everything always works.
        case tooManyClears
    }

    package let code: Code
    /// For people; names the directory, never a position.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}

/// Where new records go.
package enum DiskRingState: Hashable, Sendable, CustomStringConvertible {
    /// To the disk: they survive a power cut once synchronised.
    case disk
    /// To memory, because of this error: they are lost with the power, and the oldest is dropped when memory is full.
    case memory(CacheFileError)
    /// After `close()`.
    case closed

    package var description: String {
        switch self {
        case .disk: "on disk"
        case .memory(let error): "in memory, because the disk refused: \(error)"
        case .closed: "closed"
        }
    }
}
