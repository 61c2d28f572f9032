package import Geofencing
package import TrackModel

/// Which alarms of a service to list; all conditions must hold.
package struct AlarmFilter: Hashable, Sendable {
    package var entity: String?
    /// At most ``FenceRules/mostNumbers`` different ones.
    package var fences: [Int32]?
    package var actions: Set<FenceAction>?
    /// Whose fences; nil: the server's and the vehicles' own. Their numbers have nothing to do with each other.
    package var source: AlarmScope.Source?
    /// By ``AlarmRecord/received``, both ends included; nil: open.
    package var from: Timestamp?
    package var through: Timestamp?
    /// Whether those of fences that were replaced before are meant too: ``Alarm/isStale``.
    package var includesStale: Bool

    package init(
        entity: String? = nil, fences: [Int32]? = nil, actions: Set<FenceAction>? = nil,
        source: AlarmScope.Source? = nil, from: Timestamp? = nil, through: Timestamp? = nil, includesStale: Bool = false
    ) {
        self.entity = entity
        self.fences = fences
        self.actions = actions
        self.source = source
        self.from = from
        self.through = through
        self.includesStale = includesStale
    }
}

/// The history of alarms. Alarms come with the points that cause them: ``IngestBatch/alarms``.
package protocol AlarmStore: Sendable {
    /// Matches in the order of ``AlarmRecord/received``, at equal times of their numbers, and how many there are without the
    /// page's bounds; none of an unknown service. Alarms of deleted entities and fences are among them. Throws
    /// `.tooManyNames` beyond ``FenceRules/mostNumbers``.
    func alarms(
        in service: ServiceID, matching filter: AlarmFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, alarms: [AlarmRecord])
    /// Removes alarms that were received before a time, at most about `limit`; returns how many. 0: there are no more. One
    /// that still waits for the operator's URL waits no longer.
    func removeAlarms(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int
}

extension StoreDecorator {
    package func alarms(
        in service: ServiceID, matching filter: AlarmFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, alarms: [AlarmRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.alarms(in: service, matching: filter, page: page)
        }
    }

    package func removeAlarms(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.removeAlarms(before: time, limit: limit)
        }
    }
}
