package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    struct KeptExport {
        var record: ExportRecord
        var claim: (worker: Int64, end: Timestamp)?
        /// A worker has had it since it began to wait.
        var wasTried = false
    }

    package func addExport(
        _ order: ExportOrder, token: String, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> ExportRecord {
        try check(service)
        guard
            exportList.count(where: { $0.record.service == service && $0.record.state != .done })
                < ExportRules.mostUnfinished
        else { throw TrackStoreError(.tooManyExports, "too many jobs of the service are not done") }
        lastExport += 1
        let record = ExportRecord(
            number: lastExport, service: service, order: order, token: token, created: now, modified: now,
            state: .waiting)
        exportList.append(KeptExport(record: record))
        return record
    }

    package func exports(
        in service: ServiceID, doneSince: Timestamp
    ) throws(TrackStoreError) -> [ExportRecord] {
        try check(service)
        return exportList.map(\.record).filter {
            $0.service == service && ($0.state != .done || $0.modified >= doneSince)
        }
    }

    package func export(token: String) throws(TrackStoreError) -> ExportRecord? {
        try checkOpen()
        return exportList.map(\.record).first { $0.token == token }
    }

    package func deleteExport(_ number: Int64, in service: ServiceID) throws(TrackStoreError) {
        try checkOpen()
        let index = exportList.firstIndex { $0.record.number == number && $0.record.service == service }
        guard let index else { throw TrackStoreError(.unknownExport, "the service has no job of this number") }
        exportList.remove(at: index)
    }

    package func claimExport(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) throws(TrackStoreError) -> ExportRecord? {
        try checkOpen()
        let free = exportList.indices.filter { index in
            let kept = exportList[index]
            return kept.record.state != .done && kept.claim.map { $0.end < now || $0.worker == worker } ?? true
        }
        let tried = exportList.filter { $0.record.state != .waiting || $0.wasTried }.map(\.record)
        let turns = Dictionary(tried.map { ($0.service, $0.modified) }, uniquingKeysWith: max)
        func due(_ index: Int) -> (Timestamp, Timestamp, Int64) {
            let record = exportList[index].record
            return (max(record.modified, turns[record.service] ?? record.modified), record.modified, record.number)
        }
        guard let index = free.min(by: { due($0) < due($1) }) else { return nil }
        (exportList[index].record.state, exportList[index].record.modified) = (.running, now)
        (exportList[index].claim, exportList[index].wasTried) = ((worker, end), true)
        return exportList[index].record
    }

    package func keepExport(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) throws(TrackStoreError) -> Bool {
        guard let index = try claimed(number, by: worker) else { return false }
        exportList[index].claim = (worker, end)
        return true
    }

    package func settleExport(
        _ number: Int64, by worker: Int64, _ result: ExportResult?, at now: Timestamp
    ) throws(TrackStoreError) -> Bool {
        guard let index = try claimed(number, by: worker) else { return false }
        exportList[index].claim = nil
        exportList[index].record.state = result == nil ? .waiting : .done
        exportList[index].record.result = result
        exportList[index].record.modified = now
        return true
    }

    private func claimed(_ number: Int64, by worker: Int64) throws(TrackStoreError) -> Int? {
        try checkOpen()
        return exportList.firstIndex { $0.record.number == number && $0.claim?.worker == worker }
    }

    package func removeExports(doneBefore: Timestamp) throws(TrackStoreError) -> Int {
        try checkOpen()
        let former = exportList.count
        exportList.removeAll { $0.record.state == .done && $0.record.modified < doneBefore }
        return former - exportList.count
    }

    package func exportTokens() throws(TrackStoreError) -> Set<String> {
        try checkOpen()
        return Set(exportList.map(\.record.token))
    }

    package func exportUses() throws(TrackStoreError) -> [ServiceID: ExportUse] {
        try checkOpen()
        var uses: [ServiceID: ExportUse] = [:]
        for record in exportList.map(\.record) {
            guard let result = record.result else { continue }
            uses[record.service, default: ExportUse(files: 0, bytes: 0)].files += 1
            uses[record.service]?.bytes += result.bytes
        }
        return uses
    }

    package func exportCounts() throws(TrackStoreError) -> [ExportRecord.State: Int] {
        try checkOpen()
        return Dictionary(exportList.map { ($0.record.state, 1) }, uniquingKeysWith: +)
    }

    package func exportedEntities(
        in service: ServiceID, from: Timestamp, through: Timestamp, after: Int64, limit: Int
    ) throws(TrackStoreError) -> [ExportedEntity] {
        try checkOpen()
        let found = entityTable.filter { key, entity in
            key.service == service && entity.number > after
                && entity.points.contains { (from...max(from, through)).contains($0.point.fix.time) }
        }
        return found.map { ExportedEntity(number: $0.value.number, name: $0.value.record.name) }
            .sorted { $0.number < $1.number }.prefix(max(0, limit)).map { $0 }
    }
}
