package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    package func holdings(of service: ServiceID) throws(TrackStoreError) -> ServiceHoldings {
        try check(service)
        let entities = entityTable.filter { $0.key.service == service }.values
        return ServiceHoldings(
            entities: entities.count, points: entities.reduce(0) { $0 + $1.points.count },
            keys: keyList.count { $0.service == service }, devices: deviceList.count { $0.service == service })
    }

    /// Tokens stay in their list, because their numbers count up; nobody finds those of a former service.
    package func deleteService(_ service: ServiceID) throws(TrackStoreError) {
        try check(service)
        formerServices.insert(service)
        serviceList.removeAll { $0.id == service }
        keyList.removeAll { $0.service == service }
        for device in deviceList where device.service == service { noteChange(of: device.id) }
        deviceList.removeAll { $0.service == service }
        for kind in [ColumnKind.track, .entity] { columnTable[ColumnTable(service: service, kind: kind)] = nil }
        fenceTable[service] = nil
        fenceNewsList.removeAll { $0.news.service == service }
        callbackTable[service] = nil
        alarmList.removeAll { $0.service == service }
        fenceStates.removeAll { $0.service == service }
        pushList.removeAll { $0.service == service }
        exportList.removeAll { $0.record.service == service }
        routeJobs.removeAll { $0.record.service == service }
    }

    package func removeDeletedServices(limit: Int) throws(TrackStoreError) -> Int {
        try checkOpen()
        let keys = entityTable.keys.filter { formerServices.contains($0.service) }.prefix(max(1, limit))
        for key in keys {
            entityTable[key] = nil
            forgetTraces(of: key)
        }
        return keys.count
    }

    package func deletedServices(among services: Set<ServiceID>) throws(TrackStoreError) -> Set<ServiceID> {
        try checkOpen()
        return services.intersection(formerServices)
    }
}
