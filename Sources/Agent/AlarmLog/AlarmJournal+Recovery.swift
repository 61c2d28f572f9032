internal import DiskRing
internal import TrackModel

extension CacheFileError {
    /// ENOENT
    static let notThere: Int32 = 2
    /// EEXIST
    static let existsAlready: Int32 = 17
}

// Reading the file that an earlier process left, and writing it anew.
extension AlarmJournal {
    private var path: String { "\(directory)/\(Self.name)" }

    /// Reads the file if nobody has read it yet. Writes it anew if its end cannot be trusted.
    func makeReady(now: MonotonicTime) throws(CacheFileError) {
        try readIfNeeded(now: now)
        if !isSound { try rewrite(dropping: [], traces: traces, now: now) }
    }

    /// What stands in the file is known on return.
    func readIfNeeded(now: MonotonicTime) throws(CacheFileError) {
        if !hasRead { try readFile(now: now) }
    }

    private func readFile(now: MonotonicTime) throws(CacheFileError) {
        let found: CacheFile
        do throws(CacheFileError) {
            found = try files.openFile(path, .readOnly)
        } catch {
            guard error.number == CacheFileError.notThere else { throw error }
            hasRead = true
            return
        }
        do throws(CacheFileError) {
            guard try scan(found, now: now) else {
                files.close(found)
                // `hasRead` keeps later calls from reading the renamed file and putting a second one aside.
                try files.rename(path, to: path + ".damaged")
                counters.putAside += 1
                hasRead = true
                return
            }
        } catch {
            files.close(found)
            // Half of a file is none: nobody may take what was read for all there is.
            (entries, traces, ids, fenceStates, nextNumber) = ([], [], [], [], 1)
            throw error
        }
        file = found
        hasRead = true
    }

    /// False when the file is not an alarm journal.
    private func scan(_ file: CacheFile, now: MonotonicTime) throws(CacheFileError) -> Bool {
        // The journal writes at most twice the limit, and the limit may have been higher before. A longer file is foreign;
        // reading it stops here.
        let size = min(try files.size(of: file), 2 * Options.limits.upperBound)
        let header = try bytes(of: file, at: 0, count: min(size, AlarmFormat.headerBytes), now: now) ?? []
        guard !AlarmFormat.isOfLaterVersion(header) else { return false }
        let next = AlarmFormat.nextNumber(ofHeader: header)
        (entries, traces, ids, fenceStates, nextNumber) = ([], [], [], [], next ?? 1)
        (end, counters.damaged, counters.tornTails) = (AlarmFormat.headerBytes, 0, 0)
        var scanner = AlarmScanner(from: end, size: size) { offset, count throws(CacheFileError) in
            try self.bytes(of: file, at: offset, count: count, now: now)
        }
        var finished: Set<UInt64> = []
        var update: [UInt64: AlarmUpdate] = [:]
        while let found = try scanner.next() {
            end = found.end
            switch found.record {
            case .alarm(let alarm): addFound(alarm, at: found.offset, length: found.length)
            case .state(let state): keep(state)
            case .verdict(let parts):
                for part in parts {
                    switch part.record {
                    case .alarm(let alarm): addFound(alarm, at: found.offset + part.offset, length: part.length)
                    case .state(let state): keep(state)
                    case .finished, .update, .dropped, .verdict: break
                    }
                }
            case .finished(let number): finished.insert(number)
            case .update(let number, let new): update[number, default: AlarmUpdate()].add(new)
            case .dropped(let trace):
                guard ids.insert(trace.id).inserted else { continue }
                traces.append(trace)
                nextNumber = max(nextNumber, trace.number + 1)
            }
        }
        if next == nil {
            // A damaged header, or a file that was never a journal.
            guard end > AlarmFormat.headerBytes else { return false }
            counters.damaged += 1
        }
        counters.damaged += scanner.damaged
        if scanner.hasTornTail { counters.tornTails += 1 }
        // Earlier versions wrote them in the order in which their alarms were dropped.
        traces.sort { $0.number < $1.number }
        for index in entries.indices where areHooksOff || finished.contains(entries[index].number) {
            entries[index].isOwed = false
        }
        for index in entries.indices {
            if let new = update[entries[index].number] { entries[index].update.add(new) }
        }
        return true
    }

    private func addFound(_ alarm: JournalAlarm, at offset: Int, length: Int) {
        // Numbers ascend. A record with a lower number is a copy of an older one.
        guard alarm.number >= (entries.last?.number ?? 0) + 1 else { return }
        add(alarm, at: offset, length: length)
        nextNumber = max(nextNumber, alarm.number + 1)
    }

