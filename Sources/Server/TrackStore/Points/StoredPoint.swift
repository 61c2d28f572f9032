package import TrackModel

/// A point with the time at which the server received it.
package struct StoredPoint: Hashable, Sendable {
    package var point: TrackPoint
    package var received: Timestamp

    package init(_ point: TrackPoint, received: Timestamp) {
        self.point = point
        self.received = received
    }
}
