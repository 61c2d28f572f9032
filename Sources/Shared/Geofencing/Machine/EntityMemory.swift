package import TrackModel

/// What is remembered of one entity and its fences, between one point and the next and across restarts.
package struct EntityMemory: Hashable, Sendable {
    /// The newest point that was judged. Points at or before it are late.
    package internal(set) var lastTime: Timestamp?
    /// The last point, and behind it the last points of better and better accuracy: each is the last point of some denoise.
    package internal(set) var points: [FencePoint] = []
    /// In the order of their fences.
    package internal(set) var pairs: [FencePair] = []
    package internal(set) var overspeed: OverspeedEpisode?
    /// The newest point before time began anew: what was out then is out still.
    var knownThrough: Timestamp?
    /// When the newest point came, while a later point is judged by fences that may be younger: see
    /// ``newestCame(at:judgedBy:own:)``. It has no binary form.
    private(set) var newestReceived: Timestamp?

    package init() {}

    /// The last point that a fence with this denoise has seen.
    func lastPoint(denoise: Int32) -> FencePoint? {
        guard denoise > 0 else { return points.first }
        return points.first { $0.passes(denoise: denoise) }
    }

    /// The last point before time began anew counts for a pair that came to be before it.
    func wasJudged(before fence: Timestamp) -> Bool {
        guard let knownThrough else { return false }
        return knownThrough >= fence
    }

    /// The receiver's time began anew with an earlier date: last points are dropped, places stay.
    package mutating func timeRestarted() {
        if let lastTime { knownThrough = max(lastTime, knownThrough ?? lastTime) }
        lastTime = nil
        points = []
        overspeed = nil
        for index in pairs.indices { (pairs[index].sign, pairs[index].held) = (nil, nil) }
        pairs.removeAll { !$0.isWorthKeeping }
    }

    /// Nothing of the points so far counts any more, but that later ones are late when they are not newer.
    package mutating func beginAnew() {
        let last = lastTime
        self = EntityMemory()
        lastTime = last
    }

    /// A fence was deleted, or does not watch the entity any more: its state goes, without an exit.
    package mutating func forget(fence: Int32) {
        pairs.removeAll { $0.fence == fence }
        if overspeed?.fence == fence { overspeed = nil }
    }

    /// Call it before a point is judged by fences that watch the entity since times of a clock, which the clock of the points may
    /// be ahead of. `received`: when the newest point came, by the clock of the fences. A fence that is younger has not judged
    /// this point, whatever the point's own time says: where the entity is begins anew for it, also when it watched the entity
    /// before.
    package mutating func newestCame(at received: Timestamp, judgedBy fences: FenceSet, own: FenceSet?) {
        guard let lastTime, lastTime > received,
            max(fences.newestChange, own?.newestChange ?? fences.newestChange) > received
        else { return }
        newestReceived = received
        func isYounger(_ fence: Int32) -> Bool {
            (own?.plan(of: fence) ?? fences.plan(of: fence)).map { $0.from > received } ?? false
        }
        pairs.removeAll { isYounger($0.fence) }
        if let fence = overspeed?.fence, isYounger(fence) { overspeed = nil }
    }

    /// Where the entity is kept to be, as its alarms told it; nil: nothing is kept.
    package func pair(of fence: Int32) -> FencePair? {
        pairs.first { $0.fence == fence }
    }

    /// Keeps the newest point and those behind it that some denoise still needs.
    mutating func remember(_ point: FencePoint, denoises: [Int32]) {
        lastTime = point.time
        newestReceived = nil
        guard !denoises.isEmpty else {
            if points.count == 1 { points[0] = point } else { points = [point] }
            return
        }
        points.insert(point, at: 0)
        var kept: [FencePoint] = [point]
        for denoise in denoises {
            guard let last = lastPoint(denoise: denoise), !kept.contains(last) else { continue }
            kept.append(last)
        }
        points = kept.sorted { $0.time > $1.time }
    }
}