    /// Writes the file anew, without the alarms of these numbers, without records of what became of alarms and without states that
    /// others replaced. `newTraces`: the traces that it has, beside those of alarms that cannot be read any more. On return the new file is durable, and appending to it is safe.
    func rewrite(
        dropping gone: Set<UInt64>, traces newTraces: [AlarmTrace], now: MonotonicTime
    ) throws(CacheFileError) {
        do throws(CacheFileError) {
            try files.makeDirectory(directory)
        } catch {
            guard error.number == CacheFileError.existsAlready else { throw error }
        }
        let temporary = path + ".new"
        let new = try files.openFile(temporary, .replace)
        var kept: [Entry] = []
        // Their content is lost, and they must not be taken once more.
        var damaged: [Entry] = []
        var lost: [AlarmTrace] = []
        var position = AlarmFormat.headerBytes
        do throws(CacheFileError) {
            try files.writeFully(new, AlarmFormat.header(nextNumber: nextNumber), at: 0)
            for trace in newTraces {
                let record = AlarmFormat.encode(.dropped(trace))
                try files.writeFully(new, record, at: position)
                position += record.count
            }
            var refusal: CacheFileError?
            for entry in entries where !gone.contains(entry.number) {
                let alarm: JournalAlarm?
                do throws(CacheFileError) {
                    alarm = try read(entry, now: now)
                } catch {
                    // The others are tried all the same: their timeout must not begin when that of this one ends.
                    refusal = refusal ?? error
                    continue
                }
                guard refusal == nil else { continue }
                guard let alarm else {
                    damaged.append(entry)
                    continue
                }
                try files.writeFully(new, AlarmFormat.encode(.alarm(alarm)), at: position)
                var entry = entry
                entry.offset = position
                entry.hasUnsyncedUpdate = false
                kept.append(entry)
                position += entry.length
            }
            if let refusal { throw refusal }
            lost = damaged.filter { $0.id != 0 }.map(AlarmTrace.init)
            for trace in lost {
                let record = AlarmFormat.encode(.dropped(trace))
                try files.writeFully(new, record, at: position)
                position += record.count
            }
            for state in fenceStates {
                let record = AlarmFormat.encode(.state(state))
                try files.writeFully(new, record, at: position)
                position += record.count
            }
            try files.synchronizeFile(new, dataOnly: false)
            try files.rename(temporary, to: path)
        } catch {
            files.close(new)
            // A full disk needs the bytes of this file. If removing it fails too, the next attempt replaces it.
            try? files.unlink(temporary)
            throw error
        }
        if let file { files.close(file) }
        counters.damaged += damaged.count
        counters.dropped += gone.count
        file = new
        entries = kept
        alarmRetryLimits = [:]
        traces = (newTraces + lost).sorted { $0.number < $1.number }
        ids = Set(kept.map(\.id).filter { $0 != 0 } + traces.map(\.id))
        end = position
        // Until the new name is durable, a power cut may bring the old file back.
        isSound = false
        try files.synchronizeNames(in: directory)
        isSound = true
    }

    /// Nil when the disk has refused the file for so long that the journal gives up what cannot be read.
    private func bytes(
        of file: CacheFile, at offset: Int, count: Int, now: MonotonicTime
    ) throws(CacheFileError) -> [UInt8]? {
        do throws(CacheFileError) {
            return try files.bytes(of: file, at: offset, count: count)
        } catch {
            guard fileRetryLimit.refused(at: now) else { throw error }
            hasGivenUp = true
            return nil
        }
    }

    /// Nil when the record is damaged, or when the disk has refused it for so long that the journal gives it up. `isOwed`
    /// comes from the entry, because the record may be older.
    func read(_ entry: Entry, now: MonotonicTime) throws(CacheFileError) -> JournalAlarm? {
        guard let file else { return nil }
        let bytes: [UInt8]
        do throws(CacheFileError) {
            bytes = try files.bytes(of: file, at: entry.offset, count: entry.length)
            alarmRetryLimits[entry.number] = nil
        } catch {
            guard alarmRetryLimits[entry.number, default: ReadRetryLimit()].refused(at: now) else { throw error }
            hasGivenUp = true
            return nil
        }
        guard case .alarm(var alarm)? = AlarmFormat.decode(bytes), alarm.number == entry.number else { return nil }
        (alarm.isOwed, alarm.isConfirmed, alarm.report) = (
            entry.isOwed, entry.update.isConfirmed, entry.update.report
        )
        return alarm
    }
}
