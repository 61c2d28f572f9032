package import DiskRing
package import TrackModel

/// The alarms of the last days on disk. The journal keeps each alarm once, lists alarms, and marks when an alarm's
/// hooks have ended.
///
/// One thread owns the journal, because every call may wait for the disk. Opening never fails, whatever the file holds
/// and whatever the disk does. While the disk refuses reads or writes, the journal refuses alarms; when the disk works
/// again, so does the journal. `now` is read from one clock.
///
/// Format and limits: docs/formats/alarm-journal.md.
package final class AlarmJournal {
    package struct Options: Hashable, Sendable {
        /// The most bytes of the file. Beyond it the journal drops the oldest alarms, except those whose hooks must still
        /// run.
        package var limit: Int
        /// Milliseconds, by the server's clock, after which the journal drops an alarm.
        package var retention: Int64

        /// Bytes that the limit may be set to.
        package static let limits = 65_536...(64 << 20)
        package static let defaultLimit = 4 << 20

        /// Longer than a server can send a push: it lives for seven days at most, a session that begins in its last moment
        /// sends it for ten minutes, and clocks of servers differ.
        package static let remembered: Int64 = 8 * 86_400_000

        package init(limit: Int = defaultLimit, retention: Int64 = remembered) {
            self.limit = limit
            self.retention = retention
        }
    }

    /// Counts since the journal was opened.
    package struct Counters: Hashable, Sendable {
        /// Records with a wrong checksum.
        package var damaged = 0
        /// Openings that found a file whose end was cut off inside a record.
        package var tornTails = 0
        /// Files that were not an alarm journal and were renamed.
        package var putAside = 0
        /// Alarms that the size limit dropped before their time.
        package var dropped = 0

        package init() {}
    }

    package enum Appended: Hashable, Sendable {
        case new(JournalAlarm)
        /// The alarm is in the journal already, durably.
        case known
        /// The journal has it as an early alarm of this number, and notes now, durably, that the server told it too.
        case confirmed(UInt64)
        /// The journal had it under this number, and dropped it for newer ones.
        case dropped(UInt64)
        /// Alarms whose hooks must still run fill the journal up to its limit. The journal does not have this alarm.
        case full
    }

    static let name = "alarms.journal"

    /// Where an alarm is in the file, and what queries need to know about it.
    struct Entry {
        let number: UInt64
        let id: UInt64
        let type: UInt32
        let entity: String
        let fence: AlarmFence?
        /// When the alarm happened, or when it was received if nothing says so.
        let time: Int64
        /// The alarm's time by the server's clock; 0 when unknown.
        let serverTime: Int64
        var isOwed: Bool
        let early: EarlyAlarmPoint?
        let service: Int64?
        var update: AlarmUpdate
        /// A power cut may take the update back.
        var hasUnsyncedUpdate = false
        var offset: Int
        let length: Int
    }

    let directory: String
    let files: any CacheFileSystem
    let options: Options
    package internal(set) var counters = Counters()
    /// Why the last attempt to write failed; nil when it succeeded.
    package internal(set) var trouble: CacheFileError?

    /// Ascending by number.
    var entries: [Entry] = []
    /// Ascending by number; at most a quarter of the size limit.
    var traces: [AlarmTrace] = []
    /// Of entries and traces.
    var ids: Set<UInt64> = []
    /// What is remembered of entities and local fences, the newest state of each entity; the one that changed last is
    /// last.
    package internal(set) var fenceStates: [JournalFenceState] = []
    /// The file that the offsets of `entries` belong to.
    var file: CacheFile?
    /// The offset behind the last sound record.
    var end = 0
    var nextNumber: UInt64 = 1
    /// The file was read, so `entries` is complete.
    var hasRead = false
    /// Of the file as a whole, until it is read.
    var fileRetryLimit = ReadRetryLimit()
    /// Of single alarms that the disk refuses, by their numbers.
    var alarmRetryLimits: [UInt64: ReadRetryLimit] = [:]
    /// The disk has refused something for so long that the journal gave it up.
    package internal(set) var hasGivenUp = false
    /// No hooks are run: alarms that are found later are owed to nobody.
    var areHooksOff = false
    /// Everything up to `end` is durable, and appending is safe. If this is false, the next write begins with a new
    /// file.
    var isSound = false

    /// Opens the journal in `directory`, and makes the directory if it is missing. Opening is recovery.
    package init(
        directory: String, options: Options = Options(), fileSystem: any CacheFileSystem = POSIXFileSystem(),
        now: MonotonicTime
    ) {
        self.directory = directory
        self.options = options
        files = fileSystem
        do throws(CacheFileError) {
            try makeReady(now: now)
        } catch {
            trouble = error
        }
    }

    deinit {
        if let file { files.close(file) }
    }

    /// Alarms in the journal.
    package var count: Int { entries.count }
    /// Bytes of the file.
    package var bytes: Int { end }
    /// Alarms whose hooks must still run.
    package var owedCount: Int { entries.count { $0.isOwed } }
    /// The number of the newest alarm ever; 0 when there was none.
    package var lastNumber: UInt64 { nextNumber - 1 }

    // MARK: Writing

    /// Appends an alarm; it is durable on return. `isOwed`: hooks must run for it.
    ///
    /// Throws when the disk refuses. Then the journal does not have the alarm, and the caller may append it again. Body
    /// and entity must be within the limits of ``NewAlarm``.
    package func append(
        _ content: NewAlarm, isOwed: Bool, now: MonotonicTime
    ) throws(CacheFileError) -> Appended {
        do throws(CacheFileError) {
            let appended = try write(content, isOwed: isOwed, now: now)
            trouble = nil
            return appended
        } catch {
            trouble = error
            throw error
        }
    }

    private func write(
        _ content: NewAlarm, isOwed: Bool, now: MonotonicTime
    ) throws(CacheFileError) -> Appended {
        // Even for a known alarm: an alarm that was found at the start may be acknowledged only after the file is
        // durable.
        try makeReady(now: now)
        if content.id != 0, ids.contains(content.id) { return try confirm(content) }
        let alarm = JournalAlarm(number: nextNumber, content: content, isOwed: isOwed)
        let record = AlarmFormat.encode(.alarm(alarm))
        guard try makeRoom(for: record.count, now: now) else { return .full }
        let offset = end
        try put(record)
        nextNumber += 1
        add(alarm, at: offset, length: record.count)
        return .new(alarm)
    }

    /// Writes a record behind the last one; it is durable on return.
    func put(_ record: [UInt8]) throws(CacheFileError) {
        guard let file else { throw CacheFileError(.open, CacheFileError.notThere) }
        try putUnsynchronised(record)
        do throws(CacheFileError) {
            try files.synchronizeFile(file, dataOnly: true)
        } catch {
            // After a failed fsync the kernel may mark pages as clean that it did not write. So this file cannot be
            // trusted any more.
            isSound = false
            end -= record.count
            throw error
        }
    }

    /// Writes a record behind the last one. A power cut may lose it.
    func putUnsynchronised(_ record: [UInt8]) throws(CacheFileError) {
        guard let file else { throw CacheFileError(.open, CacheFileError.notThere) }
        do throws(CacheFileError) {
            try files.writeFully(file, record, at: end)
        } catch {
            // On a full disk, removes the part that was written. If that fails too, the next attempt begins with a new
            // file.
            do throws(CacheFileError) {
                try files.truncate(file, to: end)
            } catch {
                isSound = false
            }
            throw error
        }
        end += record.count
    }

    /// Notes that the hooks of an alarm have ended. The note is not synchronised: a power cut only makes the hooks run
    /// once more.
    package func finish(_ number: UInt64) {
        guard let index = entries.firstIndex(where: { $0.number == number }), entries[index].isOwed else { return }
        entries[index].isOwed = false
        guard isSound else { return }
        let record = AlarmFormat.encode(.finished(number))
        guard end + record.count <= 2 * options.limit else { return }
        // After an error the mark stays in memory, and the next new file contains it.
        try? putUnsynchronised(record)
    }

    /// Hooks are turned off: no alarm waits for them any more.
    package func finishAll() {
        areHooksOff = true
        for number in entries.filter(\.isOwed).map(\.number) { finish(number) }
    }

    /// Drops alarms that are older than the retention, by the server's clock. The server has forgotten them before, so
    /// they cannot come again.
    package func forget(serverTime: Int64) {
        let (oldest, overflow) = serverTime.subtractingReportingOverflow(options.retention)
        guard !overflow else { return }
        removeEntries {
            $0.serverTime > 0 && $0.serverTime < oldest && !$0.isOwed && $0.update.report != .wanted
        }
        removeTraces { $0.serverTime > 0 && $0.serverTime < oldest }
    }

    // MARK: Steps

    func add(_ alarm: JournalAlarm, at offset: Int, length: Int) {
        let content = alarm.content
        entries.append(
            Entry(
                number: alarm.number, id: content.id, type: content.type, entity: interned(content.entity),
                fence: content.fence,
                time: content.happened ?? content.received, serverTime: content.time,
                isOwed: alarm.isOwed, early: content.early, service: content.service, update: AlarmUpdate(alarm),
                offset: offset, length: length))
        if content.id != 0 { ids.insert(content.id) }
    }

    /// The names of a thousand alarms are one name a thousand times.
    private func interned(_ entity: String) -> String {
        guard let last = entries.last?.entity, last.utf8.elementsEqual(entity.utf8) else { return entity }
        return last
    }

    func removeEntries(where isGone: (Entry) -> Bool) {
        entries.removeAll { entry in
            guard isGone(entry) else { return false }
            if entry.id != 0 { ids.remove(entry.id) }
            return true
        }
    }

    func removeTraces(where isGone: (AlarmTrace) -> Bool) {
        traces.removeAll { trace in
            guard isGone(trace) else { return false }
            ids.remove(trace.id)
            return true
        }
    }

    /// False when only alarms whose hooks must still run could make room.
    func makeRoom(for length: Int, now: MonotonicTime) throws(CacheFileError) -> Bool {
        guard end + length > options.limit else { return true }
        // Half of the limit for alarms and a quarter for traces leave a quarter free: a new file for each alarm would cost
        // too much.
        var bytes = entries.reduce(length) { $0 + $1.length }
        var gone: [Entry] = []
        for entry in entries where !entry.isOwed && bytes > options.limit / 2 {
            bytes -= entry.length
            gone.append(entry)
        }
        let new = gone.filter { $0.id != 0 }.map(AlarmTrace.init)
        // An alarm that hooks were owed to goes after later ones.
        let all = (traces + new).sorted { $0.number < $1.number }
        let kept = Array(all.suffix(options.limit / 4 / AlarmFormat.recordBytes))
        let others = AlarmFormat.headerBytes + kept.count * AlarmFormat.recordBytes + stateBytes
        guard others + bytes <= options.limit else { return false }
        do throws(CacheFileError) {
            try rewrite(dropping: Set(gone.map(\.number)), traces: kept, now: now)
        } catch {
            // The disk has no room for a second file, so this file may grow beyond the limit.
            guard isSound, end + length <= 2 * options.limit else { throw error }
        }
        return true
    }
}

