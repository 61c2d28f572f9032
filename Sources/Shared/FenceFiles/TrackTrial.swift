package import Geofencing
package import TrackModel

/// Which alarms fences would have made of a recorded track: nothing is remembered, and nobody is told.
///
/// Every fence is tried as if it had been there before the first point, whomever it watches. So fences of a file can be tried
/// before anybody makes them.
package struct TrackTrial: Hashable, Sendable {
    /// An alarm that would have been told.
    package struct Row: Hashable, Sendable {
        /// Of the point that proves it.
        package let time: Timestamp
        package let entity: String
        /// The number of the fence.
        package let fence: Int32
        /// The name of the fence; of its group in a group's alarm.
        package let name: String
        package let isGroup: Bool
        package let action: FenceAction
        package let crossing: Crossing
        /// Milliseconds inside, at exit and stay.
        package let inside: Int64?
        /// Stays that were due before this one and are not told.
        package let skipped: Int
    }

    /// A fence that cannot be tried, and why.
    package struct NotTried: Hashable, Sendable {
        package let fence: Int32
        package let reason: String
    }

    /// In the order in which the alarms would have been told.
    package let rows: [Row]
    /// Points that were judged.
    package let judged: Int
    /// Points at the time of another one: the first of them counts.
    package let repeated: Int
    package let notTried: [NotTried]
    /// The judged points' places, in the order of their times.
    let track: [FencePoint]
    let fences: [Fence]

    /// The points may be in any order. `zones` says what the names of time zones in weekly windows stand for.
    package init(
        of points: [FencePoint], entity: String, by fences: [Fence], zones: [String: ZoneOffsets] = [:]
    ) {
        var (plans, names, notTried): ([FencePlan], [Int32: Fence], [NotTried]) = ([], [:], [])
        for fence in fences {
            var zone: ZoneOffsets?
            if case .named(let name)? = fence.definition.validity?.zone { zone = zones[name] }
            do throws(FenceError) {
                plans.append(try fence.plan(from: Timestamp(milliseconds: .min), zone: zone))
                names[fence.id] = fence
            } catch {
                notTried.append(NotTried(fence: fence.id, reason: error.description))
            }
        }
        let trial = FenceTrial(of: points, by: plans)
        rows = trial.alarms.map { alarm in
            let definition = names[alarm.fence]?.definition
            let name = alarm.group == nil ? definition?.name : definition?.group
            return Row(
                time: alarm.point.time, entity: entity, fence: alarm.fence, name: name ?? "",
                isGroup: alarm.group != nil, action: alarm.action, crossing: alarm.crossing, inside: alarm.inside,
                skipped: alarm.skipped)
        }
        (judged, repeated, self.notTried) = (trial.judged, trial.repeated, notTried)
        var last: Timestamp?
        let ordered = points.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        track = ordered.map(\.element).filter { point in
            defer { last = point.time }
            return point.time != last
        }
        self.fences = fences
    }
}
