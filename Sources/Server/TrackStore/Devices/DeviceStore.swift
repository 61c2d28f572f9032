package import TrackModel

/// The devices of a store: boxes with certificates of their own.
package protocol DeviceStore: Sendable {
    /// Adds a device. Throws `.unknownService`, `.deviceExists` when there is one of this id, or one of this key, and
    /// `.entityTaken` when both this and another device are active and the same entity: they would shut each other out.
    func addDevice(_ device: DeviceRecord) async throws(TrackStoreError)
    /// Nil when there is no such device.
    func device(_ id: DeviceID) async throws(TrackStoreError) -> DeviceRecord?
    /// In the order of their making, and how many there are in all.
    func devices(
        matching filter: DeviceFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, devices: [DeviceRecord])
    /// Changes one device, and returns it as it is then. Throws `.unknownDevice`, `.deviceExists` and `.entityTaken` as
    /// ``addDevice(_:)`` does.
    func changeDevice(_ id: DeviceID, _ change: DeviceChange) async throws(TrackStoreError) -> DeviceRecord
    /// Removes a device: its certificate opens nothing any more. Throws `.unknownDevice`.
    func forgetDevice(_ id: DeviceID) async throws(TrackStoreError)
    /// Notes what a login said. Nothing for a device that is not there.
    func noteDevice(_ id: DeviceID, _ sighting: DeviceRecord.Sighting) async throws(TrackStoreError)
    /// Notes that two computers were this device at a time; the latest notice stays. It is no change. Nothing for a device that is
    /// not there. An approval and another claim of the device take the notice away, and are changes.
    func noteClone(of id: DeviceID, at now: Timestamp) async throws(TrackStoreError)
}

/// Which devices are wanted.
package struct DeviceFilter: Hashable, Sendable {
    package var service: ServiceID?
    package var state: DeviceRecord.State?
    /// The number of the token that they were claimed with.
    package var token: Int64?
    /// What they are now; best with a service.
    package var entity: String?
    /// What a person calls one: its entity, or the first digits of its number, at least ``leastDigits``, in small letters, with or
    /// without hyphens.
    package var selector: String?

    /// Fewer digits name too many.
    package static let leastDigits = 4

    package init(
        service: ServiceID? = nil, state: DeviceRecord.State? = nil, token: Int64? = nil, entity: String? = nil,
        selector: String? = nil
    ) {
        (self.service, self.state, self.token, self.entity) = (service, state, token, entity)
        self.selector = selector
    }

    /// The digits of the selector without hyphens; nil when it is no beginning of a number.
    package var digits: String? {
        guard let selector else { return nil }
        let digits = selector.filter { $0 != "-" }
        guard (Self.leastDigits...32).contains(digits.utf8.count), digits.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else {
            return nil
        }
        return digits.lowercased()
    }
}

extension DeviceStore {
    /// All of a service, or of all services.
    package func devices(
        in service: ServiceID?, page: Page
    ) async throws(TrackStoreError) -> (total: Int, devices: [DeviceRecord]) {
        try await devices(matching: DeviceFilter(service: service), page: page)
    }
}
