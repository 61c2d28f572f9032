import TrackCache
import TrackModel

@testable import AlarmLog

extension MonotonicTime {
    /// For tests in which no time passes.
    static let start = MonotonicTime(milliseconds: 5_000_000)
}

// The same in a moment that does not matter.
extension AlarmJournal {
    func append(_ content: NewAlarm, isOwed: Bool) throws(CacheFileError) -> Appended {
        try append(content, isOwed: isOwed, now: .start)
    }

    func append(_ verdict: FenceVerdict) throws(CacheFileError) -> FenceVerdict.Outcome {
        try append(verdict, now: .start)
    }

    func note(_ state: FenceState) throws(CacheFileError) { try note(state, now: .start) }

    func alarms(_ query: AlarmQuery) throws(CacheFileError) -> AlarmPage { try alarms(query, now: .start) }

    /// Empty also when the disk refuses.
    func owed(limit: Int, without known: Set<UInt64> = []) -> [Alarm] {
        (try? owed(limit: limit, without: known, now: .start))?.alarms ?? []
    }
}
