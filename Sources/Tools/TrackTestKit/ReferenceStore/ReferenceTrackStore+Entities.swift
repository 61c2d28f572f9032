import Geodesy
package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    package func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) throws(TrackStoreError) {
        try check(service)
        var list = try columns(of: kind, in: service)
        guard !list.contains(where: { $0.key == column.key }) else {
            throw TrackStoreError(.columnExists, "the service has a column of this key already")
        }
        guard list.count < ColumnRecord.maximumCount else {
            throw TrackStoreError(.tooManyColumns, "the service has as many columns as it may have")
        }
        list.append(column)
        columnTable[ColumnTable(service: service, kind: kind)] = list.sorted {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
    }

    package func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) throws(TrackStoreError) {
        let list = try columns(of: kind, in: service)
        guard list.contains(where: { $0.key == key }) else {
            throw TrackStoreError(.unknownColumn, "the service has no column of this key")
        }
        columnTable[ColumnTable(service: service, kind: kind)] = list.filter { $0.key != key }
        for entity in entityTable.keys where kind == .entity && entity.service == service {
            entityTable[entity]?.record.values[key] = nil
        }
    }

    package func columns(of kind: ColumnKind, in service: ServiceID) throws(TrackStoreError) -> [ColumnRecord] {
        try checkOpen()
        return columnTable[ColumnTable(service: service, kind: kind)] ?? []
    }

    func known(
        _ values: [String: String], _ service: ServiceID
    ) throws(TrackStoreError) -> [String: String] {
        let keys = Set(try columns(of: .entity, in: service).map(\.key))
        return values.filter { keys.contains($0.key) }
    }
}

extension ReferenceTrackStore {
    package func search(
        _ search: EntitySearch, in service: ServiceID, page: Page
    ) throws(TrackStoreError) -> EntityFindings {
        let keyword = SearchText.folded(search.keyword)
        let matches = try records(in: service, matching: search.filter).filter { record in
            if let area = search.area {
                guard let latest = record.latest, area.contains(KnownPlace(latest.point)) else { return false }
            }
            return [record.name, record.description].contains { SearchText.contains(SearchText.folded($0), keyword) }
        }
        let sorted = Self.sorted(matches.map { FoundEntity($0, in: search.area) }, by: search.order)
        return EntityFindings(
            total: sorted.count, entities: Array(sorted.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))))
    }

    /// `found` comes in the order of the names, and what is equal stays so.
    private static func sorted(_ found: [FoundEntity], by order: EntityOrder) -> [FoundEntity] {
        switch order.key {
        case .name: order.isDescending ? found.reversed() : found
        case .description:
            sorted(found, order) {
                $0.record.description.isEmpty ? nil : Array($0.record.description.utf8)
            } by: {
                $0.lexicographicallyPrecedes($1)
            }
        case .time:
            sorted(found, order) {
                $0.record.latest?.point.fix.time
            } by: {
                $0 < $1
            }
        case .distance:
            sorted(found, order) {
                $0.distance
            } by: {
                $0 < $1
            }
        case .value(let key):
            sorted(found, order) {
                $0.record.values[key].flatMap { $0.isEmpty ? nil : Array($0.utf8) }
            } by: {
                $0.lexicographicallyPrecedes($1)
            }
        }
    }

    private static func sorted<Key>(
        _ found: [FoundEntity], _ order: EntityOrder, key: (FoundEntity) -> Key?, by precedes: (Key, Key) -> Bool
    ) -> [FoundEntity] {
        found.enumerated().sorted { left, right in
            switch (key(left.element), key(right.element)) {
            case (let one?, let other?):
                if precedes(one, other) { return !order.isDescending }
                if precedes(other, one) { return order.isDescending }
                return left.offset < right.offset
            case (_?, nil): return true
            case (nil, _?): return false
            case (nil, nil): return left.offset < right.offset
            }
        }.map(\.element)
    }
}

