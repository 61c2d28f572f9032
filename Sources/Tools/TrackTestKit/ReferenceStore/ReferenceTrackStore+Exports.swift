package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
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
        exportList.append(KeptJob(record: record))
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
        return exportList.claim(by: worker, at: now, through: end)
    }

    package func keepExport(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) throws(TrackStoreError) -> Bool {
        try checkOpen()
        return exportList.keep(number, by: worker, through: end)
    }

    package func settleExport(
        _ number: Int64, by worker: Int64, _ result: ExportResult?, at now: Timestamp
    ) throws(TrackStoreError) -> Bool {
        try checkOpen()
        return exportList.settle(number, by: worker, result, at: now)
    }

    package func removeExports(doneBefore: Timestamp) throws(TrackStoreError) -> Int {
        try checkOpen()
        return exportList.remove(doneBefore: doneBefore)
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
