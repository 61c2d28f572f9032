/// Says which chunks of one entity are merged, and which need no more attention.
///
/// Later stored points win over earlier ones of the same time, and "later" is the greater chunk id. A merged chunk takes
/// an id of those it replaces. Therefore a group is merged only if no other chunk that overlaps its time has an id
/// between its least and its greatest: then every other chunk stays earlier or later than all of it.
package struct MergePlan: Hashable, Sendable {
    /// Most points of a group whose chunks overlap each other.
    package static let overlappingPoints = 4 * ChunkLimits.points
    /// Most points of all groups of a plan: bounds memory.
    package static let plannedPoints = 16 * ChunkLimits.points

    /// Each at least two chunks, in the order of their ids.
    package private(set) var groups: [[ChunkOutline]] = []
    /// Unsettled chunks that stay as they are.
    package private(set) var settled: [Int64] = []

    private var points = 0
    /// True when there may be more to plan.
    package var isFull: Bool { points >= Self.plannedPoints }

    /// `chunks` in the order of (first time, id): all that the entity has in a stretch of time. `isComplete` tells
    /// whether all chunks that might overlap a chunk are among them, save such with greater ids than any that overlap.
    package init(_ chunks: [ChunkOutline], isComplete: (ChunkOutline) -> Bool) {
        var joined = Cluster()
        for cluster in Self.clusters(chunks) where !isFull {
            let isClosed = cluster.chunks.allSatisfy(isComplete) && cluster.points <= Self.overlappingPoints
            guard isClosed else {
                take(joined)
                joined = Cluster()
                takeRuns(of: cluster, isComplete: isComplete)
                continue
            }
            if !joined.chunks.isEmpty, joined.fits(cluster) {
                joined.join(cluster)
            } else {
                take(joined)
                joined = cluster
            }
        }
        if !isFull { take(joined) }
    }

    /// Chunks that no gap in time separates.
    private struct Cluster {
        var chunks: [ChunkOutline] = []
        var points = 0
        var firstTime = Int64.max
        var lastTime = Int64.min

        mutating func add(_ chunk: ChunkOutline) {
            chunks.append(chunk)
            points += chunk.count
            firstTime = min(firstTime, chunk.firstTime)
            lastTime = max(lastTime, chunk.lastTime)
        }

        mutating func join(_ other: Cluster) {
            for chunk in other.chunks { add(chunk) }
        }

        func fits(_ other: Cluster) -> Bool {
            let (span, overflow) = max(lastTime, other.lastTime).subtractingReportingOverflow(
                min(firstTime, other.firstTime))
            return points + other.points <= ChunkLimits.points && !overflow && span <= ChunkLimits.span
        }
    }

    private static func clusters(_ chunks: [ChunkOutline]) -> [Cluster] {
        var clusters: [Cluster] = []
        var current = Cluster()
        for chunk in chunks {
            if !current.chunks.isEmpty, chunk.firstTime > current.lastTime {
                clusters.append(current)
                current = Cluster()
            }
            current.add(chunk)
        }
        if !current.chunks.isEmpty { clusters.append(current) }
        return clusters
    }

    private mutating func take(_ cluster: Cluster) {
        let fresh = cluster.chunks.filter { !$0.isSettled }
        guard !fresh.isEmpty else { return }
        guard cluster.chunks.count > 1 else {
            settled += fresh.map(\.id)
            return
        }
        groups.append(cluster.chunks.sorted { $0.id < $1.id })
        points += cluster.points
    }

    /// A cluster too large to be taken whole: only its small chunks, as far as they follow each other by id.
    private mutating func takeRuns(of cluster: Cluster, isComplete: (ChunkOutline) -> Bool) {
        var run = Cluster()
        for chunk in cluster.chunks.sorted(by: { $0.id < $1.id }) {
            if isFull { return }
            var single = Cluster()
            single.add(chunk)
            guard isComplete(chunk), chunk.count < ChunkLimits.smallPoints else {
                take(run)
                run = Cluster()
                if isComplete(chunk) { take(single) }
                continue
            }
            if run.chunks.isEmpty || run.fits(single) {
                run.join(single)
            } else {
                take(run)
                run = single
            }
        }
        if !isFull { take(run) }
    }
}

/// What the store knows of a chunk without decoding the payload.
package struct ChunkOutline: Hashable, Sendable {
    package var id: Int64
    package var firstTime: Int64
    package var lastTime: Int64
    package var count: Int
    package var isSettled: Bool

    package init(id: Int64, firstTime: Int64, lastTime: Int64, count: Int, isSettled: Bool) {
        self.id = id
        self.firstTime = firstTime
        self.lastTime = lastTime
        self.count = count
        self.isSettled = isSettled
    }
}
