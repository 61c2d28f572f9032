internal import TrackModel

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
