package import Geofencing
package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    /// The fences of a service.
    struct ServiceFences {
        /// The last number that a fence got.
        var last: Int32 = 0
        var records: [Int32: FenceRecord] = [:]
        /// Since when each fence watches those that it names.
        var since: [Int32: [ExactName: Timestamp]] = [:]
        /// The vehicles that made fences.
        var makers: [Int32: ExactName] = [:]
    }

    /// The fences of a service after a change.
    struct KeptFences {
        let service: ServiceID
        let version: Int64
        let time: Timestamp
        let table: ServiceFences
    }

    struct KeptNews {
        let news: FenceNews
        let time: Timestamp
    }

    private struct Mark: Hashable {
        let version: Int64
    }

    package func createFence(
        _ definition: FenceDefinition, by maker: String?, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> FenceRecord {
        try check(service)
        var table = fenceTable[service] ?? ServiceFences()
        table.last += 1
        let fence: Fence
        do throws(FenceError) {
            fence = try Fence(id: table.last, definition, at: now)
        } catch {
            throw TrackStoreError(.refusedFence, error.description)
        }
        try check(definition.watch, beside: .nobody, table, service)
        table.makers[table.last] = maker.map { ExactName($0) }
        return keep(fence, former: nil, in: table, service, at: now)
    }

    package func updateFence(
        _ fence: Int32, to definition: FenceDefinition, expecting version: Int64, in service: ServiceID,
        at now: Timestamp
    ) throws(TrackStoreError) -> FenceRecord {
        try check(service)
        guard let table = fenceTable[service], let record = table.records[fence] else {
            throw TrackStoreError(.unknownFence, "the service has no fence \(fence)")
        }
        guard record.version == version else { throw TrackStoreError(.fenceChanged, "the fence was changed") }
        var changed = record.fence
        let edit: FenceEdit
        do throws(FenceError) {
            edit = try changed.update(definition, at: now)
        } catch {
            throw TrackStoreError(.refusedFence, error.description)
        }
        guard edit != .nothing else { return record }
        try check(definition.watch, beside: record.fence.definition.watch, table, service)
        return keep(changed, former: record, in: table, service, at: now)
    }

    private func check(
        _ watch: FenceWatch, beside former: FenceWatch, _ table: ServiceFences, _ service: ServiceID
    ) throws(TrackStoreError) {
        if watch.isEveryone, !former.isEveryone {
            guard table.records.values.count(where: { $0.everyoneSince != nil }) < FenceRules.mostPublic else {
                throw TrackStoreError(.tooManyFences, "the service has as many public fences as it may have")
            }
        }
        for name in watch.entities where former.isEveryone || !former.contains(name.text) {
            guard try entity(named: name.text, in: service) != nil else {
                throw TrackStoreError(.unknownEntity, "the service has no entity '\(name.text)'")
            }
            guard table.since.values.count(where: { $0[name] != nil }) < FenceRules.mostNaming else {
                throw TrackStoreError(.tooManyFences, "as many fences watch the entity as may")
            }
        }
    }

    private func keep(
        _ fence: Fence, former: FenceRecord?, in table: ServiceFences, _ service: ServiceID, at now: Timestamp
    ) -> FenceRecord {
        var table = table
        let watch = fence.definition.watch
        let record = FenceRecord(
            fence: fence,
            version: tell(
                fence.id, of: service, former?.fence.definition.watch ?? .nobody, watch, at: now),
            everyoneSince: watch.isEveryone
                ? former.map { $0.everyoneSince ?? now } ?? FenceRules.watchStart(at: now) : nil)
        table.records[fence.id] = record
        let since = table.since[fence.id] ?? [:]
        table.since[fence.id] = Dictionary(
            watch.entities.map { name in
                (name, since[name] ?? former?.everyoneSince ?? watchStart(of: name, in: service, at: now))
            },
            uniquingKeysWith: { first, _ in first })
        fenceTable[service] = table
        keepState(of: service, at: record.version, now)
        return record
    }

    private func watchStart(of entity: ExactName, in service: ServiceID, at now: Timestamp) -> Timestamp {
        let known = entityTable[EntityKey(service: service, name: entity.text)]
        return FenceRules.watchStart(at: now, latest: known?.points.map(\.point.fix.time).max())
    }

    /// Every state of a service's fences is kept whole: so what another store says of an earlier version can be compared.
    private func keepState(of service: ServiceID, at version: Int64, _ now: Timestamp) {
        guard let table = fenceTable[service] else { return }
        fenceStates.append(KeptFences(service: service, version: version, time: now, table: table))
    }

    /// Returns the number of the change.
    private func tell(
        _ fence: Int32, of service: ServiceID, _ former: FenceWatch, _ watch: FenceWatch, at now: Timestamp
    ) -> Int64 {
        fenceVersion = max(fenceVersion + 1, now.milliseconds)
        let names = Set(former.entities + watch.entities).sorted()
        let news = FenceNews(
            service: service, fence: fence, version: fenceVersion,
            concernsEveryone: former.isEveryone || watch.isEveryone,
            entities: names.count > FenceNews.mostEntities ? nil : names.map(\.text))
        fenceNewsList.append(KeptNews(news: news, time: now))
        return fenceVersion
    }

    package func deleteFences(
        matching filter: FenceFilter, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> [Int32] {
        try check(service)
        let found = try matches(filter, in: service)
        for record in found {
            fenceTable[service]?.records[record.fence.id] = nil
            fenceTable[service]?.since[record.fence.id] = nil
            let version = tell(record.fence.id, of: service, record.fence.definition.watch, .nobody, at: now)
            keepState(of: service, at: version, now)
        }
        return found.map(\.fence.id)
    }

    package func fences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) throws(TrackStoreError) -> (total: Int, fences: [FenceRecord]) {
        let found = try matches(filter, in: service)
        return (found.count, Array(found.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))))
    }

    package func readableFences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) throws(TrackStoreError) -> ReadableFences {
        let found = try fences(in: service, matching: filter, page: page)
        return ReadableFences(total: found.total, fences: found.fences)
    }

    private func matches(_ filter: FenceFilter, in service: ServiceID) throws(TrackStoreError) -> [FenceRecord] {
        try checkOpen()
        let numbers = filter.fences.map { Set($0) }
        guard numbers.map({ $0.count <= FenceRules.mostNumbers }) ?? true else {
            throw TrackStoreError(.tooManyNames, "a filter takes at most \(FenceRules.mostNumbers) fences")
        }
        return (fenceTable[service]?.records ?? [:]).values.filter { record in
            guard numbers?.contains(record.fence.id) ?? true, record.fence.id > filter.after else { return false }
            let maker = fenceTable[service]?.makers[record.fence.id]
            switch filter.maker {
            case .anyone: break
            case .vehicle(let name): guard maker == ExactName(name) else { return false }
            case .otherThan(let name): guard maker != ExactName(name) else { return false }
            }
            let watch = record.fence.definition.watch
            switch filter.watch {
            case .any: return true
            case .nobody: return watch.isNobody
            case .named: return !watch.entities.isEmpty
            case .several: return watch.entities.count > 1
            case .everyone: return watch.isEveryone
            case .only(let name): return watch.entities == [ExactName(name)]
            case .naming(let name): return watch.entities.contains(ExactName(name))
            case .watching(let name): return watch.contains(name)
            }
        }
        .sorted { $0.fence.id < $1.fence.id }
    }

    package func fences(naming entities: [EntityKey]) throws(TrackStoreError) -> NamingFences {
        try checkOpen()
        let found = entities.map { entity -> [WatchedFence] in
            guard let table = fenceTable[entity.service] else { return [] }
            return table.records.values.sorted { $0.fence.id < $1.fence.id }.compactMap { record in
                table.since[record.fence.id]?[ExactName(entity.name)].map { WatchedFence(record: record, since: $0) }
            }
        }
        return NamingFences(version: fenceVersion, fences: found)
    }

    package func watchTimes(of entity: EntityKey) throws(TrackStoreError) -> [Int32: Timestamp] {
        try checkOpen()
        return fenceTable[entity.service]?.since.compactMapValues { $0[ExactName(entity.name)] } ?? [:]
    }

    package func fenceNews(
        after mark: FenceMark?, limit: Int
    ) throws(TrackStoreError) -> (through: FenceMark, news: [FenceNews]?) {
        try checkOpen()
        let now = FenceMark(Mark(version: fenceVersion))
        guard let mark else { return (now, []) }
        let former = try mark.content(as: Mark.self)
        guard former.version >= fenceNewsForgotten else { return (now, nil) }
        let news = fenceNewsList.map(\.news).filter { $0.version > former.version }.prefix(max(0, limit))
        return (FenceMark(Mark(version: news.last?.version ?? former.version)), Array(news))
    }

    package func fences(
        watching entity: EntityKey, page: Page
    ) throws(TrackStoreError) -> (version: Int64, fences: [WatchedFence]) {
        try checkOpen()
        let found = Self.fences(watching: entity.name, in: fenceTable[entity.service] ?? ServiceFences())
            .values.sorted { $0.record.fence.id < $1.record.fence.id }
        return (fenceVersion, Array(found.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))))
    }

    private static func fences(watching entity: String, in table: ServiceFences) -> [Int32: WatchedFence] {
        table.records.compactMapValues { record in
            (table.since[record.fence.id]?[ExactName(entity)] ?? record.everyoneSince).map {
                WatchedFence(record: record, since: $0)
            }
        }
    }

    package func fenceDifference(
        of entity: EntityKey, since version: Int64
    ) throws(TrackStoreError) -> FenceDifference {
        try checkOpen()
        if version == fenceVersion { return FenceDifference(version: fenceVersion, changes: []) }
        guard version == fenceNewsForgotten || fenceNewsList.contains(where: { $0.news.version == version }) else {
            return FenceDifference(version: fenceVersion, changes: nil)
        }
        let states = fenceStates.filter { $0.service == entity.service }
        let former =
            states.last { $0.version <= version }.map { Self.fences(watching: entity.name, in: $0.table) } ?? [:]
        let present = Self.fences(watching: entity.name, in: fenceTable[entity.service] ?? ServiceFences())
        let news = fenceNewsList.filter { $0.news.service == entity.service && $0.news.version > version }
        let changes = Set(news.map(\.news.fence)).sorted().compactMap { fence -> FenceDifference.Change? in
            let before = former[fence].flatMap { watched -> FormerFence? in
                let own = news.filter { $0.news.fence == fence }
                let replacing = own.first { change in
                    let table = states.last { $0.version <= change.news.version }?.table ?? ServiceFences()
                    let then = Self.fences(watching: entity.name, in: table)[fence]
                    return then?.record.fence.revision != watched.record.fence.revision
                }
                return (replacing ?? own.last).map {
                    FormerFence(fence: watched.record.fence, since: watched.since, replaced: $0.time)
                }
            }
            guard before != nil || present[fence] != nil else { return nil }
            return FenceDifference.Change(fence: fence, former: before, present: present[fence])
        }
        return FenceDifference(version: fenceVersion, changes: changes)
    }

    package func removeFenceNews(before time: Timestamp, limit: Int) throws(TrackStoreError) -> Int {
        try checkOpen()
        let old = fenceNewsList.prefix { $0.time < time }.prefix(max(0, limit))
        fenceNewsForgotten = old.last?.news.version ?? fenceNewsForgotten
        fenceNewsList.removeFirst(old.count)
        return old.count
    }
}
