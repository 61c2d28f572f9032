package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    struct KeptRouteJob {
        var record: RouteJobRecord
        var claim: (worker: Int64, end: Timestamp)?
        /// A worker has had it since it began to wait.
        var wasTried = false
    }

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
        routeJobs.append(KeptRouteJob(record: record))
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
        let free = routeJobs.indices.filter { index in
            let kept = routeJobs[index]
            return kept.record.state != .done && kept.claim.map { $0.end < now || $0.worker == worker } ?? true
        }
        let tried = routeJobs.filter { $0.record.state != .waiting || $0.wasTried }.map(\.record)
        let turns = Dictionary(tried.map { ($0.service, $0.modified) }, uniquingKeysWith: max)
        func due(_ index: Int) -> (Timestamp, Timestamp, Int64) {
            let record = routeJobs[index].record
            return (max(record.modified, turns[record.service] ?? record.modified), record.modified, record.number)
        }
        guard let index = free.min(by: { due($0) < due($1) }) else { return nil }
        (routeJobs[index].record.state, routeJobs[index].record.modified) = (.running, now)
        (routeJobs[index].claim, routeJobs[index].wasTried) = ((worker, end), true)
        return routeJobs[index].record
    }

    package func keepRouteJob(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) throws(TrackStoreError) -> Bool {
        guard let index = try claimedRouteJob(number, by: worker) else { return false }
        routeJobs[index].claim = (worker, end)
        return true
    }

    package func settleRouteJob(
        _ number: Int64, by worker: Int64, _ result: RouteJobResult?, at now: Timestamp
    ) throws(TrackStoreError) -> Bool {
        guard let index = try claimedRouteJob(number, by: worker) else { return false }
        routeJobs[index].claim = nil
        routeJobs[index].record.state = result == nil ? .waiting : .done
        routeJobs[index].record.result = result
        routeJobs[index].record.modified = now
        return true
    }

    private func claimedRouteJob(_ number: Int64, by worker: Int64) throws(TrackStoreError) -> Int? {
        try checkOpen()
        return routeJobs.firstIndex { $0.record.number == number && $0.claim?.worker == worker }
    }

    package func removeRouteJobs(doneBefore: Timestamp) throws(TrackStoreError) -> Int {
        try checkOpen()
        let former = routeJobs.count
        routeJobs.removeAll { $0.record.state == .done && $0.record.modified < doneBefore }
        return former - routeJobs.count
    }
}
