package import Geodesy
import Geofencing
package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    struct KeptAlarm {
        let service: ServiceID
        let record: AlarmRecord
    }

    /// Where the alarms of a service go, and which wait.
    struct CallbackQueue {
        var target: CallbackTarget
        /// Numbers of alarms, ascending, and when each was tried first.
        var waiting: [(number: Int64, firstTried: Timestamp?)] = []
        var retryAt: Timestamp?
        var claim: (sender: Int64, end: Timestamp)?

        func isDue(at now: Timestamp) -> Bool {
            !waiting.isEmpty && retryAt.map { $0 <= now } ?? true
        }

        func isClaimed(at now: Timestamp, by other: (Int64) -> Bool) -> Bool {
            claim.map { $0.end >= now && other($0.sender) } ?? false
        }
    }

    /// What the points of a batch cause, once for each key.
    func keepAlarms(_ batch: IngestBatch) throws(TrackStoreError) {
        for caused in batch.alarms {
            let isKnown = alarmList.contains { $0.service == batch.service && $0.record.alarm.key == caused.alarm.key }
            guard !isKnown else { continue }
            lastAlarm += 1
            let record = AlarmRecord(
                number: lastAlarm, entity: batch.entity, alarm: caused.alarm, received: batch.received)
            alarmList.append(KeptAlarm(service: batch.service, record: record))
            for push in caused.pushes { try queue(push, in: batch.service, at: batch.received) }
            if caused.isCalledBack { callbackTable[batch.service]?.waiting.append((lastAlarm, nil)) }
        }
    }

    package func alarms(
        in service: ServiceID, matching filter: AlarmFilter, page: Page
    ) throws(TrackStoreError) -> (total: Int, alarms: [AlarmRecord]) {
        try checkOpen()
        let numbers = filter.fences.map { Set($0) }
        guard numbers.map({ $0.count <= FenceRules.mostNumbers }) ?? true else {
            throw TrackStoreError(.tooManyNames, "a filter takes at most \(FenceRules.mostNumbers) fences")
        }
        let found = alarmList.filter { $0.service == service }.map(\.record).filter { record in
            if let entity = filter.entity, ExactName(entity) != ExactName(record.entity) { return false }
            if let from = filter.from, record.received < from { return false }
            if let through = filter.through, record.received > through { return false }
            if let source = filter.source, record.alarm.source != source { return false }
            return (filter.includesStale || !record.alarm.isStale) && (numbers?.contains(record.alarm.fence) ?? true)
                && (filter.actions?.contains(record.alarm.action) ?? true)
        }
        .sorted { ($0.received, $0.number) < ($1.received, $1.number) }
        return (found.count, Array(found.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))))
    }

    package func removeAlarms(before time: Timestamp, limit: Int) throws(TrackStoreError) -> Int {
        try checkOpen()
        let old = Set(alarmList.map(\.record).filter { $0.received < time }.map(\.number).prefix(max(0, limit)))
        alarmList.removeAll { old.contains($0.record.number) }
        for service in callbackTable.keys { callbackTable[service]?.waiting.removeAll { old.contains($0.number) } }
        return old.count
    }

    // MARK: Callbacks

    package func setCallback(_ target: CallbackTarget?, of service: ServiceID) throws(TrackStoreError) {
        try check(service)
        guard let target else {
            callbackTable[service] = nil
            return
        }
        if let problem = target.problem { throw TrackStoreError(.failed, problem) }
        let waiting = callbackTable[service]?.waiting ?? []
        callbackTable[service] = CallbackQueue(target: target, waiting: waiting.map { ($0.number, nil) })
    }

    package func callback(of service: ServiceID) throws(TrackStoreError) -> CallbackTarget? {
        try check(service)
        return callbackTable[service]?.target
    }

    package func dueCallbacks(at now: Timestamp, limit: Int) throws(TrackStoreError) -> [ServiceID] {
        try checkOpen()
        let due = callbackTable.filter { $0.value.isDue(at: now) && !$0.value.isClaimed(at: now) { _ in true } }
        return Array(due.keys.sorted { $0.rawValue < $1.rawValue }.prefix(max(0, limit)))
    }

    package func claimCallbacks(
        of service: ServiceID, by sender: Int64, at now: Timestamp, through end: Timestamp, limit: Int
    ) throws(TrackStoreError) -> CallbackClaim? {
        try checkOpen()
        guard let queue = callbackTable[service], queue.isDue(at: now), limit > 0,
            !queue.isClaimed(at: now, by: { $0 != sender })
        else { return nil }
        callbackTable[service]?.claim = (sender, end)
        let callbacks = queue.waiting.prefix(limit).compactMap { waiting in
            alarmList.first { $0.record.number == waiting.number }.map {
                QueuedCallback(alarm: $0.record, firstTried: waiting.firstTried)
            }
        }
        return CallbackClaim(target: queue.target, callbacks: callbacks)
    }

    package func settleCallbacks(
        _ settlement: CallbackSettlement, by sender: Int64
    ) throws(TrackStoreError) -> Bool {
        try checkOpen()
        guard var queue = callbackTable[settlement.service], queue.claim?.sender == sender else { return false }
        queue.waiting.removeAll { settlement.ended.contains($0.number) }
        for index in queue.waiting.indices where settlement.failed.contains(queue.waiting[index].number) {
            queue.waiting[index].firstTried = queue.waiting[index].firstTried ?? settlement.time
        }
        (queue.retryAt, queue.claim) = (settlement.retryAt, nil)
        callbackTable[settlement.service] = queue
        return true
    }

    // MARK: Districts

    package func replaceDistricts(
        of source: String, with districts: [NewDistrict]
    ) throws(TrackStoreError) {
        try checkOpen()
        if let problem = NewDistrict.problem(of: districts) { throw TrackStoreError(.failed, problem) }
        districtList.removeAll { ExactName($0.entry.source) == ExactName(source) }
        let first = lastDistrict + 1
        for district in districts {
            lastDistrict += 1
            let entry = DistrictEntry(
                id: lastDistrict, name: district.name, parent: district.parent.map { first + Int64($0) }, source: source
            )
            districtList.append((entry, district.shape))
        }
        districtVersion += 1
    }

    package func districts(
        unless known: Int64?
    ) throws(TrackStoreError) -> (version: Int64, entries: [DistrictEntry]?) {
        try checkOpen()
        return (districtVersion, known == districtVersion ? nil : districtList.map(\.entry))
    }

    package func districtShape(_ id: Int64) throws(TrackStoreError) -> ShapeDraft? {
        try checkOpen()
        return districtList.first { $0.entry.id == id }?.shape
    }
}
