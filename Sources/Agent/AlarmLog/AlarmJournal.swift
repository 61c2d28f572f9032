package import TrackCache

/// The alarms of the last days on disk: each kept once, listed on demand, with a mark when its hooks have ended.
///
/// Owned by one thread: every call may wait for the disk. Nothing a file holds and nothing the disk does makes opening
/// fail; an alarm that cannot be written is refused, and everything works again when the disk does.
///
/// Format and limits: docs/formats/alarm-journal.md.
package final class AlarmJournal {
    package struct Options: Hashable, Sendable {
        /// Bytes of the file; beyond it the oldest alarms are dropped.
        package var limit: Int
        /// Milliseconds of the server's clock after which an alarm is dropped.
        package var retention: Int64

        package init(limit: Int = 1 << 20, retention: Int64 = 7 * 86_400_000) {
            self.limit = limit
            self.retention = retention
        }
    }

    /// What happened to the file, since the journal was opened.
    package struct Counters: Hashable, Sendable {
        /// Records whose checksum was wrong.
        package var damaged = 0
        /// Openings that found an end cut off in the middle of a record.
        package var tornTails = 0
        /// Files that were no journal and were renamed.
        package var putAside = 0
        /// Alarms dropped by the bound before their time.
        package var dropped = 0

        package init() {}
    }

    package enum Appended: Hashable, Sendable {
        case new(Alarm)
        /// It is in the journal already, durably.
        case known
    }

    static let name = "alarms.journal"
    /// What the disk refuses to read is given up only with this attempt: until then nothing is written over it.
    static let readAttempts = 5

    /// Where an alarm stands in the file, and what queries ask of it.
    struct Entry {
        let number: UInt64
        let id: UInt64
        let type: UInt32
        /// Its own, or else when it was received.
        let time: Int64
        /// By the server's clock; 0: not.
        let serverTime: Int64
        var isOwed: Bool
        var offset: Int
        let length: Int
    }

    let directory: String
    let files: any CacheFileSystem
    let options: Options
    package internal(set) var counters = Counters()
    /// Why the last attempt to write failed; nil when it did not.
    package internal(set) var trouble: CacheFileError?

    /// Ascending by number.
    var entries: [Entry] = []
    var ids: Set<UInt64> = []
    /// The file that `entries` stand in.
    var file: CacheFile?
    /// Behind the last sound record.
    var end = 0
    var nextNumber: UInt64 = 1
    /// The directory was read: what it holds is known.
    var hasRead = false
    /// Attempts to read what is there that met a disk error.
    var failedReads = 0
    /// Everything up to `end` is durable, and more may be written behind it. If not, the file is written anew first.
    var isSound = false

    /// Opens `directory`, made when it is missing; opening is recovery.
    package init(
        directory: String, options: Options = Options(), fileSystem: any CacheFileSystem = POSIXFileSystem()
    ) {
        self.directory = directory
        self.options = options
        files = fileSystem
        do throws(CacheFileError) {
            try makeReady()
        } catch {
            trouble = error
        }
    }

    deinit {
        if let file { files.close(file) }
    }

    /// Alarms kept.
    package var count: Int { entries.count }
    /// Bytes of the file.
    package var bytes: Int { end }
    /// Alarms whose hooks are to run.
    package var owedCount: Int { entries.count { $0.isOwed } }
    /// Of the newest alarm ever; 0 when there was none.
    package var lastNumber: UInt64 { nextNumber - 1 }

    // MARK: Writing

    /// Keeps an alarm: durable on return. `isOwed`: hooks are to run for it.
    ///
    /// Throws when the disk refuses; then the alarm is not kept, and it may be given again. Its body and entity must be
    /// within the limits of ``NewAlarm``.
    package func append(_ content: NewAlarm, isOwed: Bool) throws(CacheFileError) -> Appended {
        do throws(CacheFileError) {
            let appended = try write(content, isOwed: isOwed)
            trouble = nil
            return appended
        } catch {
            trouble = error
            throw error
        }
    }

    private func write(_ content: NewAlarm, isOwed: Bool) throws(CacheFileError) -> Appended {
        // Also for one that is known: what was found at the start is acknowledged only when it is durable.
        try makeReady()
        if content.id != 0, ids.contains(content.id) { return .known }
        let alarm = Alarm(number: nextNumber, content: content, isOwed: isOwed)
        let record = AlarmFormat.encode(.alarm(alarm))
        try makeRoom(for: record.count)
        guard let file else { throw CacheFileError(.open, CacheFileError.notThere) }
        let offset = end
        do throws(CacheFileError) {
            try files.writeFully(file, record, at: offset)
        } catch {
            // A full disk: what was written of it goes away again, or the next attempt begins with a new file.
            do throws(CacheFileError) {
                try files.truncate(file, to: offset)
            } catch {
                isSound = false
            }
            throw error
        }
        do throws(CacheFileError) {
            try files.synchronizeFile(file, dataOnly: true)
        } catch {
            // The kernel may call pages clean that it failed to write: this file can not be relied on any more.
            isSound = false
            throw error
        }
        end = offset + record.count
        nextNumber += 1
        add(alarm, at: offset, length: record.count)
        return .new(alarm)
    }

    /// Notes that the hooks of an alarm have ended. Not synchronised: a power cut makes them run once more, no more than
    /// that.
    package func finish(_ number: UInt64) {
        guard let index = entries.firstIndex(where: { $0.number == number }), entries[index].isOwed else { return }
        entries[index].isOwed = false
        guard isSound, let file else { return }
        let record = AlarmFormat.encode(.finished(number))
        guard end + record.count <= 2 * options.limit else { return }
        do throws(CacheFileError) {
            try files.writeFully(file, record, at: end)
            end += record.count
        } catch {
            // The mark is in memory, and in the next file.
            do throws(CacheFileError) {
                try files.truncate(file, to: end)
            } catch {
                isSound = false
            }
        }
    }

    /// Nobody runs hooks for alarms any more: none is owed.
    package func finishAll() {
        for number in entries.filter(\.isOwed).map(\.number) { finish(number) }
    }

    /// The server's clock: what is older than the retention by it will not come again, and is dropped.
    package func forget(serverTime: Int64) {
        let (oldest, overflow) = serverTime.subtractingReportingOverflow(options.retention)
        guard !overflow else { return }
        removeEntries { $0.serverTime > 0 && $0.serverTime < oldest && !$0.isOwed }
    }

    // MARK: Steps

    func add(_ alarm: Alarm, at offset: Int, length: Int) {
        let content = alarm.content
        entries.append(
            Entry(
                number: alarm.number, id: content.id, type: content.type,
                time: content.time > 0 ? content.time : content.received, serverTime: content.time,
                isOwed: alarm.isOwed, offset: offset, length: length))
        if content.id != 0 { ids.insert(content.id) }
    }

    func removeEntries(where isGone: (Entry) -> Bool) {
        entries.removeAll { entry in
            guard isGone(entry) else { return false }
            if entry.id != 0 { ids.remove(entry.id) }
            return true
        }
    }

    private func makeRoom(for length: Int) throws(CacheFileError) {
        guard end + length > options.limit else { return }
        // The oldest go, owed or not, until a quarter is free: else each alarm would make a new file.
        let target = options.limit / 4 * 3
        var rest = entries.reduce(AlarmFormat.headerBytes) { $0 + $1.length }
        var gone = 0
        for entry in entries where rest + length > target {
            rest -= entry.length
            gone += 1
        }
        do throws(CacheFileError) {
            try rewrite(dropping: gone)
        } catch {
            // No room for a second file: this one may grow a little longer.
            guard isSound, end + length <= 2 * options.limit else { throw error }
        }
    }
}
