package import TrackModel

/// How the vehicles of a store are: one row for each entity that an agent has logged in as.
package protocol HealthStore: Sendable {
    /// Keeps the newest of each entity, in one transaction. An entity that is not there is passed over. A note that is older
    /// than what is kept, by at most ``HealthNote/lateness``, changes nothing. What is newer than that was noted by a clock
    /// that was ahead, and is replaced.
    func noteHealth(_ notes: [HealthNote]) async throws(TrackStoreError)
    /// Of one service or of all (nil), at most `limit` after a mark, and the mark to go on from; nil when there are no more. The
    /// order stays. Only of entities that are there. `heard` counts stored points too. Costs what it returns, wherever it
    /// begins.
    func health(in service: ServiceID?, after mark: Int64?, limit: Int) async throws(TrackStoreError) -> HealthPage
}

/// Some vehicles of a store.
package struct HealthPage: Hashable, Sendable {
    package let vehicles: [VehicleHealth]
    /// Where the next page begins; nil: there is none.
    package let mark: Int64?

    package init(_ vehicles: [VehicleHealth], mark: Int64?) {
        (self.vehicles, self.mark) = (vehicles, mark)
    }
}

extension HealthStore {
    /// All pages, in chunks of `atOnce` rows; in the order of services and names.
    package func allHealth(
        in service: ServiceID?, atOnce: Int = 1000
    ) async throws(TrackStoreError) -> [VehicleHealth] {
        var found: [VehicleHealth] = []
        var mark: Int64?
        repeat {
            let page = try await health(in: service, after: mark, limit: atOnce)
            found += page.vehicles
            mark = page.mark
        } while mark != nil
        return VehicleHealth.sorted(found)
    }
}

extension VehicleHealth {
    /// By services, and then by the bytes of names.
    package static func sorted(_ vehicles: [VehicleHealth]) -> [VehicleHealth] {
        vehicles.sorted {
            $0.entity.service == $1.entity.service
                ? $0.entity.name.utf8.lexicographicallyPrecedes($1.entity.name.utf8)
                : $0.entity.service < $1.entity.service
        }
    }
}

extension StoreDecorator {
    package func noteHealth(_ notes: [HealthNote]) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.noteHealth(notes)
        }
    }

    package func health(
        in service: ServiceID?, after mark: Int64?, limit: Int
    ) async throws(TrackStoreError) -> HealthPage {
        try await passing { store async throws(TrackStoreError) in
            try await store.health(in: service, after: mark, limit: limit)
        }
    }
}