extension AlarmJournal {
    /// Lists alarms. Leaves out a damaged alarm and counts it. Throws when the disk cannot be read.
    package func alarms(_ query: AlarmQuery, now: MonotonicTime) throws(CacheFileError) -> AlarmPage {
        try readIfNeeded(now: now)
        let matches = entries.filter { $0.matches(query) }
        let takesOldest = query.after != nil
        var chosen: [JournalAlarm] = []
        var bytes = 0
        var isCut = false
        for entry in takesOldest ? matches : matches.reversed() {
            guard chosen.count < max(0, query.limit), bytes + entry.length <= AlarmQuery.maximumBytes else {
                isCut = true
                break
            }
            guard let alarm = try read(entry, now: now) else {
                counters.damaged += 1
                continue
            }
            bytes += entry.length
            chosen.append(alarm)
        }
        return AlarmPage(alarms: takesOldest ? chosen : chosen.reversed(), isCut: isCut)
    }

    /// Alarms whose hooks must still run, the oldest first, without the numbers in `known`; at most `limit`. Leaves out
    /// what is damaged, and ends before an alarm that the disk refuses now: hooks run in the order of the alarms.
    ///
    /// Throws when the disk refuses the first of them, or the file.
    package func owed(
        limit: Int, without known: Set<UInt64> = [], now: MonotonicTime
    ) throws(CacheFileError) -> AlarmsAwaitingHooks {
        try readIfNeeded(now: now)
        var found: [JournalAlarm] = []
        for entry in entries where entry.isOwed && !known.contains(entry.number) {
            guard found.count < limit else { return AlarmsAwaitingHooks(alarms: found, isAll: false) }
            do throws(CacheFileError) {
                if let alarm = try read(entry, now: now) { found.append(alarm) }
            } catch {
                guard !found.isEmpty else { throw error }
                return AlarmsAwaitingHooks(alarms: found, isAll: false)
            }
        }
        return AlarmsAwaitingHooks(alarms: found, isAll: true)
    }
}

extension AlarmJournal.Entry {
    fileprivate func matches(_ query: AlarmQuery) -> Bool {
        if let after = query.after, number <= after { return false }
        if let from = query.from, time < from { return false }
        if let through = query.through, time > through { return false }
        if let type = query.type, self.type != type { return false }
        if let entity = query.entity, !self.entity.utf8.elementsEqual(entity.utf8) { return false }
        // The server's fences and the box's own are two spaces of numbers.
        if query.fences != nil || query.actions != nil, early != nil, query.type != 3 { return false }
        if let fences = query.fences, !(fence.map { fences.contains($0.fence) } ?? false) { return false }
        if let actions = query.actions, !(fence.map { actions.contains($0.action) } ?? false) { return false }
        return true
    }
}
