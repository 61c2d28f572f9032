import Geofencing
import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``ServiceDeletionStore``
    package static var serviceDeletion: [TrackStoreCheck] {
        [
            TrackStoreCheck("a deleted service opens nothing from then on, and its number does not come again") {
                subject in
                let (store, service) = try await subject.withFilled("gone")
                let key = AccessKey("key of gone").hash
                let use = AccessKeyUse(service: service, hash: key)
                try expect(try await store.deletedServices(among: [service]), is: [], "deleted at first")
                try await store.deleteService(service)
                try expect(try await store.services(), is: [], "services")
                try expect(try await store.keys(matching: key).count, is: 0, "keys")
                try expect(try await store.endedKeys(among: [use], at: .at(1)), is: [use], "ended keys")
                try expect(try await store.deletedServices(among: [service]), is: [service], "deleted")
                try expect(try await store.token(matching: TokenHash(of: "token 1")), is: nil, "the token")
                try expect(try await store.tokens(in: nil), is: [], "tokens")
                try expect(try await store.device(.sample(1)), is: nil, "the device")
                try expect(try await store.devices(in: nil, page: Page(offset: 0, limit: 9)).total, is: 0, "devices")
                try expect(try await store.deviceCensus(), is: DeviceCensus(), "devices counted")
                let claim = try await store.claim(.sample(9), at: .at(100))
                try expect(claim.refusalCode, is: .tokenUnknown, "a claim with its token")
                let renewal = try await store.renew(
                    RenewalRequest(keyHash: [UInt8](repeating: 2, count: 32), certificateEnd: .at(9000)), at: .at(5000))
                guard case .refused(let refusal) = renewal else {
                    throw ContractViolation(description: "a device of a deleted service was renewed")
                }
                try expect(refusal.code, is: .deviceUnknown, "a renewal")
                let late = subject.custom(service, [.sample(500)])
                try expect(
                    await store.ingest([late]), is: [.failed(TrackStoreError(.unknownService, ""))], "points afterwards"
                )
                try await expect(.unknownService) { try await store.deleteService(service) }
                try await expect(.unknownService) { try await store.holdings(of: service) }
                try await expect(.unknownService) {
                    try await store.addEntity(NewEntity(name: "late"), in: service, at: .at(1))
                }
                try await expect(.unknownService) {
                    try await store.addKey(key, secret: nil, to: service, replacing: false, at: .at(1))
                }
                try await expect(.unknownService) {
                    try await store.openStream(.one, of: "truck", in: service, at: .at(1))
                }
                try await expect(.serviceExists) {
                    try await store.createService(named: "again", numbered: service, at: .at(1))
                }
                let next = try await store.createService(named: "next", at: .at(1)).id
                try expect(next > service, is: true, "that its number does not come again")
                _ = try await store.removeRemains()
                try await expect(.serviceExists) {
                    try await store.createService(named: "again", numbered: service, at: .at(1))
                }
                try expect(
                    try await store.deletedServices(among: [service, next]), is: [service], "deleted in the end")
            },
            TrackStoreCheck("all that a deleted service had goes in steps, and nothing of another service") { subject in
                let (store, service) = try await subject.withFilled("gone")
                let other = try await subject.fill(store, "kept", 2)
                let kept = try await store.snapshot(of: other)
                let whole = try await store.counts()
                let held = ServiceHoldings(entities: 4, points: 12, keys: 1, devices: 2)
                try expect(try await store.holdings(of: service), is: held, "what it has")
                try expect(try await store.removeDeletedServices(limit: 9), is: 0, "removed without a deletion")
                let mark = try await store.deviceChanges(after: nil, limit: 9).through
                try await store.deleteService(service)
                try expect(try await store.removeRemains(limit: 1) > 3, is: true, "that it goes in steps")
                try expect(try await store.removeDeletedServices(limit: 9), is: 0, "removed in the end")
                let counts = try await store.counts()
                try expect(counts.services, is: 1, "services")
                try expect(counts.entities, is: whole.entities - 4, "entities")
                try expect(counts.points, is: whole.points - 12, "points")
                let changed = try await store.deviceChanges(after: nil, limit: 9)
                try expect(changed.through != mark, is: true, "that devices have changed")
                let notices = try await store.deviceChanges(after: mark, limit: 9).devices
                try expect(Set(notices), is: [.sample(1), .sample(2)], "the devices that went")
                try expect(try await store.exportTokens(), is: ["export of kept"], "exports")
                try expect(try await store.snapshot(of: other) == kept, is: true, "that the other service is as before")
                _ = try await store.merge(limit: 100)
                try expect(try await store.snapshot(of: other) == kept, is: true, "that it is so after a merging")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck(
                "a box of a deleted service is a new device of another one, also before the last row is gone"
            ) {
                subject in
                let (store, service) = try await subject.withFilled("gone")
                let other = try await store.createService(named: "other", at: .at(0)).id
                _ = try await store.addToken(.sample(7, in: other), at: .at(0))
                try await store.deleteService(service)
                let claim = try await store.claim(.sample(2, token: 7, entity: "van", device: 50), at: .at(100))
                guard case .issued(let device, isNew: true) = claim else {
                    throw ContractViolation(description: "the box is no new device: \(claim)")
                }
                try expect(device.service, is: other, "its service")
                _ = try await store.removeRemains()
                try expect(try await store.device(device.id), is: device, "the device in the end")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
        ]
    }
}

extension TrackStoreSubject {
    /// A store with one service that has something of everything: four entities, twelve points, one key, two devices.
    fileprivate func withFilled(_ name: String) async throws -> (store: any TrackStore, service: ServiceID) {
        let store = try await make()
        return (store, try await fill(store, name, 1))
    }

    /// `number`: of the service; what must be unique in a store is made of it.
    fileprivate func fill(_ store: any TrackStore, _ name: String, _ number: UInt8) async throws -> ServiceID {
        let service = try await store.createService(named: name, at: .at(0)).id
        try await store.addKey(
            AccessKey("key of \(name)").hash, secret: "sk", to: service, replacing: false, at: .at(0))
        try await store.setAppCode("code", of: service)
        let team = ColumnRecord(key: "team", type: .string, created: .at(1))
        try await store.addColumn(team, of: .entity, in: service)
        try await store.addColumn(ColumnRecord(key: "load", type: .double, created: .at(1)), of: .track, in: service)
        try await store.setCallback(CallbackTarget(url: "https://example.net/", secret: "s"), of: service)
        for entity in ["truck", "van"] {
            let new = NewEntity(name: entity, description: "of \(name)", values: ["team": name])
            try await store.addEntity(new, in: service, at: .at(1))
        }
        let claim = try await store.openStream(.one, of: "truck", in: service, at: .at(2))
        var batch = custom(service, TrackPoint.samples(0..<6))
        batch.expectedVersion = claim.version
        let alarm = try Alarm.sample(2, mark: number)
        let push = NewPush(type: PushRules.fenceAlarm, body: "{}", targets: .entities(["van"]), alarm: alarm.key)
        var caused = CausedAlarm(alarm, pushes: [push])
        caused.isCalledBack = true
        batch.alarms = [caused]
        _ = try await store.upload([
            batch, custom(service, TrackPoint.samples(100..<104)),
            custom(service, entity: "van", TrackPoint.samples(0..<2)),
            hint(service, entity: "van", .sample(90)),
        ])
        _ = try await store.queuePush(
            NewPush(type: 65, body: "{}", targets: .service, lifetime: 60_000), in: service, at: .at(3))
        let fence = try await store.createFence(.sample("depot", watching: ["van"]), in: service, at: .at(4))
        _ = try await store.updateFence(
            fence.fence.id, to: .sample("yard", watching: ["truck"]), expecting: fence.version, in: service, at: .at(5))
        _ = try await store.createFence(.everyone("town"), in: service, at: .at(6))
        _ = try await store.addExport(.sample, token: "export of \(name)", in: service, at: .at(7))
        let serials = TokenApproval.listed(["s1", "s2"])
        let token = NewToken(
            hash: TokenHash(of: "token \(number)"), service: service, uses: 9, end: nil, pattern: .wish,
            approval: number == 1 ? .automatic : serials, note: "")
        _ = try await store.addToken(token, at: .at(0))
        var box = DeviceRecord.sample(2 * number - 1, in: service, entity: "bus")
        box.certificateEnd = .at(100_000)
        try await store.addDevice(box)
        _ = try await store.claim(
            .sample(2 * number, token: number, entity: "tram", serial: "s1"), at: .at(10))
        try await store.haveEntity(named: "bus", in: service, at: .at(11))
        try await store.noteHealth([
            HealthNote(
                entity: EntityKey(service: service, name: "truck"), heard: .at(100), agentVersion: "1", device: nil,
                report: .sample)
        ])
        return service
    }
}

/// What a service has, as far as a store tells it.
private struct ServiceSnapshot: Equatable {
    let holdings: ServiceHoldings
    let entities: [EntityRecord]
    let points: [[StoredPoint]]
    let fences: [FenceRecord]
    let alarms: [AlarmRecord]
    let pushes: [PushRecord]
    let devices: [DeviceRecord]
    let tokens: [TokenRecord]
    let keys: [AccessKeyHash]
    let exports: [ExportRecord]
    let columns: [ColumnRecord]
    let callback: CallbackTarget?
    let due: [ServiceID]
    let health: [VehicleHealth]
    let found: [String]
}

extension TrackStore {
    fileprivate func snapshot(of service: ServiceID) async throws -> ServiceSnapshot {
        let page = Page(offset: 0, limit: 99)
        let entities = try await entities(in: service, matching: EntityFilter(), page: page).entities
        var points: [[StoredPoint]] = []
        for entity in entities { points.append(try await history(of: entity.name, in: service)) }
        let search = EntitySearch(keyword: "of ")
        return ServiceSnapshot(
            holdings: try await holdings(of: service), entities: entities, points: points,
            fences: try await fences(in: service, matching: FenceFilter(), page: page).fences,
            alarms: try await alarms(in: service, matching: AlarmFilter(), page: page).alarms,
            pushes: try await pushes(
                in: service, matching: PushFilter(), at: .at(8), page: page
            ).pushes,
            devices: try await devices(in: service, page: page).devices, tokens: try await tokens(in: service),
            keys: try await keys(of: service).map(\.hash),
            exports: try await exports(in: service, doneSince: .at(0)),
            columns: try await columns(of: .entity, in: service),
            callback: try await callback(of: service),
            due: try await dueCallbacks(at: .at(1_000_000), limit: 9).filter { $0 == service },
            health: try await allHealth(in: service),
            found: try await self.search(search, in: service, page: page).entities.map(\.record.name))
    }

    /// Returns how many steps it took.
    fileprivate func removeRemains(limit: Int = 100) async throws -> Int {
        var steps = 0
        while try await removeDeletedServices(limit: limit) > 0 { steps += 1 }
        return steps
    }
}
