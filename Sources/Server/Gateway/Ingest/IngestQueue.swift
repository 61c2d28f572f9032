/// The jobs that wait for the writer: what goes into the next transaction, and who may add more. A value without I/O.
struct IngestQueue {
    private let capacity: Int
    private var jobs: [IngestJob] = []
    /// The first of `jobs` that has not been taken.
    private var head = 0
    /// Memory reserved: for jobs that wait, that are being stored, and that are being made.
    private(set) var reserved = 0
    /// Sessions that could not reserve.
    private var waiting: [UInt64: any IngestOwner] = [:]
    /// Sessions whose stream has a hole since a job failed: storing a later one would hide it.
    private var broken: Set<UInt64> = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { jobs.count - head }

    /// True when the memory is now the caller's, to be given to ``add(_:)`` or ``cancel(_:)``. Otherwise the owner
    /// is told when to ask again.
    mutating func reserve(_ cost: Int, for owner: any IngestOwner) -> Bool {
        // A job larger than all the room there is passes alone.
        guard reserved == 0 || reserved + cost <= capacity else {
            waiting[owner.number] = owner
            return false
        }
        reserved += cost
        return true
    }

    /// Takes a reserved job; dropped when an earlier job of its session failed.
    mutating func add(_ job: IngestJob) {
        guard !broken.contains(job.owner.number) else {
            reserved -= job.cost
            return
        }
        jobs.append(job)
    }

    /// Gives a reservation back; returns whom to tell that there is space.
    mutating func cancel(_ cost: Int) -> [any IngestOwner] {
        release(cost)
    }

    /// The next transaction, oldest first; nil when nothing waits.
    mutating func takeGroup(batches: Int, bytes: Int) -> [IngestJob]? {
        guard head < jobs.count else { return nil }
        var end = head
        var taken = 0
        while end < jobs.count, end - head < batches, end == head || taken + jobs[end].cost <= bytes {
            taken += jobs[end].cost
            end += 1
        }
        let group = Array(jobs[head..<end])
        head = end
        if head == jobs.count || head >= 4096 {
            jobs.removeFirst(head)
            head = 0
        }
        return group
    }

    /// The transaction has ended: gives its memory back, drops what waits of the sessions it failed for, and returns
    /// whom to tell that there is space.
    mutating func settle(_ group: [IngestJob], failed: Set<UInt64>) -> [any IngestOwner] {
        var cost = group.reduce(0) { $0 + $1.cost }
        if !failed.isEmpty {
            broken.formUnion(failed)
            var kept: [IngestJob] = []
            for job in jobs[head...] {
                if failed.contains(job.owner.number) { cost += job.cost } else { kept.append(job) }
            }
            jobs = kept
            head = 0
        }
        return release(cost)
    }

    /// The session is over and adds nothing more. What it has added is stored all the same.
    mutating func forget(_ owner: UInt64) {
        waiting[owner] = nil
        broken.remove(owner)
    }

    private mutating func release(_ cost: Int) -> [any IngestOwner] {
        reserved -= cost
        // Waking at half keeps a full queue from waking everyone for every job.
        guard reserved <= capacity / 2, !waiting.isEmpty else { return [] }
        defer { waiting = [:] }
        return waiting.sorted { $0.key < $1.key }.map(\.value)
    }
}
