import TrackStore

/// The module `track`: points on their way in, and tracks on their way out.
enum TrackEndpoints {
    static let all =
        [addPoint, addPoints, latestPoint, distance, track] + ColumnEndpoints.all(of: .track)
}