extension ReferenceTrackStore {
    package func noteHealth(_ notes: [HealthNote]) throws(TrackStoreError) {
        try checkOpen()
        for note in notes {
            guard entityTable[note.entity] != nil else { continue }
            let known = healthList.first { $0.entity == note.entity }
            if let known, (1...HealthNote.lateness).contains(known.heard.milliseconds(since: note.heard)) { continue }
            healthList.removeAll { $0.entity == note.entity }
            healthList.append(
                VehicleHealth(
                    entity: note.entity, heard: note.heard, agentVersion: note.agentVersion, device: note.device,
                    report: note.report ?? known?.report,
                    reported: note.report == nil ? known?.reported : note.heard, hasLeft: note.hasLeft))
        }
    }

    package func health(
        in service: ServiceID?, after mark: Int64?, limit: Int
    ) throws(TrackStoreError) -> HealthPage {
        try checkOpen()
        let first = Int(mark ?? 0)
        let all = VehicleHealth.sorted(healthList.filter { service == nil || $0.entity.service == service })
        let found = all.dropFirst(first).prefix(limit).map { vehicle in
            var vehicle = vehicle
            if let received = entityTable[vehicle.entity]?.record.latest?.received, received > vehicle.heard {
                vehicle.heard = received
            }
            return vehicle
        }
        return HealthPage(found, mark: found.count < limit ? nil : Int64(first + found.count))
    }
}

extension ReferenceTrackStore {
    package func setRetention(_ retention: Retention, of service: ServiceID) throws(TrackStoreError) {
        try check(service)
        for index in serviceList.indices where serviceList[index].id == service {
            serviceList[index].retention = retention
        }
    }

    package func setAnswers(_ answers: AnswerForms, of service: ServiceID) throws(TrackStoreError) {
        try check(service)
        for index in serviceList.indices where serviceList[index].id == service {
            serviceList[index].answers = answers
        }
    }

    package func answers(of service: ServiceID) throws(TrackStoreError) -> AnswerForms {
        try check(service)
        return serviceList.first { $0.id == service }?.answers ?? AnswerForms()
    }

    package func lastPoints(
        of entity: String, in service: ServiceID, count: Int
    ) throws(TrackStoreError) -> StoredTrack {
        let all = try track(
            of: entity, in: service, from: Timestamp(milliseconds: .min), through: Timestamp(milliseconds: .max),
            limit: .max)
        return StoredTrack(points: StoredPoints(all.points.suffix(max(0, count))))
    }

    package func removePoints(
        of service: ServiceID, before time: Timestamp, after mark: RemovalMark?, limit: Int
    ) throws(TrackStoreError) -> PointRemoval {
        try check(service)
        var removed = 0
        for key in entityTable.keys where key.service == service {
            removed += removePoints(of: key) { $0.point.fix.time < time && $0.received < time }
        }
        return PointRemoval(removed: removed)
    }

    /// The latest point of an entity goes last. Points behind it were dated ahead of the server's clock, and go with it.
    private func removePoints(of key: EntityKey, where isOld: (StoredPoint) -> Bool) -> Int {
        guard var entity = entityTable[key] else { return 0 }
        let newest = Self.latest(of: entity.points)
        let end = newest?.point.fix.time
        let isAll = entity.points.allSatisfy { point in
            isOld(point) || end.map { point.point.fix.time > $0 } == true && newest.map(isOld) == true
        }
        let before = entity.points.count
        if isAll { entity.points = [] } else { entity.points.removeAll { isOld($0) && $0.point.fix.time != end } }
        // It was removed, or it is an old hint.
        if let latest = entity.record.latest, isOld(latest),
            !entity.points.contains(where: { $0.point.fix.time == latest.point.fix.time })
        {
            entity.record.latest = Self.latest(of: entity.points)
        }
        entityTable[key] = entity
        return before - entity.points.count
    }

    /// Of several the last.
    private static func latest(of points: [StoredPoint]) -> StoredPoint? {
        points.reduce(nil) { latest, point in
            guard let latest, Recency(point) < Recency(latest) else { return point }
            return latest
        }
    }
}
