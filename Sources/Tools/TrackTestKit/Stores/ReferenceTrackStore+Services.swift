package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    package func createService(named name: String, at now: Timestamp) throws(TrackStoreError) -> ServiceRecord {
        try checkOpen()
        guard let id = ServiceID(rawValue: (serviceList.last?.id.rawValue ?? 0) + 1) else {
            throw TrackStoreError(.failed, "every service number is taken")
        }
        let record = ServiceRecord(id: id, name: name, created: now)
        serviceList.append(record)
        return record
    }

    package func services() throws(TrackStoreError) -> [ServiceRecord] {
        try checkOpen()
        return serviceList
    }

    package func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) throws(TrackStoreError) {
        try check(service)
        if replacing {
            for index in keyList.indices where keyList[index].service == service {
                keyList[index].isDisabled = true
            }
        }
        keyList.removeAll { $0.service == service && $0.hash.bytes == hash.bytes }
        keyList.append(AccessKeyRecord(hash: hash, service: service, secret: secret, isDisabled: false))
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

    package func endedKeys(among uses: Set<AccessKeyUse>) throws(TrackStoreError) -> Set<AccessKeyUse> {
        try checkOpen()
        let valid = keyList.filter { !$0.isDisabled }.map { AccessKeyUse(service: $0.service, hash: $0.hash) }
        return uses.subtracting(valid)
    }

    package func setAppCode(_ appCode: String?, of service: ServiceID) throws(TrackStoreError) {
        try check(service)
        for index in serviceList.indices where serviceList[index].id == service {
            serviceList[index].appCode = appCode
        }
    }
}
