internal import TrackModel

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
        var (judge, memory, alarms) = (FenceJudge(), EntityMemory(), [FenceAlarm]())
        var (judged, repeated) = (0, 0)
        // Stable: of two points of one time the first counts.
        let ordered = points.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        for (_, point) in ordered {
            switch judge.judge(point, of: &memory, by: set, into: &alarms) {
            case .judged: judged += 1
            case .late: repeated += 1
            }
        }
        self.alarms = alarms
        self.judged = judged
        self.repeated = repeated
    }
}
