package import TrackModel
package import TrackStore

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
