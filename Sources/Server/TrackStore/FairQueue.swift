/// Whoever the server works for: each has its turn, on a thread and in the store.
package enum WorkOwner: Hashable, Sendable {
    /// A client that has not shown its key yet.
    case address(String)
    case key(AccessKeyUse)
    case vehicle(EntityKey)

    /// For whom the running task works; nil: the server works for itself, as it does for uploads and logins. A store reads it:
    /// so its 120 methods need no parameter that one caller has and all others lack.
    @TaskLocal package static var current: WorkOwner?
}

/// What waits to be done for several owners, who have their turns: whoever has much to do waits behind those who have little.
/// A value.
package struct FairQueue<Owner: Hashable & Sendable, Job: Sendable>: Sendable {
    private struct Queue {
        var jobs: [Job] = []
        /// Of the first job that still waits.
        var start = 0
    }

    private var queues: [Owner: Queue] = [:]
    /// Owners with something to do, in the order of their turns, from `first` on.
    private var order: [Owner] = []
    private var first = 0

    package init() {}

    package var isEmpty: Bool { queues.isEmpty }

    /// Jobs of one owner stay in their order.
    package mutating func add(_ job: Job, of owner: Owner) {
        if queues[owner] == nil { order.append(owner) }
        queues[owner, default: Queue()].jobs.append(job)
    }

    /// One job of the owner whose turn it is, who is the last then; nil when nothing waits. Who may have no turn now keeps
    /// its place.
    package mutating func next(where mayHaveTurn: (Owner) -> Bool = { _ in true }) -> Job? {
        guard let place = order[first...].firstIndex(where: mayHaveTurn),
            var queue = queues.removeValue(forKey: order[place])
        else { return nil }
        let owner = order[place]
        if place == first { first += 1 } else { order.remove(at: place) }
        let job = queue.jobs[queue.start]
        queue.start += 1
        if queue.start < queue.jobs.count {
            if queue.start > 64, 2 * queue.start > queue.jobs.count {
                queue.jobs.removeFirst(queue.start)
                queue.start = 0
            }
            queues[owner] = queue
            order.append(owner)
        }
        if first > 64, 2 * first > order.count {
            order.removeFirst(first)
            first = 0
        }
        return job
    }
}
