internal import Geodesy
package import TrackModel

/// What is told of an entity and a fence.
package struct FenceAlarm: Hashable, Sendable {
    package let fence: Int32
    package let revision: Int32
    /// Set for the alarm of a whole group; `fence` is then the member that caused it.
    package let group: GroupCode?
    package let action: FenceAction
    /// The point that proved it.
    package let point: FencePoint
    /// The entity's point before that one.
    package let previous: FencePoint?
    /// For a stay the due time, at the causing point's place; for overspeed the first point that was too fast.
    package let crossing: Crossing
    /// Milliseconds inside, at exit and stay.
    package let inside: Int64?
    /// Stays that were due before this one and are not told.
    package let skipped: Int
    /// cm/s, at overspeed.
    package let speedLimit: Int32?
    /// Tells alarms apart that one point makes for the same fence and action.
    package internal(set) var number = 0

    init(
        _ action: FenceAction, of plan: FencePlan, group: GroupCode? = nil, step: FenceStep, crossing: Crossing,
        inside: Int64? = nil, skipped: Int = 0, speedLimit: Int32? = nil
    ) {
        fence = plan.id
        revision = plan.revision
        self.group = group
        self.action = action
        point = step.point
        previous = step.previous
        self.crossing = crossing
        self.inside = inside
        self.skipped = skipped
        self.speedLimit = speedLimit
    }

    /// The order in which the alarms of one point are told: by crossing, at equal times exit before enter, then by fence.
    static func isBefore(_ left: Self, _ right: Self) -> Bool {
        left.order < right.order
    }

    private var order: (Int64, Int, Int32, Int) {
        let rank =
            switch action {
            case .stay: 0
            case .exit: 1
            case .enter: 2
            case .overspeed: 3
            }
        return (crossing.time.milliseconds, rank, fence, group == nil ? 0 : 1)
    }
}

/// Where and when an entity crossed the edge of a fence.
package struct Crossing: Hashable, Sendable {
    /// On the edge when it is estimated; else the causing point's.
    package var time: Timestamp
    package var place: Coordinate
    /// True: on the straight way between two points. False: nobody knows better than `earliest` and `time`.
    package var isEstimated: Bool
    /// The crossing was not before; equal to `time` when it is estimated.
    package var earliest: Timestamp
    /// The crossing was not after; equal to `time` when it is estimated.
    package var latest: Timestamp

    /// A crossing that was stored.
    package init(time: Timestamp, place: Coordinate, isEstimated: Bool, earliest: Timestamp, latest: Timestamp) {
        (self.time, self.place, self.isEstimated) = (time, place, isEstimated)
        (self.earliest, self.latest) = (earliest, latest)
    }

    init(at time: Timestamp, _ place: Coordinate) {
        (self.time, self.place, isEstimated) = (time, place, true)
        (earliest, latest) = (time, time)
    }

    /// Known only to lie between two points; `causing` tells it.
    init(between earliest: Timestamp, and latest: Timestamp, causing point: FencePoint) {
        (time, place, isEstimated) = (point.time, point.place, false)
        (self.earliest, self.latest) = (earliest, latest)
    }
}

/// Where an entity is with regard to a fence.
package struct FenceStatus: Hashable, Sendable {
    /// As the alarms told it: inside the exit margin it may be `in` a few metres outside.
    package let place: FencePair.Place
    /// The enter's crossing; nil unless inside.
    package let since: Timestamp?
    /// Metres from the last point to the boundary, negative inside.
    package let signedDistance: Double?
    /// Of the last point that the fence judged.
    package let time: Timestamp?
}

extension FenceStatus {
    /// The fence has judged no point of the entity yet.
    package static let unknown = FenceStatus(place: .unknown, since: nil, signedDistance: nil, time: nil)

    /// Of an assumed place: inside by its shape alone.
    package init(of plan: FencePlan, at place: Coordinate) {
        self.init(
            place: plan.shape.contains(place) ? .in : .out, since: nil,
            signedDistance: plan.shape.signedDistance(to: place), time: nil)
    }
}

/// What fences would have told of a recorded track: nothing is remembered, and nobody is told.
package struct FenceTrial: Hashable, Sendable {
    /// In the order in which they would have been told.
    package let alarms: [FenceAlarm]
    /// Points that were judged.
    package let judged: Int
    /// Points at the time of another one.
    package let repeated: Int

    /// Judges the points in the order of their times, whatever their order. The fences came to be before the first point.
    package init(of points: [FencePoint], by fences: [FencePlan]) {
        let set = FenceSet(
            fences.map { plan in
                var plan = plan
                plan.from = Timestamp(milliseconds: .min)
                plan.revisedAt = Timestamp(milliseconds: .min)
                return plan
            })
        var (judge, fenceState, alarms) = (FenceJudge(), EntityFenceState(), [FenceAlarm]())
        var (judged, repeated) = (0, 0)
        // Stable: of two points of one time the first counts.
        let ordered = points.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        for (_, point) in ordered {
            switch judge.judge(point, of: &fenceState, by: set, into: &alarms) {
            case .judged: judged += 1
            case .late: repeated += 1
            }
        }
        self.alarms = alarms
        self.judged = judged
        self.repeated = repeated
    }
}

/// Finds fences that make too many alarms of an entity. Nothing is held back: a line in the log names the fence, at most once
/// an hour.
package struct AlarmStorm: Sendable {
    private struct Pair: Hashable {
        let fence: Int32
        let entity: ExactName
    }

    private struct Recent {
        /// Of the newest alarms, at most one more than are usual; in the order in which they came.
        var times: [Timestamp] = []
        var told: Timestamp?
    }

    /// Alarms an hour that are usual.
    package static let usual = 60
    private static let hour: Int64 = 3_600_000
    /// Pairs that are watched at a time; what was silent for an hour makes room first.
    static let mostPairs = 4096

    private var pairs: [Pair: Recent] = [:]

    package init() {}

    /// True when a line is due: more than ``usual`` alarms within the hour up to this one, and no line within the last hour.
    /// The time is that of telling, by one clock for all calls; a clock that was set back begins anew.
    package mutating func add(fence: Int32, entity: String, at time: Timestamp) -> Bool {
        let pair = Pair(fence: fence, entity: ExactName(entity))
        if pairs[pair] == nil, pairs.count >= Self.mostPairs { makeRoom(at: time) }
        var recent = pairs.removeValue(forKey: pair) ?? Recent()
        recent.times.removeAll { !Self.isRecent($0, at: time) }
        recent.times.append(time)
        if recent.times.count > Self.usual + 1 { recent.times.removeFirst() }
        if let told = recent.told, !Self.isRecent(told, at: time) { recent.told = nil }
        let isDue = recent.times.count > Self.usual && recent.told == nil
        if isDue { recent.told = time }
        pairs[pair] = recent
        return isDue
    }

    private static func isRecent(_ earlier: Timestamp, at time: Timestamp) -> Bool {
        (0..<hour).contains(time.milliseconds(since: earlier))
    }

    private mutating func makeRoom(at time: Timestamp) {
        pairs = pairs.filter { $0.value.times.last.map { Self.isRecent($0, at: time) } ?? false }
        // Nearly all of them are busy: counting from nothing again costs less than to look for room at each alarm.
        if pairs.count > Self.mostPairs / 2 { pairs.removeAll() }
    }
}
