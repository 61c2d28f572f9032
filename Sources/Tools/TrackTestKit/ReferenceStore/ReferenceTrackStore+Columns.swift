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
