/// The jobs that wait for the writer. Decides which jobs go into the next transaction, and who may add jobs. No I/O.
struct IngestQueue {
    private let capacity: Int
    private var waitingJobs = DeficitRoundRobin<IngestSender, IngestJob>()
    /// How many jobs were added so far. It is also the number of the last job.
    private(set) var added: UInt64 = 0
    /// The least number of a job in the transaction that runs now; nil when none runs.
    private var firstUnderWay: UInt64?
    /// Reserved bytes: for jobs that wait, jobs in the transaction that runs, and jobs that their owners still make.
    private(set) var reserved = 0
    /// Of them, for each sender.
    private var held: [IngestSender: Int] = [:]
    /// Most that one sender may reserve, unless it has nothing reserved: the others find room however much it brings.
    private let share: Int
    /// The owners whose last reservation failed.
    private var waiting: [IngestSource: any IngestOwner] = [:]
    /// Sessions with a failed job. To store a later job of such a session would hide the missing points.
    private var broken: Set<IngestSource> = []

    init(capacity: Int) {
        self.capacity = capacity
        share = capacity / 4
    }

    var count: Int { waitingJobs.count }

    /// Every job up to this number has ended: its result is known, or it was dropped.
    var settledThrough: UInt64 {
        let first = waitingJobs.firsts.reduce(firstUnderWay ?? .max) { min($0, $1.number) }
        return first == .max ? added : first - 1
    }

    /// Reserves memory for a job. True: the caller must pass the reservation to ``add(_:)`` or ``cancel(_:)``. False: the
    /// owner will hear when it may ask again.
    mutating func reserve(_ cost: Int, for owner: any IngestOwner) -> Bool {
        let before = held[owner.sender] ?? 0
        // A job that is larger than the capacity is accepted when nothing else is reserved.
        guard reserved == 0 || reserved + cost <= capacity && (before == 0 || before + cost <= share) else {
            waiting[owner.source] = owner
            return false
        }
        reserved += cost
        held[owner.sender] = before + cost
        return true
    }

    /// Adds a job with a reservation. Drops it if an earlier job of its session failed. Returns owners who may reserve again.
    mutating func add(_ job: IngestJob) -> [any IngestOwner] {
        guard !broken.contains(job.owner.source) else { return cancel(job.cost, of: job.owner.sender) }
        added += 1
        var job = job
        job.number = added
        waitingJobs.add(job, of: job.owner.sender)
        return []
    }

    /// Ends a reservation. Returns the owners who may reserve again.
    mutating func cancel(_ cost: Int, of sender: IngestSender) -> [any IngestOwner] {
        release(cost, of: sender)
        return takeWaiting()
    }

    /// The jobs of the next transaction; nil when no job waits. Call ``settle(_:failed:)`` before the next call.
    mutating func takeGroup(_ limits: IngestLimits) -> [IngestJob]? {
        let bounds = DeficitRoundRobin<IngestSender, IngestJob>.Limits(
            items: limits.groupBatches, bytes: limits.groupBytes, rows: limits.groupRows)
        let group = waitingJobs.take(bounds, bytes: \.cost)
        guard !group.isEmpty else { return nil }
        firstUnderWay = group.lazy.map(\.number).min()
        return group
    }

    /// Jobs of a group that the transaction leaves to a later one. `rows`: how many rows one of these jobs causes.
    mutating func putBack(_ jobs: [IngestJob], of sender: IngestSender, rows: Int) {
        waitingJobs.putBack(jobs, of: sender, rows: rows)
    }

    /// So many rows were written for so many jobs of a sender.
    mutating func charge(_ sender: IngestSender, rows: Int, jobs: Int) {
        waitingJobs.charge(sender, rows: rows, items: jobs)
    }

    /// The transaction has ended. Frees its memory, drops the waiting jobs of the sessions in `failed`, and returns the
    /// owners who may reserve again.
    mutating func settle(_ group: [IngestJob], failed: Set<IngestSource>) -> [any IngestOwner] {
        firstUnderWay = nil
        for job in group { release(job.cost, of: job.owner.sender) }
        if !failed.isEmpty {
            broken.formUnion(failed)
            for job in waitingJobs.remove(where: { failed.contains($0.owner.source) }) {
                release(job.cost, of: job.owner.sender)
            }
        }
        return takeWaiting()
    }

    /// The writer stores nothing more. Drops and returns the jobs of requests, because requests wait for an answer.
    mutating func abandonRequests() -> [IngestJob] {
        let dropped = waitingJobs.remove { job in
            if case .request = job.owner.source { true } else { false }
        }
        for job in dropped { release(job.cost, of: job.owner.sender) }
        return dropped
    }

    /// The source adds no more jobs. The jobs that it has added will still be stored.
    mutating func forget(_ source: IngestSource) {
        waiting[source] = nil
        broken.remove(source)
    }

    private mutating func release(_ cost: Int, of sender: IngestSender) {
        reserved -= cost
        let left = (held[sender] ?? 0) - cost
        held[sender] = left > 0 ? left : nil
    }

    /// The owners who may reserve again.
    private mutating func takeWaiting() -> [any IngestOwner] {
        // Owners hear of free memory only below half, of all and of their share. Otherwise each job of a full queue would wake
        // all owners.
        guard reserved <= capacity / 2, !waiting.isEmpty else { return [] }
        let free = waiting.values.filter { (held[$0.sender] ?? 0) <= share / 2 }
        for owner in free { waiting[owner.source] = nil }
        return free.sorted { $0.source < $1.source }
    }
}
