internal import AgentControl
internal import AgentRuntime
internal import Geofencing
internal import NIOCore
internal import TrackModel
internal import TrackStore
internal import TrackTestKit

// Fences at the server: operators change them, the server judges by them, and its history must be right.
extension History {
    // MARK: Changes

    /// As the Web API does it, in another process of the server.
    func changeServerFences() {
        guard let machine = server, machine.store != nil, let service = ServiceID(rawValue: Self.serviceID),
            var world = fences
        else { return }
        world.changes += 1
        let draft = FenceDraft(around: receiver.route ?? world.route, at: trueTime)
        let known = store.points.keys.sorted()
        let fresh = world.onFloor(draft.definition(&world.dice, isLocal: false, among: known))
        let numbers = world.serverFenceModel.numbers
        let kind =
            numbers.count >= FenceWorld.most ? 3 : numbers.count < 2 ? 0 : Int.random(in: 0..<5, using: &world.dice)
        let number = numbers.randomElement(using: &world.dice) ?? 0
        let (editing, floors) = (world.dice, world.floors)
        _ = world.dice.next()
        fences = world
        let (executor, medium) = (executor, NIOLoopBound(medium, eventLoop: loop))
        let history = NIOLoopBound(self, eventLoop: loop)
        let watch = NIOLoopBound(machine.watch, eventLoop: loop)
        let time = Timestamp(milliseconds: trueTime + 2000)
        note(kind < 2 ? "a server fence is made" : "server fence \(number) is \(kind == 3 ? "deleted" : "changed")")
        Task(executorPreference: executor) {
            await executor.beginOutside()
            if let store = medium.value.current {
                do throws(TrackStoreError) {
                    switch kind {
                    case 0, 1: _ = try await store.createFence(fresh, in: service, at: time)
                    case 3:
                        _ = try await store.deleteFences(
                            matching: FenceFilter(fences: [number]), in: service, at: time)
                    default:
                        _ = try await store.editFence(number, in: service, at: time) { definition in
                            var (dice, floors) = (editing, floors)
                            return FenceWorld.onFloor(draft.edited(definition, &dice, among: known), &floors)
                        }
                    }
                } catch {
                    history.value.note("the fences are not changed: \(error)")
                }
                await history.value.lookAtFences(of: store)
            }
            executor.endOutside()
            guard medium.value.hasPower else { return watch.value.powerFailed() }
            history.value.server?.watch.somethingChanged()
        }
    }

    /// The fences as they are now. Nothing else happens at the store meanwhile.
    func lookAtFences(of store: any TrackStore) async {
        guard fences != nil, let service = ServiceID(rawValue: Self.serviceID) else { return }
        var watched: [String: [Int32: SubjectFence]] = [:]
        var version: Int64 = 0
        for entity in ServerFenceModel.entities {
            let found = try? await store.fences(
                watching: EntityKey(service: service, name: entity), page: Page(offset: 0, limit: 1000))
            guard let found else { return }
            version = found.version
            watched[entity] = Dictionary(found.fences.map { ($0.record.fence.id, $0) }) { first, _ in first }
        }
        fences?.serverFenceModel.took(ServerFenceModel.Snapshot(version: version, watched: watched))
    }

    // MARK: Judging

    func watchFences(_ watch: StoreObserver) {
        guard fences != nil else { return }
        watch.hasPushes = true
        watch.somethingChanged()
        watch.settle = { $0 }
        watch.handOut = { [unowned self] push, entity in fencePush(push, to: entity) }
        watch.onJudgeHearing = { [unowned self] in fences?.serverFenceModel.judgeHears() }
    }

    /// The store gives a session a push that is no message.
    func fencePush(_ push: PendingPush, to entity: String) -> PendingPush {
        check { () throws(Violation) in try fences?.serverFenceModel.handedOut(push, to: entity) }
        return push
    }

    func fencesStored(_ batch: IngestBatch, new: [TrackPoint]) throws(Violation) {
        guard fences != nil else { return }
        if !batch.alarms.isEmpty { server?.watch.somethingChanged() }
        for caused in batch.alarms {
            note("the server stores \(caused.alarm.action.rawValue) of fence \(caused.alarm.fence) by \(batch.entity)")
        }
        try fences?.serverFenceModel.stored(batch, new: new)
    }

    /// What a store has of alarms, stale ones too.
    private func wholeHistory(of store: any TrackStore) async throws -> [AlarmRecord] {
        guard let service = ServiceID(rawValue: Self.serviceID) else { return [] }
        return try await store.alarms(
            in: service, matching: AlarmFilter(includesStale: true), page: Page(offset: 0, limit: 1_000_000)
        ).alarms
    }

    /// The alarms in a copy of the store; none in a history without fences.
    func alarms(of store: any TrackStore) async throws -> Set<AlarmKey> {
        guard fences != nil else { return [] }
        return Set(try await wholeHistory(of: store).map(\.alarm.key))
    }

    // MARK: The end

    /// The store's history of alarms against what was committed, and the vehicle's alarms against both.
    func compareFences(with store: any TrackStore) async {
        guard fences != nil else { return }
        let stored = try? await wholeHistory(of: store)
        check { () throws(Violation) in
            guard let fences, let stored else {
                throw Violation(guarantee: .fences, detail: "the server's history of alarms cannot be read")
            }
            try fences.serverFenceModel.compare(stored)
            let ids = Set(fences.serverFenceModel.history.map { UInt64($0.key.pushID(to: $0.value)) })
            guard let entity = box?.agent.status().service.entity else { return }
            try checkRestored(ids, entity)
            let lost = fences.findings.early.first { $0.value == entity && !ids.contains($0.key) }
            if let lost, !earlyMayDiffer {
                throw Violation(
                    guarantee: .fences,
                    detail: "early alarm \(lost.key) of \(entity) is not in the server's history in the end")
            }
            if let refused = fences.findings.refusedReports.first {
                throw Violation(guarantee: .fences, detail: "the server refused the report of \(refused)")
            }
        }
    }
}
