internal import Geodesy
package import TrackModel

/// What is remembered of one entity and its fences, between one point and the next and across restarts.
package struct EntityFenceState: Hashable, Sendable {
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
        self = EntityFenceState()
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

extension EntityFenceState {
    /// The pair as it stands before the next point: an absent one made, one of another area placed anew.
    /// `last` is the last point that the fence's denoise lets through.
    func present(_ kept: FencePair?, of plan: FencePlan, last: FencePoint?) -> FencePair {
        let isKnown = last.map { $0.time >= plan.from } ?? wasJudged(before: plan.from)
        guard isKnown, newestReceived.map({ $0 >= plan.from }) ?? true else { return new(plan, .unknown) }
        guard let kept else {
            guard let last, last.time < plan.revisedAt else { return new(plan, .out) }
            return placed(plan, by: last)
        }
        guard kept.revision != plan.revision else { return kept }
        var pair = kept
        pair.revision = plan.revision
        // Only what is told was edited: places, first signs and held changes stay. An earlier revision comes from a
        // backup, and may have another area.
        guard (plan.areaRevision...max(plan.areaRevision, plan.revision)).contains(kept.revision) else {
            guard let last else { return new(plan, .unknown) }
            let placed = placed(plan, by: last)
            guard placed.place == .in, kept.isInside || kept.place == .in else { return placed }
            // The same place: the visit goes on.
            if kept.place != .in, let held = kept.held { (pair.place, pair.since) = (.in, held.time) }
            (pair.sign, pair.held) = (nil, nil)
            pair.countStays(by: plan.stay, after: last.time)
            return pair
        }
        pair.countStays(by: plan.stay, after: last?.time ?? pair.since)
        return pair
    }

    /// Where the entity is by its last point, without an alarm.
    private func placed(_ plan: FencePlan, by last: FencePoint) -> FencePair {
        guard plan.shape.contains(last.place), !plan.isElsewhere(last) else { return new(plan, .out) }
        var pair = FencePair(fence: plan.id, revision: plan.revision, place: .in, since: last.time)
        pair.nextStay = plan.stay.map { last.time.adding(milliseconds: Int64($0.after) * 1000) }
        return pair
    }

    private func new(_ plan: FencePlan, _ place: FencePair.Place) -> FencePair {
        FencePair(fence: plan.id, revision: plan.revision, place: place, since: plan.from)
    }

    /// Where the entity is kept to be, as its alarms told it, and since when it is inside. It changes nothing.
    package func status(of plan: FencePlan) -> FenceStatus {
        let last = lastPoint(denoise: plan.denoise)
        let pair = present(pair(of: plan.id), of: plan, last: last)
        return FenceStatus(
            place: pair.place, since: pair.place == .in ? pair.since : nil,
            signedDistance: last.map { plan.shape.signedDistance(to: $0.place) }, time: last?.time)
    }

    /// The ``FenceStatus/place`` of ``status(of:)``, without the cost of a distance.
    package func place(of plan: FencePlan) -> FencePair.Place {
        present(pair(of: plan.id), of: plan, last: lastPoint(denoise: plan.denoise)).place
    }
}

/// What is remembered of one entity and one fence. A pair that is simply out is not kept.
package struct FencePair: Hashable, Sendable {
    package enum Place: UInt8, Hashable, Sendable, CustomStringConvertible {
        case unknown
        case out
        case `in`

        package var description: String {
            switch self {
            case .unknown: "unknown"
            case .out: "out"
            case .in: "in"
            }
        }
    }

    /// The first sign that the entity came in or left, before it is believed.
    struct Sign: Hashable, Sendable {
        /// The crossing on the way; nil when the way is not known.
        var crossing: Crossing?
        /// The points between which it was.
        var earliest: Timestamp
        var latest: Timestamp
        /// On the way in: the last point was inside. On the way out: the last point was clearly outside.
        var isConfirmable: Bool

        /// What an alarm tells when a point proves the sign.
        func crossing(causedBy point: FencePoint) -> Crossing {
            crossing ?? Crossing(between: earliest, and: latest, causing: point)
        }
    }

    package let fence: Int32
    package var revision: Int32
    /// As it was told.
    package var place: Place
    /// Points that did not decide, while the place is unknown.
    var tries: UInt8 = 0
    /// The crossing's time of the enter, or the first point inside.
    package var since: Timestamp
    var nextStay: Timestamp?
    /// Few pairs are unsettled, and the others are a third as large without it.
    private var unsettled: Unsettled?

    private indirect enum Unsettled: Hashable, Sendable {
        case by(sign: Sign?, held: Crossing?)
    }

    init(fence: Int32, revision: Int32, place: Place, since: Timestamp) {
        self.fence = fence
        self.revision = revision
        self.place = place
        self.since = since
    }

    var sign: Sign? {
        get {
            guard case .by(let sign, _)? = unsettled else { return nil }
            return sign
        }
        set { unsettle(sign: newValue, held: held) }
    }

    /// A change that has not held for long enough to be told.
    var held: Crossing? {
        get {
            guard case .by(_, let held)? = unsettled else { return nil }
            return held
        }
        set { unsettle(sign: sign, held: newValue) }
    }

    private mutating func unsettle(sign: Sign?, held: Crossing?) {
        let isSettled = sign == nil && held == nil
        if isSettled && unsettled == nil { return }
        unsettled = isSettled ? nil : .by(sign: sign, held: held)
    }

    /// Neither a sign nor a change that is held.
    var isSettled: Bool { unsettled == nil }

    /// Where the entity is, told or not.
    var isInside: Bool { isSettled ? place == .in : (place == .in) != (held != nil) }

    /// Another rule counts stays from the same enter. Those that were due at or before a time are not told.
    mutating func countStays(by stay: StayAlarmRule?, after time: Timestamp) {
        guard place == .in, let stay else {
            nextStay = nil
            return
        }
        let first = since.adding(milliseconds: Int64(stay.after) * 1000)
        let every = stay.every.map { Int64($0) * 1000 }
        if let nextStay {
            // One that waits because the entity may have left.
            let along = nextStay.milliseconds(since: first)
            if along == 0 { return }
            if let every, along > 0, along % every == 0 { return }
        }
        let passed = time.milliseconds(since: first)
        guard passed >= 0 else {
            nextStay = first
            return
        }
        nextStay = every.map { first.adding(milliseconds: (passed / $0 + 1) * $0) }
    }

    var isWorthKeeping: Bool { place != .out || !isSettled }
}
