internal import TrackModel

/// Joins samples over their limit to episodes.
struct SpeedingEpisodes: Sendable {
    /// km/h; nil for the limits of the roads.
    private let fixedLimit: Double?
    private(set) var episodes: [SpeedingEpisode] = []
    private var open: (start: SpeedingEpisode.End, end: SpeedingEpisode.End, distance: Double, last: TrackSample)?

    init(threshold: Double) { fixedLimit = threshold > 0 ? threshold : nil }

    mutating func add(_ driven: DrivenSample) {
        guard let end = over(driven) else { return close() }
        guard let run = open, driven.sample.milliseconds(since: run.last) < Interruption.span,
            !driven.sample.followsBreak
        else {
            close()
            return open = (end, end, 0, driven.sample)
        }
        let way = driven.path ?? run.last.distance(to: driven.sample)
        open = (run.start, end, run.distance + way, driven.sample)
    }

    mutating func close() {
        if let open, open.start.index != open.end.index {
            episodes.append(SpeedingEpisode(start: open.start, end: open.end, distance: open.distance))
        }
        open = nil
    }

    /// The sample with its limit when it is over it.
    private func over(_ driven: DrivenSample) -> SpeedingEpisode.End? {
        guard let limit = fixedLimit ?? driven.limit, let speed = driven.sample.shownSpeed, speed > limit
        else { return nil }
        return SpeedingEpisode.End(
            index: driven.sample.index, time: Timestamp(milliseconds: driven.sample.time),
            place: driven.sample.place, actualSpeed: speed, limit: limit)
    }
}
