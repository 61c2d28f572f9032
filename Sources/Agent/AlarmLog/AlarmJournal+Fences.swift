package import DiskRing
package import TrackModel

// Alarms of the box's own fences. An alarm and the state that follows from it are one record: whoever finds the state
// finds the alarm.
extension AlarmJournal {
    /// Appends alarms with the state that follows from them; they are durable on return, all or none.
    ///
    /// Throws when the disk refuses. Then the journal has neither the alarms nor the state, and the caller may append them
    /// again. Bodies and entities must be within the limits of ``NewAlarm``.
    package func append(
        _ verdict: FenceJournalRecord, now: MonotonicTime
    ) throws(CacheFileError) -> FenceJournalRecord.Outcome {
        do throws(CacheFileError) {
            let outcome = try write(verdict, now: now)
            trouble = nil
            return outcome
        } catch {
            trouble = error
            throw error
        }
    }

    /// Keeps a state from which no alarm follows. It survives the end of the process; a power cut may lose it, and then an
    /// earlier state is found.
    ///
    /// Throws when the disk refuses, or when the journal has no room for a state of this size.
    package func note(_ state: JournalFenceState, now: MonotonicTime) throws(CacheFileError) {
        do throws(CacheFileError) {
            try makeReady(now: now)
            let record = AlarmFormat.encode(.state(state))
            guard record.count <= mostStateBytes, try makeRoom(forNote: record.count, now: now) else {
                throw CacheFileError(.write, Self.noSpace)
            }
            try putUnsynchronised(record)
            keep(state)
            trouble = nil
        } catch {
            trouble = error
            throw error
        }
    }

    /// ENOSPC
    private static let noSpace: Int32 = 28

    private var mostStateBytes: Int { min(AlarmFormat.maximumVerdictBytes, options.limit / 4) }

    private func write(
        _ verdict: FenceJournalRecord, now: MonotonicTime
    ) throws(CacheFileError) -> FenceJournalRecord.Outcome {
        try makeReady(now: now)
        var (appended, parts): ([Appended], [AlarmFormat.Part]) = ([], [])
        var (fresh, number): (Set<UInt64>, UInt64) = ([], nextNumber)
        for told in verdict.alarms {
            let id = told.content.id
            guard id == 0 || (!ids.contains(id) && fresh.insert(id).inserted) else {
                appended.append(.known)
                continue
            }
            let alarm = JournalAlarm(
                number: number, content: told.content, isOwed: told.isOwed,
                report: told.isReported ? .wanted : .none)
            number += 1
            appended.append(.new(alarm))
            parts.append(AlarmFormat.Part(offset: 0, length: 0, record: .alarm(alarm)))
        }
        parts.append(AlarmFormat.Part(offset: 0, length: 0, record: .state(verdict.state)))
        let record = AlarmFormat.encode(.verdict(parts))
        guard AlarmFormat.encode(.state(verdict.state)).count <= mostStateBytes,
            record.count <= min(AlarmFormat.maximumVerdictBytes, options.limit / 2),
            try makeRoom(for: record.count, now: now)
        else { return .full }
        var offset = end + AlarmFormat.recordBytes
        try put(record)
        for case .new(let alarm) in appended {
            let length = AlarmFormat.encode(.alarm(alarm)).count
            add(alarm, at: offset, length: length)
            offset += length
        }
        nextNumber = number
        keep(verdict.state)
        return .taken(appended)
    }

    /// Bytes of the states in a new file.
    var stateBytes: Int {
        fenceStates.reduce(0) { $0 + AlarmFormat.recordBytes + $1.entity.utf8.count + $1.fenceState.count }
    }

    /// The newest state of its entity. Of too many entities, or too large ones, those that changed longest ago go.
    func keep(_ state: JournalFenceState) {
        fenceStates.removeAll { $0.isAbout(state) }
        fenceStates.append(state)
        while fenceStates.count > 1,
            fenceStates.count > JournalFenceState.maximumEntities || stateBytes > max(mostStateBytes, 1)
        {
            fenceStates.removeFirst()
        }
    }

    /// A note never drops an alarm: it only makes room where replaced records are.
    private func makeRoom(forNote length: Int, now: MonotonicTime) throws(CacheFileError) -> Bool {
        guard end + length > options.limit else { return true }
        let live =
            AlarmFormat.headerBytes + traces.count * AlarmFormat.recordBytes + stateBytes
            + entries.reduce(0) { $0 + $1.length }
        // A new file for each note would cost too much.
        guard end - live >= options.limit / 8 else { return end + length <= 2 * options.limit }
        try rewrite(dropping: [], traces: traces, now: now)
        return end + length <= 2 * options.limit
    }
}

/// Alarms of the box's own fences, and the state that follows from them. The journal has all of it or nothing.
package struct FenceJournalRecord: Hashable, Sendable {
    package struct Told: Hashable, Sendable {
        package var content: NewAlarm
        /// Hooks must run for it.
        package var isOwed: Bool
        /// The server is to be told of it.
        package var isReported: Bool

        package init(content: NewAlarm, isOwed: Bool, isReported: Bool = false) {
            self.content = content
            self.isOwed = isOwed
            self.isReported = isReported
        }
    }

    package enum Outcome: Hashable, Sendable {
        /// For each alarm what became of it.
        case taken([AlarmJournal.Appended])
        /// Alarms whose hooks must still run fill the journal, or the verdict is larger than half of it.
        case full
    }

    package var alarms: [Told]
    package var state: JournalFenceState

    package init(alarms: [Told], state: JournalFenceState) {
        self.alarms = alarms
        self.state = state
    }
}

/// What is remembered of one entity and the fences of the box, as bytes that the journal does not read.
package struct JournalFenceState: Hashable, Sendable {
    package var entity: String
    /// The newest point that was judged, by GNSS time, milliseconds since 1970.
    package var time: Int64
    package var fenceState: [UInt8]
    /// Of the server's fences of this service; nil: of the box's own fences.
    package var service: Int64?

    package init(entity: String, time: Int64, fenceState: [UInt8], service: Int64? = nil) {
        self.entity = entity
        self.time = time
        self.fenceState = fenceState
        self.service = service
    }

    func isAbout(_ other: JournalFenceState) -> Bool {
        service == other.service && entity.utf8.elementsEqual(other.entity.utf8)
    }

    /// Entities whose states the journal keeps. A box runs as one entity, and rarely as another.
    package static let maximumEntities = 16
}
