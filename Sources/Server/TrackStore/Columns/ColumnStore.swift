package import TrackModel

/// The custom columns of services.
package protocol ColumnStore: Sendable {
    /// Throws `.columnExists`, `.tooManyColumns` beyond ``ColumnRecord/maximumCount``, `.unknownService`.
    func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError)
    /// Deletes a column, of entities with all its values; points keep theirs. Throws `.unknownColumn`.
    func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError)
    /// In the order of their keys (bytes of UTF-8); empty for an unknown service.
    func columns(of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) -> [ColumnRecord]
}

extension StoreDecorator {
    package func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.addColumn(column, of: kind, in: service)
        }
    }

    package func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.deleteColumn(named: key, of: kind, in: service)
        }
    }

    package func columns(of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) -> [ColumnRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.columns(of: kind, in: service)
        }
    }
}
