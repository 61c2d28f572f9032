import ConnectionLimits
import FenceJudging
import Geofencing
import Logging
import TrackModel
import TrackStore

/// Judges batches by the fences of their services, before they are stored.
///
/// It judges from the state of the last commit, and each batch names the version of its entity. So the store takes what
/// follows from a batch only while that version holds. Otherwise the store returns the present version, and the batch
/// is judged again. One task calls the judge, with one group of batches after the other.
actor IngestFenceJudge {
    /// Entities whose fences and state are kept in memory: about 100 MB.
    private static let mostEntities = 100_000
    private static let noticesAtOnce = 1000
    /// Earlier versions of an entity's fences that are kept in memory.
    private static let mostEarlier = 4
    /// How often fences are read again when they change during the reading.
    private static let tries = 3

    private let store: any FenceStore & ChangeStore
    let logger: Logger
    private let zones: ZoneTable
    private let executor: (any TaskExecutor)?
    /// Builds the index of many fences beside the batches: it takes longer than a batch may wait.
    private let pack: @Sendable (ServiceFences) async -> ServiceFences
    private var packings = 0
    private var cursor: StoreCursor?
    private var services: [ServiceID: JudgedService] = [:]
    private var entities = RecentTable<EntityKey, JudgedEntity>(capacity: mostEntities)
    private var judge = BatchJudge()
    var storm = AlarmStorm()
    /// The bounds of the alarms of each entity.
    var outputs: OutputAllowance
    /// The budget for log lines that senders cause.
    var lines = LineBudget()

    init(
        _ store: any FenceStore & ChangeStore, zones: @escaping ZoneTable, logger: Logger,
        executor: (any TaskExecutor)? = nil,
        output: OutputAllowance.Limits = OutputAllowance.Limits(),
        pack: @escaping @Sendable (ServiceFences) async -> ServiceFences = { $0.rebuilt() }
    ) {
        self.store = store
        self.zones = zones
        self.logger = logger
        self.executor = executor
        self.pack = pack
        outputs = OutputAllowance(output)
    }

    /// An index is being built.
    var isPacking: Bool { services.values.contains(where: \.isPacking) }

    /// How many fences cannot be read, and so are not judged, of those that were needed.
    var unreadable: Int { services.values.reduce(0) { $0 + $1.unreadable.count } }

    // MARK: Judging

    /// Throws the store's error when fences or states cannot be read: then nothing was judged.
    ///
    /// `rows`: the rows of each sender. Alarms of a sender beyond the rows of one transaction are not judged.
    func judge(_ batches: [IngestBatch], of rows: SenderRowCounts? = nil) async throws(TrackStoreError) -> [JudgedBatch]
    {
        try await read(for: batches)
        var reached: [EntityKey: JudgedState] = [:]
        var (drawn, rows): (Drawn, SenderRowCounts?) = ([:], rows)
        return batches.enumerated().map { place, batch in
            let key = EntityKey(service: batch.service, name: batch.entity)
            var judged = JudgedBatch(batch: batch)
            judged.isLeft = rows?.isOver(at: place) ?? false
            guard !judged.isLeft else { return judged }
            var budget = self.budget(for: batch, of: key, drawn)
            if !batch.alarms.isEmpty { judged.keepReported(within: &budget) }
            judge(&judged, of: key, &budget, &reached)
            draw(&judged, budget, of: key, &drawn)
            rows?.add(judged.rows, at: place)
            return judged
        }
    }

    /// Empty when no fence concerns the batch.
    private func judge(
        _ judged: inout JudgedBatch, of key: EntityKey, _ budget: inout AlarmBudget,
        _ reached: inout [EntityKey: JudgedState]
    ) {
        let batch = judged.batch
        guard batch.isToBeJudged, let service = services[batch.service], let entity = entities[key],
            let known = entity.state
        else { return }
        let fences = self.fences(for: batch, service, entity)
        guard fences.contains(where: { !$0.isEmpty }) else { return }
        if reached[key] == nil {
            judged.batch.expectedVersion = known.version
        } else {
            judged.batch.followsBatch = true
        }
        let verdict = judge.judge(batch, from: reached[key] ?? known.remembered, by: fences, within: budget)
        budget = verdict.budget
        reached[key] = verdict.state
        judged.state = verdict.state
        (judged.late, judged.ahead) = (verdict.late, verdict.ahead)
        if verdict.judged > 0 { judged.batch.fences = verdict.state.encoded }
        judged.batch.alarms += verdict.alarms
    }

    /// Reads the fences and states that the batches need. A change that comes between two readings is in one of them alone:
    /// then everything is read once more. Changes of fences without a pause do not delay a batch for long.
    private func read(for batches: [IngestBatch]) async throws(TrackStoreError) {
        let ids = Set(batches.map(\.service))
        for attempt in 1...Self.tries {
            _ = try await readChangedFences()
            for id in ids where services[id] == nil { try await load(id) }
            guard try await meet(batches), attempt < Self.tries else { return }
            // A change that was read already also invalidates an entity's own fences.
            guard try await readChangedFences() else { return }
        }
    }

    /// The present fences, and from the times on that the vehicle reports, the fences by which the vehicle judged.
    private func fences(for batch: IngestBatch, _ service: JudgedService, _ entity: JudgedEntity) -> [JudgingFences] {
        var own: OwnFences?
        if case .some(let fences)? = entity.own { own = fences }
        let present = JudgingFences(service.fences, own: own)
        return [present]
            + batch.fencesThatCount.map { used in
                (service.hasOthers(used) ? entity.earlier[used] ?? nil : nil) ?? present.used(used)
            }
    }

    /// Keeps the states that were committed. Returns the number of alarms, and of fences that cannot be read.
    func settle(_ batches: [JudgedBatch], _ outcomes: [IngestOutcome]) -> (alarms: Int, unreadable: Int) {
        var alarms = 0
        for (judged, outcome) in zip(batches, outcomes) {
            let key = EntityKey(service: judged.batch.service, name: judged.batch.entity)
            switch outcome {
            case .stored(_, let version):
                remember(judged.state, version, of: key, unlessWithoutPoints: judged.batch)
                alarms += judged.batch.alarms.count
                spend(judged, of: key)
            case .stale(let version, let bytes): remember(read(bytes, of: key), version, of: key)
            case .duplicate: break
            // Their states are unknown: the next batch reads them.
            case .replaced, .rewound, .failed: entities[key]?.state = nil
            }
        }
        return (alarms, unreadable)
    }

    private func remember(
        _ state: JudgedState?, _ version: Int64, of key: EntityKey, unlessWithoutPoints batch: IngestBatch? = nil
    ) {
        if state == nil, batch?.points.isEmpty ?? false { return }
        entities[key]?.state = state.map { ($0, version) }
    }

    private func read(_ bytes: [UInt8]?, of key: EntityKey) -> JudgedState {
        guard let bytes else { return JudgedState() }
        do throws(FenceStateCodingError) {
            return try JudgedState(encoded: bytes)
        } catch {
            logger.error(
                "what the fences know of an entity cannot be read, so its places are found anew",
                metadata: ["service": "\(key.service.rawValue)", "entity": "\(key.name)", "reason": "\(error)"])
            return JudgedState()
        }
    }

    // MARK: Fences

    /// Reads the fences of services before their first batch comes, as long as they are not more than `most` in all.
    func prepare(_ ids: [ServiceID], atMost most: Int) async throws(TrackStoreError) {
        _ = try await readChangedFences()
        var count = 0
        for id in ids where services[id] == nil {
            let everyones = FenceFilter(watch: .everyone)
            count += try await store.fences(in: id, matching: everyones, page: Page(offset: 0, limit: 0)).total
            guard count <= most else { return }
            try await load(id)
        }
    }

    /// Reads the changes of fences: the next batch is judged by them. False: there were none.
    func readChangedFences() async throws(TrackStoreError) -> Bool {
        var hasHeard = false
        while true {
            // No key is asked for, so the time does not matter.
            let found = try await store.changes(
                of: [.fences], after: cursor, at: Timestamp(milliseconds: 0), limit: Self.noticesAtOnce)
            if !found.unknown.isEmpty {
                (services, entities) = ([:], RecentTable(capacity: Self.mostEntities))
                hasHeard = true
            }
            let notices = found.changes.compactMap { if case .fence(let notice) = $0 { notice } else { nil } }
            hasHeard = hasHeard || !notices.isEmpty
            for (service, changes) in Dictionary(grouping: notices, by: \.service) {
                try await apply(changes, to: service)
            }
            // Not before: when the store fails in between, the changes are read once more.
            cursor = found.through
            guard found.hasMore else { return hasHeard }
        }
    }

    private func apply(_ notices: [FenceChangeNotice], to id: ServiceID) async throws(TrackStoreError) {
        // The service is changed in place: a copy would make one change as slow as all of them.
        guard let isLost = services[id]?.isLost else { return }
        // The change may repair the fence.
        guard !isLost else { return services[id] = nil }
        for name in notices.compactMap(\.entities).joined() { entities[EntityKey(service: id, name: name)]?.own = nil }
        let numbers = Array(Set(notices.map(\.fence)))
        do throws(TrackStoreError) {
            let found = try await store.readableFences(
                in: id, matching: FenceFilter(fences: numbers), page: Page(offset: 0, limit: numbers.count))
            let hasNaming = try await hasNaming(id)
            let unjudged = services[id]?.fences.unjudged ?? []
            let unreadable = services[id]?.apply(notices, found) ?? []
            services[id]?.hasNaming = hasNaming
            tell(unreadable, of: id)
            if let now = services[id]?.fences, !now.unjudged.isSubset(of: unjudged) { tellUnjudged(now, of: id) }
            packIfWorn(id)
        } catch {
            try lose(id, error)
        }
    }

    /// Builds the index again when so many changes have come that judging is slow. Judging goes on meanwhile.
    private func packIfWorn(_ id: ServiceID) {
        guard let fences = services[id]?.beginPacking(packings + 1) else { return }
        packings += 1
        let (number, pack) = (packings, pack)
        Task.detached(executorPreference: executor) { [self] in
            let packed = await pack(fences)
            await self.packed(packed, of: id, number)
        }
    }

    private func packed(_ fences: ServiceFences, of id: ServiceID, _ number: Int) {
        if services[id]?.packed(fences, number) ?? false { packIfWorn(id) }
    }

    private func hasNaming(_ service: ServiceID) async throws(TrackStoreError) -> Bool {
        try await store.fences(in: service, matching: FenceFilter(watch: .named), page: Page(offset: 0, limit: 0)).total
            > 0
    }

    private func load(_ id: ServiceID) async throws(TrackStoreError) {
        do throws(TrackStoreError) {
            // Changes during the reading come again with the next cursor.
            let version = try await store.fences(naming: []).version
            let found = try await store.allReadableFences(in: id, matching: FenceFilter(watch: .everyone))
            let hasNaming = try await hasNaming(id)
            let fences = ServiceFences(found.fences, zones: zones)
            tellUnjudged(fences, of: id)
            services[id] = JudgedService(fences, hasNaming: hasNaming, version: version)
            tell(found.unreadable, of: id)
        } catch {
            try lose(id, error)
        }
    }

    /// The points are stored without: a damaged table of fences must not stop a fleet.
    private func lose(_ id: ServiceID, _ error: TrackStoreError) throws(TrackStoreError) {
        guard error.code == .corrupt else { throw error }
        logger.critical(
            "the fences cannot be read, so no fence over everyone is judged in their service",
            metadata: ["service": "\(id.rawValue)", "reason": "\(error.detail)"])
        services[id] = JudgedService(lost: zones)
    }

    private func tellUnjudged(_ fences: ServiceFences, of id: ServiceID) {
        guard let first = fences.unjudged.min() else { return }
        logger.warning(
            "fences over everyone are not judged, because this computer does not know their time zones",
            metadata: ["service": "\(id.rawValue)", "fences": "\(fences.unjudged.count)", "first": "\(first)"])
    }

    /// The other fences are judged: a damaged fence must not stop a fleet.
    private func tell(_ unreadable: [UnreadableFence], of id: ServiceID) {
        for fence in services[id]?.cannotRead(unreadable) ?? [] {
            logger.critical(
                "a fence cannot be read, so it is not judged: delete it, and make it anew",
                metadata: ["service": "\(id.rawValue)", "fence": "\(fence.fence)", "reason": "\(fence.reason)"])
        }
    }

    // MARK: Entities

    /// Reads what the judge lacks of the entities of some batches. True: fences were read.
    private func meet(_ batches: [IngestBatch]) async throws(TrackStoreError) -> Bool {
        var keys: [EntityKey] = []
        var seen: Set<EntityKey> = []
        for batch in batches where batch.isToBeJudged {
            guard let service = services[batch.service],
                service.hasNaming || !service.fences.isEmpty || batch.fencesThatCount.contains(where: service.hasOthers)
            else { continue }
            let key = EntityKey(service: batch.service, name: batch.entity)
            if seen.insert(key).inserted { keys.append(key) }
        }
        var named: [EntityKey] = []
        for key in keys {
            let entity = entities[key] ?? JudgedEntity()
            let generation = services[key.service]?.generation ?? 0
            if entity.generation != generation { (entity.own, entity.generation) = (nil, generation) }
            if let version = services[key.service]?.version, entity.earlierOf != version {
                (entity.earlier, entity.earlierOf) = ([:], version)
            }
            if entity.own == nil {
                if services[key.service]?.hasNaming ?? false {
                    named.append(key)
                } else {
                    entity.own = JudgedEntity.Own.none
                }
            }
            entities[key] = entity
        }
        if !named.isEmpty { try await readOwnFences(of: named) }
        let hasReadEarlier = try await readEarlierFences(for: batches)
        let hasRead = hasReadEarlier || !named.isEmpty
        let strangers = keys.filter { key in
            guard let entity = entities[key], entity.state == nil else { return false }
            if case .some? = entity.own { return true }
            return !(services[key.service]?.fences.isEmpty ?? true) || entity.earlier.values.contains { $0 != nil }
        }
        guard !strangers.isEmpty else { return hasRead }
        let states = try await store.fenceStates(of: strangers)
        for (key, state) in zip(strangers, states) { remember(read(state.fences, of: key), state.version, of: key) }
        return hasRead
    }

    /// Reads the fences by which vehicles judged their points, where they are others than the present ones. True: some were
    /// read.
    private func readEarlierFences(for batches: [IngestBatch]) async throws(TrackStoreError) -> Bool {
        // An entity may have several batches here, and each needs its own.
        var (needed, keys): ([EntityKey: Set<FencesUsed>], [EntityKey]) = ([:], [])
        for batch in batches where batch.isToBeJudged {
            guard let service = services[batch.service] else { continue }
            let key = EntityKey(service: batch.service, name: batch.entity)
            if needed[key] == nil { keys.append(key) }
            needed[key, default: []].formUnion(batch.fencesThatCount.filter(service.hasOthers))
        }
        var hasRead = false
        for key in keys {
            let uses = needed[key] ?? []
            if let entity = entities[key], entity.earlier.count + uses.count > Self.mostEarlier {
                entities[key]?.earlier = entity.earlier.filter { uses.contains($0.key) }
            }
            for used in uses.sorted(by: { $0.version < $1.version }) {
                guard let entity = entities[key], entity.earlier[used] == nil else { continue }
                let earlier = try await earlierFences(of: key, used)
                entities[key]?.earlier[used] = .some(earlier)
                hasRead = true
            }
        }
        return hasRead
    }

    /// Nil when the store has the version no longer: then the points are judged by the present fences.
    private func earlierFences(of key: EntityKey, _ used: FencesUsed) async throws(TrackStoreError) -> JudgingFences? {
        do throws(TrackStoreError) {
            let difference = try await store.fenceDifference(of: key, since: used.version)
            guard let changes = difference.changes else { return nil }
            let taken = used.base > 0 ? try await store.fenceDifference(of: key, since: used.base) : nil
            let named = try await store.fences(naming: [key])
            tell(difference.unreadable + (taken?.unreadable ?? []) + named.unreadable, of: key.service)
            let fences = VehicleFences(
                used, named: named.fences.flatMap(\.self), changes: changes, taken: taken?.changes)
            guard let present = services[key.service]?.fences,
                let others = services[key.service]?.fences(without: fences.hidden(in: present))
            else { return nil }
            return fences.judging(beside: others, zones: zones)
        } catch {
            guard error.code == .corrupt else { throw error }
            logger.critical(
                "the earlier fences cannot be read, so the present ones judge the points of an entity",
                metadata: ["service": "\(key.service.rawValue)", "entity": "\(key.name)", "reason": "\(error.detail)"])
            return nil
        }
    }

    private func readOwnFences(of keys: [EntityKey]) async throws(TrackStoreError) {
        do throws(TrackStoreError) {
            for (service, keys) in Dictionary(grouping: keys, by: \.service) {
                let found = try await store.fences(naming: keys)
                for (key, fences) in zip(keys, found.fences) {
                    entities[key]?.own = OwnFences(fences, zones: zones).map { .some($0) } ?? JudgedEntity.Own.none
                }
                tell(found.unreadable, of: service)
            }
        } catch {
            guard error.code == .corrupt else { throw error }
            logger.critical(
                "fences cannot be read, so no fence of some entities' own is judged",
                metadata: ["entities": "\(keys.count)", "reason": "\(error.detail)"])
            for key in keys where entities[key]?.own == nil { entities[key]?.own = JudgedEntity.Own.none }
        }
    }
}
