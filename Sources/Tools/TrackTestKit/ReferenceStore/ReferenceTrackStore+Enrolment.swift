package import TrackModel
package import TrackStore

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
