import Geofencing
package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    /// A message with what became of it for each of its targets, in the order of their names.
    struct QueuedMessage {
        let service: ServiceID
        let expires: Timestamp
        var pushes: [PushRecord]
        let message: Int64
        let created: Timestamp
    }

    package func queuePush(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> QueuedPush {
        if let problem = push.problem { throw TrackStoreError(.failed, problem) }
        try check(service)
        if case .entities(let names) = push.targets {
            for name in names where try entity(named: name, in: service) == nil {
                throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
            }
        }
        return try add(push, in: service, at: now)
    }

    /// What the points of a batch after a sequence bring about.
    func queue(_ batch: IngestBatch, after stored: UInt64?) throws(TrackStoreError) {
        for caused in batch.pushes {
            if let stored, let sequence = caused.sequence, sequence <= stored { continue }
            _ = try add(caused.push, in: batch.service, at: batch.received)
        }
    }

    func queue(_ push: NewPush, in service: ServiceID, at now: Timestamp) throws(TrackStoreError) {
        _ = try add(push, in: service, at: now)
    }

    private func add(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> QueuedPush {
        let all = try entities(in: service, matching: EntityFilter(), page: Page(offset: 0, limit: .max)).entities
        let names: [String]
        switch push.targets {
        case .service: names = all.map(\.name)
        case .entities(let wanted):
            let wanted = Set(wanted.map { Array($0.utf8) })
            names = all.map(\.name).filter { wanted.contains(Array($0.utf8)) }
        }
        lastMessage += 1
        let expires = now.adding(milliseconds: push.lifetime)
        let known = Set(push.alarm == nil ? [] : pushList.flatMap(\.pushes).map(\.push.id))
        func isFull(_ name: String) -> Bool {
            guard push.isAboutAnother(than: name) else { return false }
            let waiting = pushList.filter { $0.service == service }.flatMap(\.pushes).filter { record in
                record.entity.utf8.elementsEqual(name.utf8) && record.acknowledged == nil && record.withdrawn == nil
                    && !PushRules.isFirst(record.push.type)
            }
            return waiting.count >= PushRules.mostWaiting
        }
        let full = push.alarm == nil ? [] : names.filter(isFull)
        leftOut += full.count
        let pushes = names.filter { !full.contains($0) }.map { name in
            PushRecord(
                push: PendingPush(
                    id: push.alarm.map { UInt64($0.pushID(to: name)) } ?? UInt64.random(in: 1...UInt64(Int64.max)),
                    message: lastMessage, type: push.type, body: push.body, created: now),
                entity: name, expires: expires)
        }
        .filter { !known.contains($0.push.id) }
        pushList.append(
            QueuedMessage(service: service, expires: expires, pushes: pushes, message: lastMessage, created: now))
        var queued = QueuedPush(message: lastMessage, count: pushes.count)
        queued.leftOut = full.count
        return queued
    }

    private struct Mark: Hashable {
        /// The last message that was told.
        let message: Int64
    }

    package func pushNews(
        after mark: PushMark?, limit: Int
    ) throws(TrackStoreError) -> (through: PushMark, news: [PushNews]) {
        try checkOpen()
        guard let mark else { return (PushMark(Mark(message: lastMessage)), []) }
        let former = try mark.content(as: Mark.self)
        let news = pushList.filter { $0.message > former.message }.prefix(max(0, limit)).map { queued in
            PushNews(
                message: queued.message, service: queued.service,
                entities: queued.pushes.count > PushNews.maximumEntities ? nil : queued.pushes.map(\.entity))
        }
        return (PushMark(Mark(message: news.last?.message ?? former.message)), news)
    }

    func withdrawPushes(of entity: EntityKey, at now: Timestamp) {
        for message in pushList.indices where pushList[message].service == entity.service {
            for index in pushList[message].pushes.indices {
                let record = pushList[message].pushes[index]
                guard EntityKey(service: entity.service, name: record.entity) == entity else { continue }
                if record.state(at: now) == .waiting || record.state(at: now) == .givenUp {
                    pushList[message].pushes[index].withdrawn = now
                }
            }
        }
    }

    package func pendingPushes(
        of entity: String, in service: ServiceID, after mark: PushMark?, at now: Timestamp, limit: Int
    ) throws(TrackStoreError) -> (through: PushMark, pushes: [PendingPush]) {
        try checkOpen()
        let former = try mark?.content(as: PendingCursor.self) ?? PendingCursor()
        let all = pushList.filter { $0.service == service && $0.expires > now }.flatMap(\.pushes)
            .filter { $0.acknowledged == nil && $0.withdrawn == nil && $0.entity.utf8.elementsEqual(entity.utf8) }
            .map(\.push)
        let firsts = all.filter { PushRules.isFirst($0.type) && $0.message > former.first }.prefix(max(0, limit))
        let others = all.filter { !PushRules.isFirst($0.type) && $0.message > former.other }
            .prefix(max(0, limit - firsts.count))
        let through = PendingCursor(
            first: firsts.last?.message ?? former.first, other: others.last?.message ?? former.other)
        return (PushMark(through), Array(firsts + others))
    }

    private struct PendingCursor: Hashable {
        /// The last message that was told of those that go first, and of the others.
        var first: Int64 = 0
        var other: Int64 = 0
    }

    package func pushesLeftOut() -> Int { leftOut }

    package func settlePushes(_ settlements: [PushSettlement]) throws(TrackStoreError) {
        try checkOpen()
        for settlement in settlements {
            for message in pushList.indices {
                for index in pushList[message].pushes.indices {
                    let record = pushList[message].pushes[index]
                    guard record.push.id == settlement.id, record.acknowledged == nil else { continue }
                    switch settlement.outcome {
                    case .acknowledged: pushList[message].pushes[index].acknowledged = settlement.time
                    case .givenUp: pushList[message].pushes[index].givenUp = settlement.time
                    }
                }
            }
        }
    }

    package func pushes(
        in service: ServiceID, matching filter: PushFilter, at now: Timestamp, page: Page
    ) throws(TrackStoreError) -> (total: Int, pushes: [PushRecord]) {
        try checkOpen()
        let found = pushList.reversed().filter { $0.service == service }.flatMap(\.pushes).filter { record in
            if let entity = filter.entity, !record.entity.utf8.elementsEqual(entity.utf8) { return false }
            return filter.state.map { $0 == record.state(at: now) } ?? true
        }
        return (found.count, Array(found.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))))
    }

    package func removePushes(before time: Timestamp, limit: Int) throws(TrackStoreError) -> Int {
        try checkOpen()
        var removed = 0
        for index in pushList.indices where pushList[index].created < time && removed < limit {
            let count = min(pushList[index].pushes.count, limit - removed)
            pushList[index].pushes.removeFirst(count)
            removed += count
        }
        pushList.removeAll { $0.created < time && $0.pushes.isEmpty }
        return removed
    }
}
