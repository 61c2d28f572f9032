package import TrackModel

/// Finds entities by their latest positions, their texts and their values.
package protocol EntitySearchStore: Sendable {
    /// Exact: no entity is missed, none too many is found, whatever is stored meanwhile; the page and the total are of one
    /// moment. Nothing for an unknown service. Throws `.tooManyNames` beyond ``EntityFilter/maximumNames``.
    func search(
        _ search: EntitySearch, in service: ServiceID, page: Page
    ) async throws(TrackStoreError) -> EntityFindings
}

extension StoreDecorator {
    package func search(
        _ search: EntitySearch, in service: ServiceID, page: Page
    ) async throws(TrackStoreError) -> EntityFindings {
        try await passing { store async throws(TrackStoreError) in
            try await store.search(search, in: service, page: page)
        }
    }
}
