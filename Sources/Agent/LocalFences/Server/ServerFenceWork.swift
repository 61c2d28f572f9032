package import FenceDelivery
internal import Geofencing
package import TrackModel

/// Points that are later than `after` were judged by this version, up to the next use.
package struct VersionUse: Hashable, Sendable {
    package var version: UInt64
    package var after: Timestamp
    /// The version that judged the points before; 0: none did.
    package var base: UInt64

    package init(version: UInt64, after: Timestamp, base: UInt64 = 0) {
        self.version = version
        self.after = after
        self.base = base
    }
}

/// The fences of a set that the server has sent, before it is known since which point they judge.
struct ServerFenceArrival: Sendable {
    /// On what the times of a fence that has come depend.
    struct Times: Sendable {
        let number: Int32
        /// As the server has sent them.
        let since: Timestamp
        let revised: Timestamp
        /// Of the fence in whose place it comes; `revised` nil: its area is another one. Nil: no fence of this number was judged.
        var before: (since: Timestamp, revised: Timestamp?)?

        /// Points up to `last` that were judged without the fence, or by another area, say nothing of it: it begins behind them. Nil:
        /// no point was judged.
        func after(_ last: Timestamp?) -> (since: Timestamp, revised: Timestamp) {
            guard let last else { return (since, revised) }
            let next = last.adding(milliseconds: 1)
            // A fence that came since the newest judged point was not judged either: to the server it is new.
            guard let before, before.since < next else { return (max(since, next), revised) }
            return (before.since, before.revised ?? max(revised, next))
        }
    }

    let version: UInt64
    let reach: FenceDelivery.Reach?
    var fences: Kept<ServerFence>
    var zones: [String: ZoneOffsets] = [:]
    var times: [Times] = []

    init(version: UInt64, reach: FenceDelivery.Reach?, fences: Kept<ServerFence>) {
        (self.version, self.reach, self.fences) = (version, reach, fences)
    }

    /// The newest time at which a fence that has come begins, or sets places anew.
    func newestTime(after last: Timestamp?) -> Timestamp? {
        times.map { max($0.after(last).since, $0.after(last).revised) }.max()
    }
}

/// A delivery of the server's that is worked out beside the event loop, for the fences as they were when it began. It may take
/// seconds.
package struct ServerFenceWork: Sendable {
    /// Of the machine when this began.
    fileprivate let changes: UInt64
    fileprivate let set: ServerFenceSet
    fileprivate let fenceState: EntityFenceState
    fileprivate let limits: ServerFenceSet.Limits

    /// What a delivery makes of the fences.
    package struct Done: Sendable {
        fileprivate let changes: UInt64
        fileprivate let arrival: ServerFenceArrival
        fileprivate let plans: ServerFencePlans
    }

    /// Takes its time; on any thread.
    ///
    /// - Throws: ``FenceRefusal``. The set stays.
    package func run(_ delivery: FenceDelivery) throws(FenceRefusal) -> Done {
        let arrival = try set.adding(delivery, limits: limits)
        let plans = ServerFencePlans(of: set.taking(arrival, fenceState: fenceState))
        return Done(changes: changes, arrival: arrival, plans: plans)
    }
}

/// Where the fences of a set are, and which of them are not judged.
struct ServerFencePlans: Sendable {
    var field: FenceField
    /// With the reason, by the number of the fence.
    private(set) var notJudged: [Int32: String] = [:]

    init() { field = FenceField() }

    init(of set: ServerFenceSet) {
        field = FenceField(count: set.fences.count)
        for number in set.fences.numbers {
            guard let fence = set.fences[number] else { continue }
            do throws(FenceError) {
                field.add(try set.plan(of: fence))
            } catch {
                notJudged[number] = error.description
            }
        }
    }
}

// Deliveries, in two steps with the long one between them.
extension ServerFenceMachine {
    /// Begins to take a delivery. ``ServerFenceWork/run(_:)`` works it out, and ``adopt(_:)`` puts it in force. Points that come
    /// meanwhile are judged by the fences that there are.
    package func beginDelivery() -> ServerFenceWork {
        ServerFenceWork(
            changes: changes, set: newest, fenceState: fenceState ?? EntityFenceState(), limits: limits.set)
    }

    /// Fences have come from the server, for the entity that runs. Nil: the fences have changed since the work began, so it must
    /// begin anew.
    package mutating func adopt(_ done: ServerFenceWork.Done) -> [Action]? {
        guard changes == done.changes else { return nil }
        return take(done.arrival, done.plans)
    }
}
