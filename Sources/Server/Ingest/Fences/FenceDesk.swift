import FenceJudging
import Geofencing
import Logging
import TrackModel
import TrackStore

/// A batch with what its points bring about.
struct JudgedBatch: Sendable {
    var batch: IngestBatch
    /// What is remembered of the entity when the batch is stored; nil: no fence looks at the entity.
    var state: JudgedState?
    var late = 0
    var ahead = 0
}

/// Judges batches by the fences of their services, before they are stored.
///
/// It judges from what the last commit left, and each batch says from which version of its entity. So the store takes what
/// a batch brings about only while that version holds. When it does not, the store tells the present version, and the batch
/// is judged anew. One task calls it, one group of batches after the other.
actor FenceDesk {
    /// Entities whose fences and state are kept in memory: about 100 MB.
    private static let mostEntities = 100_000
    private static let newsAtOnce = 1000
    private static let fencesAtOnce = 10_000
    /// Earlier versions of fences that are kept in memory, for an entity and for a service.
    private static let mostEarlier = 4

    private struct Service {
        var fences: ServiceFences
        /// Whether some fence of the service watches entities by name.
        var hasNaming: Bool
        /// Some fence over everyone cannot be read: with the next change all are read anew.
        var isUnreadable = false
        /// Changes when nobody knows whose own fences have changed.
        var generation = 0
        /// The number of the last change that is in `fences`, or an earlier one.
        var version: Int64 = 0
        /// The fences over everyone without those that some vehicles had in another revision.
        var others: [Set<Int32>: ServiceFences] = [:]

        /// Whether a vehicle may have judged by other fences than the present ones, or has just got them.
        func hasOthers(_ used: FencesUsed) -> Bool {
            used.version < version || used.base > 0 && used.base < used.version
        }
    }

    private struct Entity: Sendable {
        enum Own: Sendable {
            case none
            case some(OwnFences)
        }

        /// Nil: they must be read.
        var own: Own?
        var generation = 0
        /// Nil: it must be read.
        var state: (remembered: JudgedState, version: Int64)?
        /// The fences by which the entity's vehicle judged; nil when the store does not know them any more.
        var earlier: [FencesUsed: JudgingFences?] = [:]
        /// The version of the service at which `earlier` was read.
        var earlierOf: Int64 = 0
    }

    private let store: any FenceStore
    private let logger: Logger
    private let zones: ZoneTable
    private var mark: FenceMark?
    private var services: [ServiceID: Service] = [:]
    private var entities = RecentTable<EntityKey, Entity>(capacity: mostEntities)
    private var judge = BatchJudge()
    private var storm = AlarmStorm()

    init(_ store: any FenceStore, zones: @escaping ZoneTable, logger: Logger) {
        self.store = store
        self.zones = zones
        self.logger = logger
    }

    // MARK: Judging

    /// Throws what the store throws while fences and states are read: then nothing was judged.
    func judge(_ batches: [IngestBatch]) async throws(TrackStoreError) -> [JudgedBatch] {
        try await hear()
        for service in Set(batches.map(\.service)) where services[service] == nil { try await load(service) }
        try await meet(batches)
        var reached: [EntityKey: JudgedState] = [:]
        return batches.map { batch in
            let key = EntityKey(service: batch.service, name: batch.entity)
            guard batch.isToBeJudged, let service = services[batch.service], let entity = entities[key],
                let known = entity.state
            else { return JudgedBatch(batch: batch) }
            let fences = self.fences(for: batch, service, entity)
            guard fences.contains(where: { !$0.isEmpty }) else { return JudgedBatch(batch: batch) }
            var judged = JudgedBatch(batch: batch)
            if reached[key] == nil {
                judged.batch.expectedVersion = known.version
            } else {
                judged.batch.followsBatch = true
            }
            let verdict = judge.judge(batch, from: reached[key] ?? known.remembered, by: fences)
            reached[key] = verdict.state
            judged.state = verdict.state
            (judged.late, judged.ahead) = (verdict.late, verdict.ahead)
            if verdict.judged > 0 { judged.batch.fences = verdict.state.encoded }
            judged.batch.alarms += verdict.alarms
            return judged
        }
    }

    /// The present fences, and from the times on that the vehicle says, those by which the vehicle judged.
    private func fences(for batch: IngestBatch, _ service: Service, _ entity: Entity) -> [JudgingFences] {
        var own: OwnFences?
        if case .some(let fences)? = entity.own { own = fences }
        let present = JudgingFences(service.fences, own: own)
        return [present]
            + batch.fencesThatCount.map { used in
                (service.hasOthers(used) ? entity.earlier[used] ?? nil : nil) ?? present.used(used)
            }
    }

    /// Remembers what was committed. Returns how many alarms were.
    func settle(_ batches: [JudgedBatch], _ outcomes: [IngestOutcome]) -> Int {
        var alarms = 0
        for (judged, outcome) in zip(batches, outcomes) {
            let key = EntityKey(service: judged.batch.service, name: judged.batch.entity)
            switch outcome {
            case .stored(_, let version):
                remember(judged.state, version, of: key, unlessPointless: judged.batch)
                alarms += judged.batch.alarms.count
                watchForStorms(judged.batch)
            case .stale(let version, let bytes): remember(read(bytes, of: key), version, of: key)
            case .duplicate: break
            // What became of them, nobody knows: the next batch reads it.
            case .replaced, .rewound, .failed: entities[key]?.state = nil
            }
        }
        return alarms
    }

    private func remember(
        _ state: JudgedState?, _ version: Int64, of key: EntityKey, unlessPointless batch: IngestBatch? = nil
    ) {
        if state == nil, batch?.points.isEmpty ?? false { return }
        entities[key]?.state = state.map { ($0, version) }
    }

    private func read(_ bytes: [UInt8]?, of key: EntityKey) -> JudgedState {
        guard let bytes else { return JudgedState() }
        do throws(MemoryCodingError) {
            return try JudgedState(encoded: bytes)
        } catch {
            logger.error(
                "what the fences know of an entity cannot be read, so its places are found anew",
                metadata: [
                    "service": "\(key.service.rawValue)", "entity": "\(key.name)", "reason": "\(error.description)",
                ])
            return JudgedState()
        }
    }

    private func watchForStorms(_ batch: IngestBatch) {
        for caused in batch.alarms
        where storm.add(fence: caused.alarm.fence, entity: batch.entity, at: batch.received) {
            logger.warning(
                "a fence makes more than \(AlarmStorm.usual) alarms of an entity within an hour",
                metadata: [
                    "service": "\(batch.service.rawValue)", "fence": "\(caused.alarm.fence)",
                    "entity": "\(batch.entity)",
                ])
        }
    }

    // MARK: Fences

    /// Hears of the changes of fences: the next batch is judged by them.
    private func hear() async throws(TrackStoreError) {
        guard var heard = mark else {
            mark = try await store.fenceNews(after: nil, limit: 1).through
            return
        }
        while true {
            let found = try await store.fenceNews(after: heard, limit: Self.newsAtOnce)
            guard let news = found.news else {
                (services, entities) = ([:], RecentTable(capacity: Self.mostEntities))
                mark = found.through
                return
            }
            for (service, changes) in Dictionary(grouping: news, by: \.service) {
                try await apply(changes, to: service)
            }
            (mark, heard) = (found.through, found.through)
            if news.count < Self.newsAtOnce { return }
        }
    }

    private func apply(_ news: [FenceNews], to id: ServiceID) async throws(TrackStoreError) {
        guard var service = services[id] else { return }
        // The change may be the one that mends it.
        guard !service.isUnreadable else { return services[id] = nil }
        for names in news.map(\.entities) {
            guard let names else {
                service.generation += 1
                continue
            }
            for name in names { entities[EntityKey(service: id, name: name)]?.own = nil }
        }
        let numbers = Array(Set(news.map(\.fence)))
        service.version = max(service.version, news.map(\.version).max() ?? 0)
        service.others = [:]
        do throws(TrackStoreError) {
            let records = try await store.fences(
                in: id, matching: FenceFilter(fences: numbers), page: Page(offset: 0, limit: numbers.count)
            ).fences
            let byNumber = Dictionary(records.map { ($0.fence.id, $0) }, uniquingKeysWith: { first, _ in first })
            let unjudged = service.fences.unjudged
            for number in numbers { service.fences.change(number, to: byNumber[number]) }
            if !service.fences.unjudged.isSubset(of: unjudged) { tellUnjudged(service.fences, of: id) }
            if service.fences.isWorn { service.fences = service.fences.rebuilt() }
            service.hasNaming = try await hasNaming(id)
            services[id] = service
        } catch {
            guard error.code == .corrupt else { throw error }
            services[id] = unreadable(id, error)
        }
    }

    private func hasNaming(_ service: ServiceID) async throws(TrackStoreError) -> Bool {
        try await store.fences(in: service, matching: FenceFilter(watch: .named), page: Page(offset: 0, limit: 0)).total
            > 0
    }

    private func load(_ id: ServiceID) async throws(TrackStoreError) {
        do throws(TrackStoreError) {
            let nobody = EntityKey(service: id, name: "")
            let version = try await store.fences(watching: nobody, page: Page(offset: 0, limit: 0)).version
            var records: [FenceRecord] = []
            while true {
                let page = try await store.fences(
                    in: id, matching: FenceFilter(watch: .everyone),
                    page: Page(offset: records.count, limit: Self.fencesAtOnce))
                records += page.fences
                if page.fences.count < Self.fencesAtOnce { break }
            }
            let fences = ServiceFences(records, zones: zones)
            tellUnjudged(fences, of: id)
            services[id] = Service(fences: fences, hasNaming: try await hasNaming(id), version: version)
        } catch {
            guard error.code == .corrupt else { throw error }
            services[id] = unreadable(id, error)
        }
    }

    private func tellUnjudged(_ fences: ServiceFences, of id: ServiceID) {
        guard let first = fences.unjudged.min() else { return }
        logger.warning(
            "fences over everyone are not judged, because this computer does not know their time zones",
            metadata: ["service": "\(id.rawValue)", "fences": "\(fences.unjudged.count)", "first": "\(first)"])
    }

    /// Points are stored all the same: a damaged fence must not hold up a fleet.
    private func unreadable(_ id: ServiceID, _ error: TrackStoreError) -> Service {
        logger.critical(
            "a fence cannot be read, so no fence over everyone is judged in its service",
            metadata: ["service": "\(id.rawValue)", "reason": "\(error.detail)"])
        return Service(fences: ServiceFences(zones: zones), hasNaming: true, isUnreadable: true)
    }

    // MARK: Entities

    /// Reads what is not known of the entities of some batches.
    private func meet(_ batches: [IngestBatch]) async throws(TrackStoreError) {
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
            var entity = entities[key] ?? Entity()
            let generation = services[key.service]?.generation ?? 0
            if entity.generation != generation { (entity.own, entity.generation) = (nil, generation) }
            if let version = services[key.service]?.version, entity.earlierOf != version {
                (entity.earlier, entity.earlierOf) = ([:], version)
            }
            if entity.own == nil {
                if services[key.service]?.hasNaming ?? false { named.append(key) } else { entity.own = Entity.Own.none }
            }
            entities[key] = entity
        }
        if !named.isEmpty { try await readOwnFences(of: named) }
        try await readEarlierFences(for: batches)
        let strangers = keys.filter { key in
            guard let entity = entities[key], entity.state == nil else { return false }
            if case .some? = entity.own { return true }
            return !(services[key.service]?.fences.isEmpty ?? true) || entity.earlier.values.contains { $0 != nil }
        }
        guard !strangers.isEmpty else { return }
        let states = try await store.fenceStates(of: strangers)
        for (key, state) in zip(strangers, states) { remember(read(state.fences, of: key), state.version, of: key) }
    }

    /// Reads the fences by which vehicles judged their points, where they are others than the present ones.
    private func readEarlierFences(for batches: [IngestBatch]) async throws(TrackStoreError) {
        for batch in batches where batch.isToBeJudged {
            let key = EntityKey(service: batch.service, name: batch.entity)
            guard let service = services[batch.service] else { continue }
            let uses = batch.fencesThatCount.filter(service.hasOthers)
            if let entity = entities[key], entity.earlier.count + uses.count > Self.mostEarlier {
                entities[key]?.earlier = entity.earlier.filter { uses.contains($0.key) }
            }
            for used in uses {
                guard let entity = entities[key], entity.earlier[used] == nil else { continue }
                let earlier = try await earlierFences(of: key, used)
                entities[key]?.earlier[used] = .some(earlier)
            }
        }
    }

    /// Nil when the store does not know the version: then the present fences judge.
    private func earlierFences(
        of key: EntityKey, _ used: FencesUsed
    ) async throws(TrackStoreError) -> JudgingFences? {
        do throws(TrackStoreError) {
            guard let service = services[key.service],
                let changes = try await store.fenceDifference(of: key, since: used.version).changes
            else { return nil }
            let taken = used.base > 0 ? try await store.fenceDifference(of: key, since: used.base).changes : nil
            let fences = VehicleFences(
                used, named: try await store.fences(naming: [key]).flatMap(\.self), changes: changes,
                taken: taken)
            let hidden = fences.hidden(in: service.fences)
            let others = service.others[hidden] ?? service.fences.without(hidden)
            if service.others.count >= Self.mostEarlier { services[key.service]?.others = [:] }
            services[key.service]?.others[hidden] = others
            return fences.judging(beside: others, zones: zones)
        } catch {
            guard error.code == .corrupt else { throw error }
            logger.critical(
                "an earlier fence cannot be read, so the present fences judge the points of an entity",
                metadata: [
                    "service": "\(key.service.rawValue)", "entity": "\(key.name)", "reason": "\(error.detail)",
                ])
            return nil
        }
    }

    private func readOwnFences(of keys: [EntityKey]) async throws(TrackStoreError) {
        do throws(TrackStoreError) {
            for (key, fences) in zip(keys, try await store.fences(naming: keys)) {
                entities[key]?.own = OwnFences(fences, zones: zones).map { .some($0) } ?? Entity.Own.none
            }
        } catch {
            guard error.code == .corrupt else { throw error }
            logger.critical(
                "a fence cannot be read, so no fence of some entities' own is judged",
                metadata: ["entities": "\(keys.count)", "reason": "\(error.detail)"])
            for key in keys { entities[key]?.own = Entity.Own.none }
        }
    }
}

extension IngestBatch {
    /// Those uses of fences that some point of the batch falls into.
    fileprivate var fencesThatCount: [FencesUsed] {
        guard !fencesUsed.isEmpty, let first = points.lazy.map(\.fix.time).min(),
            let last = points.lazy.map(\.fix.time).max()
        else { return [] }
        let begin = fencesUsed.lastIndex { $0.after < first } ?? 0
        return fencesUsed[begin...].filter { $0.after < last }
    }

    /// Who says what a batch brings about has judged it.
    fileprivate var isToBeJudged: Bool {
        !points.isEmpty && expectedVersion == nil && !followsBatch && fences == nil
    }
}
