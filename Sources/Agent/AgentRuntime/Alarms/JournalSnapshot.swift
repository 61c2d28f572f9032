internal import AlarmLog
internal import TrackCache

/// The state of the alarm journal after its last operation. The status tells it without waiting for the disk.
struct JournalSnapshot: Sendable {
    var kept = 0
    var lastNumber: UInt64 = 0
    var counters = AlarmJournal.Counters()
    var trouble: CacheFileError?
    /// Alarms whose hooks have not all ended.
    var owed = 0
    /// Alarms that the server is to be told of.
    var reports = 0

    init() {}

    init(_ journal: AlarmJournal) {
        kept = journal.count
        lastNumber = journal.lastNumber
        counters = journal.counters
        trouble = journal.trouble
        owed = journal.owedCount
        reports = journal.reportCount
    }
}
