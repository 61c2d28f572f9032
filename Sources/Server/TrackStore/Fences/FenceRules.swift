package import TrackModel

/// The numbers that bound the fences of a store.
package enum FenceRules {
    /// Most fences of a service that watch everyone.
    package static let mostPublic = 100_000
    /// Most fences that watch an entity by name.
    package static let mostNaming = 1000
    /// Most different numbers of a filter.
    package static let mostNumbers = 10_000
    /// Milliseconds for which a store can tell what has changed: 30 days.
    package static let newsKept: Int64 = 30 * 86_400_000
    /// Milliseconds that an alarm stays in the history: 7 days.
    package static let history: Int64 = 7 * 86_400_000

    /// From when on a fence that is made now judges points. The API's times of points are whole seconds, so the second in which a
    /// fence is made belongs to it.
    package static func watchStart(at now: Timestamp) -> Timestamp { Timestamp(seconds: now.seconds) }

    /// From when on a fence judges the points of an entity that it begins to watch now. `latest`: the time of the entity's newest
    /// stored point. When that point is of this second, nobody could tell later whether the fence has judged it: then the
    /// fence begins at its very time.
    package static func watchStart(at now: Timestamp, latest: Timestamp?) -> Timestamp {
        let start = watchStart(at: now)
        guard let latest, latest >= start else { return start }
        return now
    }
}
