import JSON
import TrackStore

/// One reading of a track, whole: what all pages of its answer have in common.
struct TrackReading: Sendable {
    /// Ascending, without those that the processing leaves out.
    let points: [StoredPoint]
    let distance: TrackDistance
}

extension TrackReading {
    init(_ query: TrackQuery, _ options: WebAPIOptions, _ store: any PointStore) async throws {
        let limit = query.option == nil ? options.maximumRawPoints : options.maximumProcessedPoints
        var points = try await store.points(
            of: query.entity.text, in: query.service, from: query.from, through: query.through, limit: limit)
        if let radius = query.option?.radiusLimit { points.removeAll { !$0.point.isWithin(radius: radius) } }
        let distance = TrackDistance(
            points.lazy.map(\.point), supplement: query.supplement, slowBelow: query.slowBelow)
        self.init(points: points, distance: distance)
    }

    /// Members for the length of the track.
    func writeDistance(_ query: TrackQuery, to object: inout JSONWriter) {
        object.name("distance")
        object.rounded(distance.total, digits: 4)
        guard query.slowBelow != nil else { return }
        object.name("low_speed_distance")
        object.rounded(distance.slow, digits: 4)
    }
}
