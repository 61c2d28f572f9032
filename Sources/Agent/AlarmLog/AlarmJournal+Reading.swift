package import TrackCache
package import TrackModel

extension AlarmJournal {
    /// Lists alarms. Leaves out a damaged alarm and counts it. Throws when the disk cannot be read.
    package func alarms(_ query: AlarmQuery, now: MonotonicTime) throws(CacheFileError) -> AlarmPage {
        try readIfNeeded(now: now)
        let matches = entries.filter { $0.matches(query) }
        let takesOldest = query.after != nil
        var chosen: [Alarm] = []
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
    ) throws(CacheFileError) -> OwedAlarms {
        try readIfNeeded(now: now)
        var found: [Alarm] = []
        for entry in entries where entry.isOwed && !known.contains(entry.number) {
            guard found.count < limit else { return OwedAlarms(alarms: found, isAll: false) }
            do throws(CacheFileError) {
                if let alarm = try read(entry, now: now) { found.append(alarm) }
            } catch {
                guard !found.isEmpty else { throw error }
                return OwedAlarms(alarms: found, isAll: false)
            }
        }
        return OwedAlarms(alarms: found, isAll: true)
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
