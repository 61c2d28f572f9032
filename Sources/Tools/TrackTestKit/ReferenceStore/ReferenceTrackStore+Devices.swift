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

struct TokenTable {
    var list: [TokenRecord] = []
    /// Of tokens that have a list of serial numbers.
    var serials: [Int64: Set<[UInt8]>] = [:]
}

extension ReferenceTrackStore {
    package func addToken(_ token: NewToken, at now: Timestamp) throws(TrackStoreError) -> TokenRecord {
        try check(token.service)
        guard !tokenTable.list.contains(where: { $0.hash == token.hash }) else {
            throw TrackStoreError(.tokenExists, "there is such a token")
        }
        let record = TokenRecord(token, number: Int64(tokenTable.list.count) + 1, created: now)
        tokenTable.list.append(record)
        if case .listed(let serials) = token.approval {
            tokenTable.serials[record.number] = Set(serials.map { Array($0.utf8) })
        }
        return record
    }

    package func token(matching hash: TokenHash) throws(TrackStoreError) -> TokenRecord? {
        try checkOpen()
        return tokenTable.list.first { $0.hash == hash && !formerServices.contains($0.service) }
    }

    package func tokens(in service: ServiceID?) throws(TrackStoreError) -> [TokenRecord] {
        try checkOpen()
        return tokenTable.list.filter {
            (service == nil || $0.service == service) && !formerServices.contains($0.service)
        }
    }

    package func revokeToken(_ number: Int64, at now: Timestamp) throws(TrackStoreError) -> TokenRecord {
        try checkOpen()
        let index = tokenTable.list.firstIndex { $0.number == number && !formerServices.contains($0.service) }
        guard let index else { throw TrackStoreError(.unknownToken, "there is no such token") }
        tokenTable.list[index].revoked = tokenTable.list[index].revoked ?? now
        return tokenTable.list[index]
    }

    package func revokeDevices(ofToken number: Int64, limit: Int) throws(TrackStoreError) -> [DeviceRecord] {
        let all = try devices(matching: DeviceFilter(token: number), page: Page(offset: 0, limit: .max)).devices
        return all.filter { $0.state != .revoked }.prefix(limit).map { device in
            var device = device
            device.enter(.revoked)
            for index in deviceList.indices where deviceList[index].id == device.id { deviceList[index] = device }
            noteChange(of: device.id)
            return device
        }
    }

    package func claim(_ request: ClaimRequest, at now: Timestamp) throws(TrackStoreError) -> ClaimOutcome {
        try checkOpen()
        let token = tokenTable.list.firstIndex { $0.hash == request.token && !formerServices.contains($0.service) }
        let known = deviceList.firstIndex { $0.keyHash == request.keyHash }
        let facts = ClaimFacts(
            token: token.map { tokenTable.list[$0] }, known: known.map { deviceList[$0] },
            listing: token.map { listing(request.serial, tokenTable.list[$0]) } ?? .none)
        let decision = ClaimRules.decide(request, facts, at: now) { name in
            token.map { use(EntityKey(service: tokenTable.list[$0].service, name: name)) } ?? .free
        }
        switch decision {
        case .refused(let refusal): return .refused(refusal)
        case .again(let device):
            guard device.state == .active, let known else { return .pending(device, isNew: false) }
            if device.cloned != nil {
                deviceList[known].cloned = nil
                noteChange(of: device.id)
            }
            if request.proves { deviceList[known].proves = true }
            issue(known, until: request.certificateEnd, machine: request.machine, at: now)
            try makeEntity(EntityKey(service: device.service, name: device.entity), at: now)
            return .issued(deviceList[known], isNew: device.issued == nil)
        case .make(let entity, let state, let number):
            guard let token else { throw TrackStoreError(.failed, "a device was made without a token") }
            let device = DeviceRecord(request, token: tokenTable.list[token], entity: entity, state: state, at: now)
            tokenTable.list[token].used += 1
            tokenTable.list[token].lastName = number
            deviceList.append(device)
            noteChange(of: device.id)
            guard state == .active else { return .pending(device, isNew: true) }
            try makeEntity(EntityKey(service: device.service, name: entity), at: now)
            return .issued(device, isNew: true)
        }
    }

    package func renew(_ request: RenewalRequest, at now: Timestamp) throws(TrackStoreError) -> RenewalOutcome {
        try checkOpen()
        let index = deviceList.firstIndex { $0.keyHash == request.keyHash }
        switch RenewalRules.decide(request, index.map { deviceList[$0] }, at: now) {
        case .refused(let refusal): return .refused(refusal)
        case .pending(let device): return .pending(device)
        case .again(let device): return .again(device)
        case .issue:
            guard let index else { throw TrackStoreError(.failed, "a device was renewed that is none") }
            if request.isProven { deviceList[index].proves = true }
            issue(index, until: request.certificateEnd, machine: request.machine, at: now)
            return .issued(deviceList[index])
        }
    }

    package func deviceCensus() throws(TrackStoreError) -> DeviceCensus {
        try checkOpen()
        func count(_ state: DeviceRecord.State) -> Int { deviceList.count { $0.state == state } }
        return DeviceCensus(
            active: count(.active), pending: count(.pending), revoked: count(.revoked),
            oldestPending: deviceList.filter { $0.state == .pending }.map(\.created).min())
    }

    private func issue(_ index: Int, until end: Timestamp, machine: [UInt8]?, at now: Timestamp) {
        deviceList[index].certificateEnd = end
        deviceList[index].issued = now
        deviceList[index].machine = machine ?? deviceList[index].machine
    }

    private func listing(_ serial: String?, _ token: TokenRecord) -> ClaimFacts.Listing {
        guard let serial, tokenTable.serials[token.number]?.contains(Array(serial.utf8)) == true else { return .none }
        let isTaken = deviceList.contains {
            $0.claim?.token == token.number && $0.claim?.serial?.utf8.elementsEqual(serial.utf8) == true
        }
        return isTaken ? .taken : .listed
    }

    private func use(_ key: EntityKey) -> NameUse {
        let holders = deviceList.filter {
            $0.service == key.service && $0.entity.utf8.elementsEqual(key.name.utf8)
        }
        if let holder = holders.first(where: { $0.state == .active }) { return .device(holder.id) }
        var use = NameUse.free
        if let holder = holders.first(where: { $0.state == .revoked }) {
            use = .revoked(holder.id)
        } else if let entity = entityTable[key] {
            use = entity.points.isEmpty && !healthList.contains { $0.entity == key } ? .entity : .past
        }
        let waiting = holders.count { $0.state == .pending }
        return waiting > 0 ? .waiting(waiting, use) : use
    }

    private func makeEntity(_ key: EntityKey, at now: Timestamp) throws(TrackStoreError) {
        guard try entity(named: key.name, in: key.service) == nil else { return }
        try addEntity(NewEntity(name: key.name), in: key.service, at: now)
    }
}
