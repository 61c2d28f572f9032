internal import TrackModel

/// The speed limits of fences. In several fences at once the lowest limit holds, and of equal limits that of the lowest
/// fence number.
struct OverspeedJudge {
    /// Milliseconds without a point after which nobody knows whether the entity was too fast all the time.
    static let longestGap: Int64 = 120_000

    /// Goes on with an episode. `governing` is the fence whose limit holds now.
    static func judge(
        _ episode: OverspeedEpisode?, governing: FencePlan?, step: FenceStep
    ) -> (episode: OverspeedEpisode?, alarm: FenceAlarm?) {
        guard let plan = governing, let limit = plan.speedLimit else { return (nil, nil) }
        let point = step.point
        // A point without a speed says nothing: an episode goes on, none begins.
        guard let speed = point.speed else {
            return (episode?.fence == plan.id && step.span <= longestGap ? episode : nil, nil)
        }
        guard speed > limit.speed else { return (nil, nil) }
        var current = OverspeedEpisode(
            fence: plan.id, revision: plan.revision, since: point.time, place: point.place, isTold: false)
        if let episode, episode.fence == plan.id, episode.revision == plan.revision, step.span <= longestGap {
            current = episode
        }
        guard !current.isTold,
            point.time.milliseconds(since: current.since) >= Int64(limit.duration) * 1000
        else { return (current, nil) }
        current.isTold = true
        guard plan.validity?.contains(current.since) ?? true else { return (current, nil) }
        var crossing = Crossing(at: current.since, current.place)
        crossing.isEstimated = false
        return (
            current, FenceAlarm(.overspeed, of: plan, step: step, crossing: crossing, speedLimit: limit.speed)
        )
    }
}
