internal import TrackModel
internal import TrackStore

/// A stream for one of the entities that it carries.
struct StreamOwner: Hashable, Sendable {
    let service: ServiceID
    let entity: String
    let stream: StreamID
}

/// What the store must hold: every commit once more, in plain lists.
struct StoreModel {
    private struct Progress {
        var epoch: Int64 = 0
        var storedThrough: UInt64 = 0
    }

    private var progress: [StreamOwner: Progress] = [:]
    private var versions: [String: Int64] = [:]
    /// Entities whose version nobody has heard: the power went with the answer.
    private var unsureVersions: Set<String> = []
    private(set) var points: [String: [TrackPoint]] = [:]
    private(set) var commits = 0
    private(set) var duplicates = 0

    /// The greatest number of a stream that is stored for any entity: what a promise may say at most.
    func through(_ stream: StreamID, _ service: ServiceID) -> UInt64 {
        progress.filter { $0.key.stream == stream && $0.key.service == service }.map(\.value.storedThrough).max() ?? 0
    }

    /// The sequence through which the stream of a batch is stored for the batch's entity; 0: nothing is, or it has no stream.
    func storedThrough(of batch: IngestBatch) -> UInt64 {
        guard let stream = batch.position?.stream else { return 0 }
        let owner = StreamOwner(service: batch.service, entity: batch.entity, stream: stream)
        return progress[owner]?.storedThrough ?? 0
    }

    /// Takes a claim that the store gave.
    mutating func open(_ owner: StreamOwner, _ claim: StreamClaim) throws(Violation) {
        let former = progress[owner, default: Progress()]
        guard claim.epoch > former.epoch else {
            throw Violation(
                guarantee: .exactlyOnce, detail: "a claim has epoch \(claim.epoch), the one before has \(former.epoch)")
        }
        guard claim.storedThrough == former.storedThrough else {
            throw Violation(
                guarantee: .exactlyOnce,
                detail: "a claim says \(claim.storedThrough), committed is \(former.storedThrough)")
        }
        progress[owner, default: Progress()].epoch = claim.epoch
    }

    /// Takes a committed batch; returns the points that are new, and checks what the store said of it.
    mutating func commit(_ batch: IngestBatch, _ outcome: IngestOutcome) throws(Violation) -> [TrackPoint] {
        guard let position = batch.position else {
            // Points whose sequences an earlier session had used; the ledger finds each that was stored before.
            guard case .stored(_, let next) = outcome, batch.hint == nil else { return [] }
            versions[batch.entity] = next
            points[batch.entity, default: []] += batch.points
            return batch.points
        }
        let owner = StreamOwner(service: batch.service, entity: batch.entity, stream: position.stream)
        let former = progress[owner, default: Progress()]
        let (before, last) = (former.storedThrough, position.last)
        // What waits behind a batch that was not stored.
        if case .failed(let error) = outcome, error.code == .outOfTurn { return [] }
        let version = versions[batch.entity, default: 0]
        let isRight =
            switch outcome {
            case .replaced: position.epoch != former.epoch
            case .stored(let through, let next):
                // The session knows of each batch before, and nothing else stores by its claim. A batch may end with points that
                // the server has refused, and begin with one that is stored: then the entity stays as it is.
                position.epoch == former.epoch && position.previous == before && last > before && through == last
                    && (next > version || next == version && !batch.sequences.contains { $0 > before })
            case .duplicate(let through, let same):
                position.epoch == former.epoch && position.previous <= before && last <= before && through == before
                    && (same == version || same > version && unsureVersions.contains(batch.entity))
            // Judged from another version than the store has: only in a history with fences.
            case .stale(let present, _): batch.followsBatch || batch.expectedVersion.map { $0 != present } ?? false
            // The store loses nothing here, and a store that fails is none that commits.
            case .rewound, .failed: false
            }
        guard isRight else {
            throw Violation(
                guarantee: .exactlyOnce,
                detail: "the store answered \(outcome) to \(position.first)...\(last) of epoch \(position.epoch) after "
                    + "\(before) of epoch \(former.epoch)")
        }
        guard case .stored(_, let next) = outcome else {
            if case .duplicate = outcome { duplicates += 1 }
            return []
        }
        versions[batch.entity] = next
        unsureVersions.remove(batch.entity)
        return take(batch, owner, after: before, through: last)
    }

    private mutating func take(
        _ batch: IngestBatch, _ owner: StreamOwner, after before: UInt64, through last: UInt64
    ) -> [TrackPoint] {
        progress[owner, default: Progress()].storedThrough = last
        commits += 1
        var new: [TrackPoint] = []
        for (point, sequence) in zip(batch.points, batch.sequences) where sequence > before { new.append(point) }
        points[batch.entity, default: []] += new
        return new
    }

    // MARK: A power cut

    /// Streams for their entities that the store has told of.
    var owners: [StreamOwner] {
        progress.keys.sorted { ($0.entity, "\($0.stream)") < ($1.entity, "\($1.stream)") }
    }

    /// The power went while the store was at some batches. Then each stream has come so far, and the store has so many points.
    /// Returns the batches that were committed all the same, each with the sequence through which its stream was stored before
    /// and with its new points. They are one transaction: all of them or none.
    mutating func powerReturned(
        _ batches: [IngestBatch], through stored: [StreamOwner: UInt64], points found: Int
    ) throws(Violation) -> [(batch: IngestBatch, former: UInt64, new: [TrackPoint])] {
        var after = self
        var taken: [(batch: IngestBatch, former: UInt64, new: [TrackPoint])] = []
        for batch in batches {
            guard let position = batch.position else {
                // Points whose sequences an earlier session had used: no stream tells of them.
                guard !batch.points.isEmpty else { continue }
                after.unsureVersions.insert(batch.entity)
                after.points[batch.entity, default: []] += batch.points
                taken.append((batch, 0, batch.points))
                continue
            }
            let owner = StreamOwner(service: batch.service, entity: batch.entity, stream: position.stream)
            let former = after.progress[owner, default: Progress()]
            let (before, last) = (former.storedThrough, position.last)
            guard position.epoch == former.epoch, position.previous <= before, last > before else { continue }
            after.unsureVersions.insert(batch.entity)
            taken.append((batch, before, after.take(batch, owner, after: before, through: last)))
        }
        func isRight(_ model: Self) -> Bool {
            model.count == found
                && stored.allSatisfy { owner, through in
                    model.progress[owner, default: Progress()].storedThrough == through
                }
        }
        // None of it may be what is left; then nothing was under way, or all of it was lost.
        if isRight(self) { return [] }
        guard isRight(after) else {
            let wrong = stored.filter { after.progress[$0.key, default: Progress()].storedThrough != $0.value }
                .map { "\($0.key.entity): \($0.value), committed is \(progress[$0.key]?.storedThrough ?? 0)" }
            throw Violation(
                guarantee: .exactlyOnce,
                detail:
                    "after a power cut the store has \(found) points, \(count) were committed and \(after.count) under way; "
                    + "another part of a stream: \(wrong.sorted().joined(separator: "; "))")
        }
        self = after
        return taken
    }

    var count: Int { points.values.reduce(0) { $0 + $1.count } }
}
