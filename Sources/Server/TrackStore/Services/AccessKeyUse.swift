package import TrackModel

/// A key with the service that it opens, as a session or a request uses it.
package struct AccessKeyUse: Hashable, Sendable {
    package var service: ServiceID
    package var hash: AccessKeyHash

    package init(service: ServiceID, hash: AccessKeyHash) {
        self.service = service
        self.hash = hash
    }
}
