package import TrackCache

extension AlarmJournal {
    /// Lists alarms. Leaves out a damaged alarm and counts it. Throws when the disk cannot be read.
    package func alarms(_ query: AlarmQuery) throws(CacheFileError) -> AlarmPage {
        let matches = entries.filter { entry in
            if let after = query.after, entry.number <= after { return false }
            if let from = query.from, entry.time < from { return false }
            if let through = query.through, entry.time > through { return false }
            if let type = query.type, entry.type != type { return false }
            return true
        }
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
