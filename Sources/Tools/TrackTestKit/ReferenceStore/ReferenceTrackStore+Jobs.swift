package import TrackModel
package import TrackStore

/// What jobs of exports and of frequent routes have in common.
protocol ClaimableJob {
    associatedtype Result
    var number: Int64 { get }
    var service: ServiceID { get }
    var modified: Timestamp { get set }
    var isWaiting: Bool { get }
    var isDone: Bool { get }
    mutating func begin()
    /// Done with a result; without one it waits again.
    mutating func end(_ result: Result?)
}

extension ExportRecord: ClaimableJob {
    var isWaiting: Bool { state == .waiting }
    var isDone: Bool { state == .done }
    mutating func begin() { state = .running }
    mutating func end(_ result: ExportResult?) { (state, self.result) = (result == nil ? .waiting : .done, result) }
}

extension RouteJobRecord: ClaimableJob {
    var isWaiting: Bool { state == .waiting }
    var isDone: Bool { state == .done }
    mutating func begin() { state = .running }
    mutating func end(_ result: RouteJobResult?) { (state, self.result) = (result == nil ? .waiting : .done, result) }
}

/// A job of the reference store, with the worker that has it.
struct KeptJob<Record: ClaimableJob> {
    var record: Record
    var claim: (worker: Int64, end: Timestamp)?
    /// A worker has had it since it began to wait.
    var wasTried = false
}

extension Array {
    /// Gives a worker the job that has been due for longest: since it waits, or since its service last had a worker.
    mutating func claim<Record>(by worker: Int64, at now: Timestamp, through end: Timestamp) -> Record?
    where Element == KeptJob<Record> {
        let free = indices.filter { index in
            !self[index].record.isDone && self[index].claim.map { $0.end < now || $0.worker == worker } ?? true
        }
        let tried = filter { !$0.record.isWaiting || $0.wasTried }.map(\.record)
        let last = Dictionary(tried.map { ($0.service, $0.modified) }, uniquingKeysWith: Swift.max)
        func due(_ index: Int) -> (Timestamp, Timestamp, Int64) {
            let record = self[index].record
            return (Swift.max(record.modified, last[record.service] ?? record.modified), record.modified, record.number)
        }
        guard let index = free.min(by: { due($0) < due($1) }) else { return nil }
        self[index].record.begin()
        self[index].record.modified = now
        (self[index].claim, self[index].wasTried) = ((worker, end), true)
        return self[index].record
    }

    /// False: the worker does not have the job any more.
    mutating func keep<Record>(_ number: Int64, by worker: Int64, through end: Timestamp) -> Bool
    where Element == KeptJob<Record> {
        guard let index = claimed(number, by: worker) else { return false }
        self[index].claim = (worker, end)
        return true
    }

    /// False: the worker does not have the job any more.
    mutating func settle<Record>(
        _ number: Int64, by worker: Int64, _ result: Record.Result?, at now: Timestamp
    ) -> Bool where Element == KeptJob<Record> {
        guard let index = claimed(number, by: worker) else { return false }
        self[index].claim = nil
        self[index].record.end(result)
        self[index].record.modified = now
        return true
    }

    private func claimed<Record>(_ number: Int64, by worker: Int64) -> Int? where Element == KeptJob<Record> {
        firstIndex { $0.record.number == number && $0.claim?.worker == worker }
    }

    /// Returns how many were removed.
    mutating func remove<Record>(doneBefore: Timestamp) -> Int where Element == KeptJob<Record> {
        let former = count
        removeAll { $0.record.isDone && $0.record.modified < doneBefore }
        return former - count
    }
}

