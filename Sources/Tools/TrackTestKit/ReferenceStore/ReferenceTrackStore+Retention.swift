package import TrackModel
package import TrackStore

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
