/// The jobs that wait for the writer: what goes into the next transaction, and who may add more. A value without I/O.
struct IngestQueue {
    private let capacity: Int
    private var jobs: [IngestJob] = []
    /// The first of `jobs` that has not been taken.
    private var head = 0
    /// How many jobs were ever added; the last of them has this number.
    private(set) var added: UInt64 = 0
    /// The numbers of `jobs`, which have holes where jobs were dropped.
    private var numbers: [UInt64] = []
    /// The first job of the group that is being stored; nil while none is.
    private var firstUnderWay: UInt64?
    /// Memory reserved: for jobs that wait, that are being stored, and that are being made.
    private(set) var reserved = 0
    /// Who could not reserve.
    private var waiting: [IngestSource: any IngestOwner] = [:]
    /// Sessions whose stream has a hole since a job failed: storing a later one would hide it.
    private var broken: Set<IngestSource> = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { jobs.count - head }

    /// Every job up to this number is settled or dropped.
    var settledThrough: UInt64 {
        if let firstUnderWay { return firstUnderWay - 1 }
        return head < numbers.count ? numbers[head] - 1 : added
    }

    /// True when the memory is now the caller's, to be given to ``add(_:)`` or ``cancel(_:)``. Otherwise the owner
    /// is told when to ask again.
    mutating func reserve(_ cost: Int, for owner: any IngestOwner) -> Bool {
        // A job larger than all the room there is passes alone.
        guard reserved == 0 || reserved + cost <= capacity else {
            waiting[owner.source] = owner
            return false
        }
        reserved += cost
        return true
    }

    /// Takes a reserved job; drops it when an earlier job of its session failed. Returns whom to tell that there is space.
    mutating func add(_ job: IngestJob) -> [any IngestOwner] {
        guard !broken.contains(job.owner.source) else { return release(job.cost) }
        added += 1
        jobs.append(job)
        numbers.append(added)
        return []
    }

    /// Gives a reservation back; returns whom to tell that there is space.
    mutating func cancel(_ cost: Int) -> [any IngestOwner] {
        release(cost)
    }

    /// The next transaction, oldest first; nil when nothing waits. ``settle(_:failed:)`` comes before the next.
    mutating func takeGroup(batches: Int, bytes: Int) -> [IngestJob]? {
        guard head < jobs.count else { return nil }
        var end = head
        var taken = 0
        while end < jobs.count, end - head < batches, end == head || taken + jobs[end].cost <= bytes {
            taken += jobs[end].cost
            end += 1
        }
        let group = Array(jobs[head..<end])
        firstUnderWay = numbers[head]
        head = end
        if head == jobs.count || head >= 4096 {
            jobs.removeFirst(head)
            numbers.removeFirst(head)
            head = 0
        }
        return group
    }

    /// The transaction has ended: gives its memory back, drops what waits of the sessions it failed for, and returns
    /// whom to tell that there is space.
    mutating func settle(_ group: [IngestJob], failed: Set<IngestSource>) -> [any IngestOwner] {
        firstUnderWay = nil
        let cost = group.reduce(0) { $0 + $1.cost }
        guard !failed.isEmpty else { return release(cost) }
        broken.formUnion(failed)
        return release(cost + drop { failed.contains($0.owner.source) }.reduce(0) { $0 + $1.cost })
    }

    /// Nothing will be stored any more: returns the requests' jobs, which still owe an answer.
    mutating func abandonRequests() -> [IngestJob] {
        let dropped = drop { job in
            if case .request = job.owner.source { true } else { false }
        }
        _ = release(dropped.reduce(0) { $0 + $1.cost })
        return dropped
    }

    /// The source is done and adds nothing more. What it has added is stored all the same.
    mutating func forget(_ source: IngestSource) {
        waiting[source] = nil
        broken.remove(source)
    }

    private mutating func drop(_ isDropped: (IngestJob) -> Bool) -> [IngestJob] {
        var (kept, keptNumbers): ([IngestJob], [UInt64]) = ([], [])
        var dropped: [IngestJob] = []
        for (job, number) in zip(jobs[head...], numbers[head...]) {
            if isDropped(job) {
                dropped.append(job)
            } else {
                kept.append(job)
                keptNumbers.append(number)
            }
        }
        (jobs, numbers, head) = (kept, keptNumbers, 0)
        return dropped
    }

    private mutating func release(_ cost: Int) -> [any IngestOwner] {
        reserved -= cost
        // Waking at half keeps a full queue from waking everyone for every job.
        guard reserved <= capacity / 2, !waiting.isEmpty else { return [] }
        defer { waiting = [:] }
        return waiting.sorted { $0.key < $1.key }.map(\.value)
    }
}
