package import TrackModel

/// Word of a message that was queued: whose sessions are to look for it.
package struct PushNews: Hashable, Sendable {
    package var message: Int64
    package var service: ServiceID
    /// Nil: so many that all sessions of the service are to look.
    package var entities: [String]?

    package init(message: Int64, service: ServiceID, entities: [String]?) {
        self.message = message
        self.service = service
        self.entities = entities
    }

    /// Beyond so many targets, names are not told.
    package static let maximumEntities = 100
}
