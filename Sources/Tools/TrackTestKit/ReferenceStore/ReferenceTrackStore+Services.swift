package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    package func createService(
        named name: String, numbered number: ServiceID?, at now: Timestamp
    ) throws(TrackStoreError) -> ServiceRecord {
        try checkOpen()
        let taken = formerServices.union(serviceList.map(\.id))
        if let number, taken.contains(number) {
            throw TrackStoreError(.serviceExists, "there is or was such a service")
        }
        guard let id = number ?? ServiceID(rawValue: (taken.max()?.rawValue ?? 0) + 1) else {
            throw TrackStoreError(.failed, "every service number is taken")
        }
        let record = ServiceRecord(id: id, name: name, created: now)
        serviceList.append(record)
        serviceList.sort { $0.id < $1.id }
        return record
    }

    package func services() throws(TrackStoreError) -> [ServiceRecord] {
        try checkOpen()
        return serviceList
    }

    package func addKey(
        _ key: KeyGrant, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) throws(TrackStoreError) {
        try check(service)
        if replacing {
            for index in keyList.indices where keyList[index].service == service {
                keyList[index].isDisabled = true
            }
        }
        keyList.removeAll { $0.service == service && $0.hash == key.hash }
        keyList.append(
            AccessKeyRecord(
                hash: key.hash, service: service, secret: key.secret, isDisabled: false, rights: key.rights))
        keyTimes[AccessKeyUse(service: service, hash: key.hash)] = now
    }

    package func keys(matching hash: AccessKeyHash) throws(TrackStoreError) -> [AccessKeyRecord] {
        try checkOpen()
        return keyList.filter { $0.hash == hash }.sorted { $0.service < $1.service }.map { key in
            var key = key
            key.appCode = serviceList.first { $0.id == key.service }?.appCode
            return key
        }
    }

    package func signingKeys() throws(TrackStoreError) -> [AccessKeyRecord] {
        try checkOpen()
        return keyList.filter { $0.secret != nil }.sorted { $0.service < $1.service }
    }

    package func replaceSecret(with secret: String, of use: AccessKeyUse) throws(TrackStoreError) {
        try checkOpen()
        for index in keyList.indices {
            let key = keyList[index]
            guard key.service == use.service, key.hash == use.hash, key.secret != nil else { continue }
            keyList[index].secret = secret
        }
    }

    package func endedKeys(
        among uses: Set<AccessKeyUse>, at now: Timestamp
    ) throws(TrackStoreError) -> Set<AccessKeyUse> {
        try checkOpen()
        let valid = keyList.filter { !$0.isDisabled && !$0.rights.hasEnded(at: now) }.map {
            AccessKeyUse(service: $0.service, hash: $0.hash)
        }
        return uses.subtracting(valid)
    }

    package func keys(of service: ServiceID) throws(TrackStoreError) -> [KeyListing] {
        try checkOpen()
        return keyList.filter { $0.service == service }.map { key in
            let created = keyTimes[AccessKeyUse(service: service, hash: key.hash)]
            return KeyListing(
                hash: key.hash, created: created ?? Timestamp(milliseconds: 0), isSigned: key.secret != nil,
                isDisabled: key.isDisabled, rights: key.rights)
        }
    }

    package func setKey(_ use: AccessKeyUse, isDisabled: Bool) throws(TrackStoreError) {
        try checkOpen()
        for index in keyList.indices where keyList[index].service == use.service && keyList[index].hash == use.hash {
            keyList[index].isDisabled = isDisabled
        }
    }

    package func renameService(_ service: ServiceID, to name: String) throws(TrackStoreError) {
        try check(service)
        for index in serviceList.indices where serviceList[index].id == service { serviceList[index].name = name }
    }

    package func setAppCode(_ appCode: String?, of service: ServiceID) throws(TrackStoreError) {
        try check(service)
        for index in serviceList.indices where serviceList[index].id == service {
            serviceList[index].appCode = appCode
        }
    }
}

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

extension ServiceStore {
    /// Adds a key that may do what keys without scopes could do.
    package func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await addKey(
            KeyGrant(hash, secret: secret, rights: .former), to: service, replacing: replacing, at: now)
    }
}
