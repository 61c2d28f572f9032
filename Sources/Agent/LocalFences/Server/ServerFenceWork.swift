internal import Geofencing
internal import TrackModel

/// A delivery of the server's that is worked out beside the event loop, for the fences as they were when it began. It may take
/// seconds.
package struct ServerFenceWork: Sendable {
    /// Of the machine when this began.
    fileprivate let changes: UInt64
    fileprivate let set: ServerFenceSet
    fileprivate let memory: EntityMemory
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
    package func run(_ delivery: ServerDelivery) throws(FenceRefusal) -> Done {
        let arrival = try set.adding(delivery, limits: limits)
        let plans = ServerFencePlans(of: set.taking(arrival, memory: memory))
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
            changes: changes, set: newest, memory: memory ?? EntityMemory(), limits: limits.set)
    }

    /// Fences have come from the server, for the entity that runs. Nil: the fences have changed since the work began, so it must
    /// begin anew.
    package mutating func adopt(_ done: ServerFenceWork.Done) -> [Action]? {
        guard changes == done.changes else { return nil }
        return take(done.arrival, done.plans)
    }
}