extension ReferenceTrackStore {
    package func addExport(
        _ order: ExportOrder, token: String, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> ExportRecord {
        try check(service)
        guard
            exportList.count(where: { $0.record.service == service && $0.record.state != .done })
                < ExportRules.mostUnfinished
        else { throw TrackStoreError(.tooManyExports, "too many jobs of the service are not done") }
        lastExport += 1
        let record = ExportRecord(
            number: lastExport, service: service, order: order, token: token, created: now, modified: now,
            state: .waiting)
        exportList.append(KeptJob(record: record))
        return record
    }

    package func exports(
        in service: ServiceID, doneSince: Timestamp
    ) throws(TrackStoreError) -> [ExportRecord] {
        try check(service)
        return exportList.map(\.record).filter {
            $0.service == service && ($0.state != .done || $0.modified >= doneSince)
        }
    }

    package func export(token: String) throws(TrackStoreError) -> ExportRecord? {
        try checkOpen()
        return exportList.map(\.record).first { $0.token == token }
    }

    package func deleteExport(_ number: Int64, in service: ServiceID) throws(TrackStoreError) {
        try checkOpen()
        let index = exportList.firstIndex { $0.record.number == number && $0.record.service == service }
        guard let index else { throw TrackStoreError(.unknownExport, "the service has no job of this number") }
        exportList.remove(at: index)
    }

    package func claimExport(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) throws(TrackStoreError) -> ExportRecord? {
        try checkOpen()
        return exportList.claim(by: worker, at: now, through: end)
    }

    package func keepExport(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) throws(TrackStoreError) -> Bool {
        try checkOpen()
        return exportList.keep(number, by: worker, through: end)
    }

    package func settleExport(
        _ number: Int64, by worker: Int64, _ result: ExportResult?, at now: Timestamp
    ) throws(TrackStoreError) -> Bool {
        try checkOpen()
        return exportList.settle(number, by: worker, result, at: now)
    }

    package func removeExports(doneBefore: Timestamp) throws(TrackStoreError) -> Int {
        try checkOpen()
        return exportList.remove(doneBefore: doneBefore)
    }

    package func exportTokens() throws(TrackStoreError) -> Set<String> {
        try checkOpen()
        return Set(exportList.map(\.record.token))
    }

    package func exportUses() throws(TrackStoreError) -> [ServiceID: ExportUse] {
        try checkOpen()
        var uses: [ServiceID: ExportUse] = [:]
        for record in exportList.map(\.record) {
            guard let result = record.result else { continue }
            uses[record.service, default: ExportUse(files: 0, bytes: 0)].files += 1
            uses[record.service]?.bytes += result.bytes
        }
        return uses
    }

    package func exportCounts() throws(TrackStoreError) -> [ExportRecord.State: Int] {
        try checkOpen()
        return Dictionary(exportList.map { ($0.record.state, 1) }, uniquingKeysWith: +)
    }

    package func exportedEntities(
        in service: ServiceID, from: Timestamp, through: Timestamp, after: Int64, limit: Int
    ) throws(TrackStoreError) -> [ExportedEntity] {
        try checkOpen()
        let found = entityTable.filter { key, entity in
            key.service == service && entity.number > after
                && entity.points.contains { (from...max(from, through)).contains($0.point.fix.time) }
        }
        return found.map { ExportedEntity(number: $0.value.number, name: $0.value.record.name) }
            .sorted { $0.number < $1.number }.prefix(max(0, limit)).map { $0 }
    }
}

extension ReferenceTrackStore {
    package func addRouteJob(
        _ order: RouteJobOrder, in service: ServiceID, at now: Timestamp, renewing: Timestamp
    ) throws(TrackStoreError) -> RouteJobRecord {
        try check(service)
        guard try entity(named: order.entity.text, in: service) != nil else {
            throw TrackStoreError(.unknownEntity, "the service has no entity '\(order.entity.text)'")
        }
        let index = routeJobs.firstIndex { $0.record.service == service && $0.record.order == order }
        if let index, routeJobs[index].record.state != .done || routeJobs[index].record.modified >= renewing {
            return routeJobs[index].record
        }
        guard
            routeJobs.count(where: { $0.record.service == service && $0.record.state != .done })
                < RouteJobRules.mostUnfinished
        else { throw TrackStoreError(.tooManyRouteJobs, "too many jobs of the service are not done") }
        if let index {
            (routeJobs[index].record.state, routeJobs[index].record.modified) = (.waiting, now)
            (routeJobs[index].record.result, routeJobs[index].wasTried) = (nil, false)
            return routeJobs[index].record
        }
        lastRouteJob += 1
        let record = RouteJobRecord(
            number: lastRouteJob, service: service, order: order, created: now, modified: now, state: .waiting)
        routeJobs.append(KeptJob(record: record))
        let done = routeJobs.map(\.record).filter { $0.service == service && $0.state == .done }
        let surplus = done.sorted { ($0.modified, $0.number) > ($1.modified, $1.number) }
            .dropFirst(RouteJobRules.mostDone).map(\.number)
        routeJobs.removeAll { surplus.contains($0.record.number) }
        return record
    }

    package func routeJob(
        _ order: RouteJobOrder, in service: ServiceID
    ) throws(TrackStoreError) -> RouteJobRecord? {
        try check(service)
        return routeJobs.map(\.record).first { $0.service == service && $0.order == order }
    }

    package func claimRouteJob(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) throws(TrackStoreError) -> RouteJobRecord? {
        try checkOpen()
        return routeJobs.claim(by: worker, at: now, through: end)
    }

    package func keepRouteJob(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) throws(TrackStoreError) -> Bool {
        try checkOpen()
        return routeJobs.keep(number, by: worker, through: end)
    }

    package func settleRouteJob(
        _ number: Int64, by worker: Int64, _ result: RouteJobResult?, at now: Timestamp
    ) throws(TrackStoreError) -> Bool {
        try checkOpen()
        return routeJobs.settle(number, by: worker, result, at: now)
    }

    package func removeRouteJobs(doneBefore: Timestamp) throws(TrackStoreError) -> Int {
        try checkOpen()
        return routeJobs.remove(doneBefore: doneBefore)
    }
}
