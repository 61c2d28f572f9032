package import TrackModel

/// The devices of a store: boxes with certificates of their own.
package protocol DeviceStore: Sendable {
    /// Adds a device. Throws `.unknownService`, and `.deviceExists` when there is one of this id, or one of this key.
    func addDevice(_ device: DeviceRecord) async throws(TrackStoreError)
    /// Nil when there is no such device.
    func device(_ id: DeviceID) async throws(TrackStoreError) -> DeviceRecord?
    /// In the order of their making, and how many there are in all.
    func devices(
        in service: ServiceID?, page: Page
    ) async throws(TrackStoreError) -> (total: Int, devices: [DeviceRecord])
    /// Changes one device, and returns it as it is then. Throws `.unknownDevice`.
    func changeDevice(_ id: DeviceID, _ change: DeviceChange) async throws(TrackStoreError) -> DeviceRecord
    /// Removes a device: its certificate opens nothing any more. Throws `.unknownDevice`.
    func forgetDevice(_ id: DeviceID) async throws(TrackStoreError)
    /// Notes what a login said. Nothing for a device that is not there.
    func noteDevice(_ id: DeviceID, _ sighting: DeviceRecord.Sighting) async throws(TrackStoreError)
    /// The devices that were changed, revoked or forgotten after a mark, at most `limit`, and the mark to go on from. Nil asks
    /// for the mark alone. Sightings are no changes. Costs next to nothing when there is none.
    func deviceChanges(
        after mark: Int64?, limit: Int
    ) async throws(TrackStoreError) -> (through: Int64, devices: [DeviceID])
}

extension StoreDecorator {
    package func addDevice(_ device: DeviceRecord) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.addDevice(device)
        }
    }

    package func device(_ id: DeviceID) async throws(TrackStoreError) -> DeviceRecord? {
        try await passing { store async throws(TrackStoreError) in
            try await store.device(id)
        }
    }

    package func devices(
        in service: ServiceID?, page: Page
    ) async throws(TrackStoreError) -> (total: Int, devices: [DeviceRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.devices(in: service, page: page)
        }
    }

    package func changeDevice(_ id: DeviceID, _ change: DeviceChange) async throws(TrackStoreError) -> DeviceRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.changeDevice(id, change)
        }
    }

    package func forgetDevice(_ id: DeviceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.forgetDevice(id)
        }
    }

    package func noteDevice(_ id: DeviceID, _ sighting: DeviceRecord.Sighting) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.noteDevice(id, sighting)
        }
    }

    package func deviceChanges(
        after mark: Int64?, limit: Int
    ) async throws(TrackStoreError) -> (through: Int64, devices: [DeviceID]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.deviceChanges(after: mark, limit: limit)
        }
    }
}
