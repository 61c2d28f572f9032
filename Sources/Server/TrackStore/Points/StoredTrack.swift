package import TrackModel

/// What a store has of a track in a range of time.
package struct StoredTrack: Hashable, Sendable {
    /// Ascending; of two points with the same time the one stored later.
    package var points: StoredPoints
    /// Where stored points cannot be read, in the order of their beginnings. Empty in a sound store.
    package var holes: [TrackHole]

    package init(points: StoredPoints, holes: [TrackHole] = []) {
        self.points = points
        self.holes = holes
    }
}

/// A stretch of a track in which stored points cannot be read. Other points of the same time may be readable.
package struct TrackHole: Hashable, Sendable {
    /// The first and the last time that is concerned, as far as the range that was asked for reaches.
    package var from: Timestamp
    package var through: Timestamp
    /// Points that cannot be read, also those outside the range.
    package var count: Int
    /// Why, a sentence for an operator.
    package var reason: String

    package init(from: Timestamp, through: Timestamp, count: Int, reason: String) {
        self.from = from
        self.through = through
        self.count = count
        self.reason = reason
    }
}
