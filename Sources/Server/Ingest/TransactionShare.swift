/// Which jobs of a group one transaction stores, when together they cause more rows than it may have: those of the senders that
/// cause the fewest. The others wait for a later one.
struct TransactionShare {
    /// Places of the jobs, ascending; never empty for a group that is not.
    private(set) var now: [Int] = []
    /// Of a sender: the places of its jobs that wait, in their order, and how many rows one of them causes.
    private(set) var later: [IngestSender: (jobs: [Int], rows: Int)] = [:]

    init(_ jobs: [(sender: IngestSender, rows: Int)], most: Int) {
        guard jobs.reduce(0, { $0 + $1.rows }) > most else {
            now = Array(jobs.indices)
            return
        }
        var totals: [IngestSender: (rows: Int, first: Int)] = [:]
        for (place, job) in jobs.enumerated() {
            totals[job.sender, default: (0, place)].rows += job.rows
        }
        var left = most
        var isOver = false
        let order = totals.sorted { ($0.value.rows, $0.value.first) < ($1.value.rows, $1.value.first) }
        let places = Dictionary(grouping: jobs.indices) { jobs[$0].sender }
        for (sender, _) in order {
            var waits: [Int] = []
            for place in places[sender] ?? [] {
                // The jobs of a sender keep their order. The first of all is stored whatever it causes.
                if waits.isEmpty, !isOver || jobs[place].rows == 0, jobs[place].rows <= left || now.isEmpty {
                    now.append(place)
                    left -= jobs[place].rows
                } else {
                    waits.append(place)
                    isOver = true
                }
            }
            guard !waits.isEmpty else { continue }
            later[sender] = (waits, waits.reduce(0) { $0 + jobs[$1].rows } / waits.count)
        }
        now.sort()
    }
}
