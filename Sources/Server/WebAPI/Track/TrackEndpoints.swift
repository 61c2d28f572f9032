import TrackStore

/// The module `track`: points on their way in, and tracks on their way out.
enum TrackEndpoints {
    /// Longest range of one query, seconds.
    static let maximumRange: Int64 = 86_400

    static let all =
        [addPoint, addPoints, latestPoint, distance, track] + ColumnEndpoints.all(of: .track)
}
