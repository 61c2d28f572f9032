package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    package func addDevice(_ device: DeviceRecord) throws(TrackStoreError) {
        try check(device.service)
        guard !deviceLog.contains(device.id), !deviceList.contains(where: { $0.keyHash == device.keyHash }) else {
            throw TrackStoreError(.deviceExists, "there is such a device")
        }
        try checkEntity(device.entity, of: device, device.state)
        var device = device
        (device.sighting, device.cloned) = (nil, nil)
        deviceList.append(device)
        noteChange(of: device.id)
    }

    package func device(_ id: DeviceID) throws(TrackStoreError) -> DeviceRecord? {
        try checkOpen()
        return deviceList.first { $0.id == id }
    }

    package func devices(
        matching filter: DeviceFilter, page: Page
    ) throws(TrackStoreError) -> (total: Int, devices: [DeviceRecord]) {
        try checkOpen()
        let wanted = deviceList.filter { device in
            (filter.service.map { $0 == device.service } ?? true) && (filter.state.map { $0 == device.state } ?? true)
                && (filter.token.map { $0 == device.claim?.token } ?? true)
                && (filter.entity.map { $0.utf8.elementsEqual(device.entity.utf8) } ?? true)
                && (filter.selector.map { selector in
                    selector.utf8.elementsEqual(device.entity.utf8)
                        || filter.digits.map { "\(device.id)".filter { $0 != "-" }.hasPrefix($0) } ?? false
                } ?? true)
        }
        let found = wanted.sorted {
            ($0.created.milliseconds, $0.id.description) < ($1.created.milliseconds, $1.id.description)
        }
        return (found.count, Array(found.dropFirst(page.offset).prefix(page.limit)))
    }

    package func changeDevice(_ id: DeviceID, _ change: DeviceChange) throws(TrackStoreError) -> DeviceRecord {
        let index = try index(of: id)
        switch change {
        case .name(let name): deviceList[index].name = name
        case .entity(let entity):
            try checkEntity(entity, of: deviceList[index], deviceList[index].state)
            deviceList[index].move(to: entity)
        case .state(let state):
            try checkEntity(deviceList[index].entity, of: deviceList[index], state)
            deviceList[index].enter(state)
        case .certificate(let keyHash, let end):
            guard !deviceList.contains(where: { $0.id != id && $0.keyHash == keyHash }) else {
                throw TrackStoreError(.deviceExists, "another device has this key")
            }
            deviceList[index].keyHash = keyHash
            deviceList[index].certificateEnd = end
        }
        noteChange(of: id)
        return deviceList[index]
    }

    package func forgetDevice(_ id: DeviceID) throws(TrackStoreError) {
        deviceList.remove(at: try index(of: id))
        noteChange(of: id)
    }

    package func noteDevice(_ id: DeviceID, _ sighting: DeviceRecord.Sighting) throws(TrackStoreError) {
        try checkOpen()
        for index in deviceList.indices where deviceList[index].id == id { deviceList[index].sighting = sighting }
    }

    package func noteClone(of id: DeviceID, at now: Timestamp) throws(TrackStoreError) {
        try checkOpen()
        for index in deviceList.indices where deviceList[index].id == id { deviceList[index].cloned = now }
    }

    package func deviceChanges(
        after mark: Int64?, limit: Int
    ) throws(TrackStoreError) -> (through: Int64, devices: [DeviceID]) {
        try checkOpen()
        guard let mark else { return (Int64(deviceLog.count), []) }
        // Each device once, where its last change stands.
        let news = deviceLog.indices.filter { index in
            Int64(index) >= mark && !deviceLog[(index + 1)...].contains(deviceLog[index])
        }.prefix(limit)
        return (news.last.map { Int64($0) + 1 } ?? mark, news.map { deviceLog[$0] })
    }

    private func checkEntity(
        _ entity: String, of device: DeviceRecord, _ state: DeviceRecord.State
    ) throws(TrackStoreError) {
        guard state == .active else { return }
        let other = deviceList.first {
            $0.id != device.id && $0.service == device.service && $0.state == .active
                && $0.entity.utf8.elementsEqual(entity.utf8)
        }
        if let other { throw .entityTaken(entity, by: other.id) }
    }

    func noteChange(of id: DeviceID) { deviceLog.append(id) }

    private func index(of id: DeviceID) throws(TrackStoreError) -> Int {
        try checkOpen()
        guard let index = deviceList.firstIndex(where: { $0.id == id }) else {
            throw TrackStoreError(.unknownDevice, "there is no such device")
        }
        return index
    }
}
