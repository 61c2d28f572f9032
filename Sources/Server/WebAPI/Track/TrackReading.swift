import JSON
import TrackModel
import TrackStore

/// One reading of a track, whole: what all pages of its answer have in common.
struct TrackReading: Sendable {
    /// Ascending, without those that the processing leaves out.
    let points: [StoredPoint]
    let distance: TrackDistance
    /// Where the store cannot read what it holds.
    let holes: [TrackHole]
}

extension TrackReading {
    init(_ query: TrackQuery, _ call: APICall, _ store: any PointStore) async throws {
        let options = call.options
        let limit = query.option == nil ? options.maximumRawPoints : options.maximumProcessedPoints
        let track = try await store.track(
            of: query.entity.text, in: query.service, from: query.from, through: query.through, limit: limit)
        call.note(track.holes)
        var points = track.points
        if let radius = query.option?.radiusLimit { points.removeAll { !$0.point.isWithin(radius: radius) } }
        let distance = TrackDistance(
            points.lazy.map(\.point), supplement: query.supplement, slowBelow: query.slowBelow)
        self.init(points: points, distance: distance, holes: track.holes)
    }

    /// Says where points are missing that the store cannot read; nothing when there is no such place.
    func writeHoles(to object: inout JSONWriter) {
        guard !holes.isEmpty else { return }
        object.array("unreadable") { list in
            for hole in holes {
                list.object {
                    $0.member("start_time", hole.from.seconds)
                    $0.member("end_time", hole.through.seconds)
                    $0.member("points", hole.count)
                }
            }
        }
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
