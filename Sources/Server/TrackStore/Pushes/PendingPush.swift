package import TrackModel

/// A message on its way to one entity.
package struct PendingPush: Hashable, Sendable {
    /// On the wire: greater than 0, random, so that another store (a new one, or a restored backup) never uses it again.
    package var id: UInt64
    /// Which message, for people. Numbers of messages say nothing of their order.
    package var message: Int64
    package var type: UInt32
    package var body: String
    package var created: Timestamp

    package init(id: UInt64, message: Int64, type: UInt32, body: String, created: Timestamp) {
        self.id = id
        self.message = message
        self.type = type
        self.body = body
        self.created = created
    }
}
