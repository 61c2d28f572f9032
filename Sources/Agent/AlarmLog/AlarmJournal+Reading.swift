package import TrackCache

extension AlarmJournal {
    /// Lists alarms. Leaves out a damaged alarm and counts it. Throws when the disk cannot be read.
    package func alarms(_ query: AlarmQuery) throws(CacheFileError) -> AlarmPage {
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
            guard let alarm = try read(entry) else {
                counters.damaged += 1
                continue
            }
            bytes += entry.length
            chosen.append(alarm)
        }
        return AlarmPage(alarms: takesOldest ? chosen : chosen.reversed(), isCut: isCut)
    }

    /// Alarms whose hooks must still run, the oldest first, without the numbers in `known`. Leaves out what cannot be
    /// read.
    package func owed(limit: Int, without known: Set<UInt64> = []) -> [Alarm] {
        entries.lazy.filter { $0.isOwed && !known.contains($0.number) }.prefix(max(0, limit))
            .compactMap { entry -> Alarm? in
                do throws(CacheFileError) {
                    return try self.read(entry)
                } catch {
                    return nil
                }
            }
    }
}

extension AlarmJournal.Entry {
    fileprivate func matches(_ query: AlarmQuery) -> Bool {
        if let after = query.after, number <= after { return false }
        if let from = query.from, time < from { return false }
        if let through = query.through, time > through { return false }
        if let type = query.type, self.type != type { return false }
        if let entity = query.entity, !self.entity.utf8.elementsEqual(entity.utf8) { return false }
        if let fences = query.fences, !(fence.map { fences.contains($0.fence) } ?? false) { return false }
        if let actions = query.actions, !(fence.map { actions.contains($0.action) } ?? false) { return false }
        return true
    }
}
