package import DiskRing
package import TrackModel

// Early alarms and what the server says of them, and alarms that the server is to be told of.
extension AlarmJournal {
    /// A push has come whose number the journal knows. Of an early alarm the journal notes durably that the server told it
    /// too: the server sends no push again that was acknowledged.
    func confirm(_ push: NewAlarm) throws(CacheFileError) -> Appended {
        // Whoever waits for the push of an early alarm must hear that it came.
        if let trace = traces.last(where: { $0.id == push.id }) { return .dropped(trace.number) }
        guard push.early == nil,
            let index = entries.lastIndex(where: {
                $0.id == push.id && $0.early != nil && (!$0.update.isConfirmed || $0.hasUnsyncedUpdate)
            })
        else { return .known }
        let isNew = !entries[index].update.isConfirmed
        var update = AlarmUpdate()
        update.isConfirmed = true
        try put(AlarmFormat.encode(.update(entries[index].number, update)))
        entries[index].update.add(update)
        entries[index].hasUnsyncedUpdate = false
        return isNew ? .confirmed(entries[index].number) : .known
    }

    /// Early alarms that the server has neither told nor been told of, in the order of their numbers.
    package func unconfirmed(now: MonotonicTime) throws(CacheFileError) -> [UnconfirmedAlarm] {
        try readIfNeeded(now: now)
        return entries.compactMap { entry in
            guard let mark = entry.early, let fence = entry.fence, entry.isUnconfirmed else { return nil }
            return UnconfirmedAlarm(
                number: entry.number, id: entry.id, mark: mark, entity: entry.entity, fence: fence.fence)
        }
    }

    /// Alarms that the server is to be told of.
    package var reportCount: Int { entries.count { $0.update.report == .wanted } }

    /// How many of them are of another entity, or were found in another service.
    package func foreignReportCount(besides entity: String, of service: Int64) -> Int {
        entries.count { $0.update.report == .wanted && !$0.isReported(as: entity, to: service) }
    }

    /// The oldest alarms of an entity and a service that the server is to be told of. Leaves out what is damaged.
    ///
    /// Throws when the disk refuses one of them.
    package func reports(
        of entity: String, service: Int64, limit: Int, bytes: Int, now: MonotonicTime
    ) throws(CacheFileError) -> [JournalAlarm] {
        try readIfNeeded(now: now)
        var (found, length): ([JournalAlarm], Int) = ([], 0)
        for entry in entries where entry.update.report == .wanted && entry.isReported(as: entity, to: service) {
            guard found.count < limit, found.isEmpty || length + entry.length <= bytes else { break }
            guard let alarm = try read(entry, now: now) else { continue }
            length += entry.length
            found.append(alarm)
        }
        return found
    }

    /// Whether the server is to be told of alarms, or what it has answered. An early alarm that the server has taken is
    /// confirmed. Not synchronised: after a power cut the agent tells the server once more, and the server knows the key.
    package func note(_ report: ReportState, of numbers: Set<UInt64>) {
        for index in entries.indices where numbers.contains(entries[index].number) {
            var update = AlarmUpdate()
            update.report = report
            update.isConfirmed = report == .done && entries[index].early != nil
            entries[index].update.add(update)
            entries[index].hasUnsyncedUpdate = true
            guard isSound else { continue }
            let record = AlarmFormat.encode(.update(entries[index].number, update))
            guard end + record.count <= 2 * options.limit else { continue }
            // After an error the note stays in memory, and the next new file contains it.
            try? putUnsynchronised(record)
        }
    }

    /// The server has forgotten these points, and perhaps reports too: it is to be told of the alarms of an entity and a
    /// service that it may not have any more. Returns how many these are; durable on return. It knows the keys of those that it
    /// has.
    ///
    /// Throws when the disk refuses. What was noted then stays in memory.
    package func reportAgain(
        of entity: String, service: Int64, without points: ForgottenPoints, now: MonotonicTime
    ) throws(CacheFileError) -> Int {
        try makeReady(now: now)
        guard
            points.isCertain || entries.contains(where: { $0.isReported(as: entity, to: service) && $0.proves(points) })
        else { return 0 }
        var update = AlarmUpdate()
        update.report = .wanted
        var count = 0
        for index in entries.indices
        where entries[index].isReported(as: entity, to: service) && entries[index].mayBeLost(with: points) {
            entries[index].update.add(update)
            count += 1
            let record = AlarmFormat.encode(.update(entries[index].number, update))
            guard end + record.count <= 2 * options.limit else { continue }
            try putUnsynchronised(record)
        }
        guard count > 0, let file else { return count }
        do throws(CacheFileError) {
            // The next login may find the server ahead of these points again.
            try files.synchronizeFile(file, dataOnly: true)
        } catch {
            isSound = false
            throw error
        }
        return count
    }
}

extension AlarmJournal.Entry {
    /// An earlier version wrote no service: its alarms go to the service that the agent runs for.
    fileprivate func isReported(as entity: String, to service: Int64) -> Bool {
        entity.utf8.elementsEqual(self.entity.utf8) && service == self.service ?? service
    }

    /// A server that has forgotten these points may have forgotten this alarm.
    fileprivate func mayBeLost(with points: ForgottenPoints) -> Bool {
        switch update.report {
        // It was told after the point, or without it.
        case .done: return true
        case .wanted, .refused: return false
        case .none:
            // A point of another stream: nobody knows. A later one may come again, and the server may find nothing then: it
            // judges from places, and by fences, of before.
            guard let early else { return false }
            return early.stream == points.stream ? early.sequence >= points.sequences.lowerBound : update.isConfirmed
        }
    }

    /// The server had found this alarm, so it had one of these points or a later one. It may have a reported one without its
    /// point.
    fileprivate func proves(_ points: ForgottenPoints) -> Bool {
        guard let early, update.isConfirmed, update.report == .none else { return false }
        return early.stream == points.stream && early.sequence >= points.sequences.lowerBound
    }

    fileprivate var isUnconfirmed: Bool { early != nil && !update.isConfirmed && update.report == .none }
}
