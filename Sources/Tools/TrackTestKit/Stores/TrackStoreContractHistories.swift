import TrackModel
package import TrackStore

extension TrackStoreContract {
    static var histories: [TrackStoreCheck] {
        [
            TrackStoreCheck("random histories give what the plainest store gives, however often chunks are merged") {
                subject in
                for _ in 0..<3 {
                    let seed = UInt64.random(in: .min ... .max)
                    do {
                        var history = TrackStoreHistory(seed: seed, subject)
                        try await history.run(steps: 60)
                    } catch {
                        throw ContractViolation(description: "seed \(seed): \(error)")
                    }
                }
            }
        ]
    }
}

/// Random uploads, good and bad, to a store and to ``ReferencePointStore``, which must agree all the time.
package struct TrackStoreHistory {
    private let subject: TrackStoreSubject
    private var random: SplitMix
    private var sequences: [StreamID: UInt64] = [:]
    private var mark: Int64 = 0

    package init(seed: UInt64, _ subject: TrackStoreSubject) {
        random = SplitMix(state: seed)
        self.subject = subject
    }

    /// `reopen` may replace the store by another on the same data.
    package mutating func run(
        steps: Int, reopen: (any TrackStore) async throws -> any TrackStore = { store in store }
    ) async throws {
        var (store, service) = try await subject.withService()
        let reference = ReferencePointStore(services: [service])
        for step in 0..<steps {
            let batches = (0..<Int.random(in: 1...6, using: &random)).map { _ in batch(service) }
            let outcomes = try await store.upload(batches)
            try expect(outcomes, is: try await reference.upload(batches), "outcomes of step \(step)")
            if Int.random(in: 0..<4, using: &random) == 0 {
                _ = try await store.merge(limit: Int.random(in: 1...50, using: &random))
            }
            if Int.random(in: 0..<10, using: &random) == 0 { store = try await reopen(store) }
            if step % 10 == 9 { try await compare(store, with: reference, service, "after step \(step)") }
        }
        var rounds = 0
        while try await store.merge(limit: 10) > 0 {
            rounds += 1
            try expect(rounds < 10_000, is: true, "merging comes to an end")
        }
        try await compare(store, with: reference, service, "at the end")
        try expect(try await store.checkIntegrity(), is: [], "problems")
    }

    private mutating func batch(_ service: ServiceID) -> IngestBatch {
        let entity = ["a", "b", "c"].randomElement(using: &random) ?? "a"
        let count = [1, 2, 6, 6, 6, 6, 40, 300].randomElement(using: &random) ?? 6
        mark += 1
        let start = Int64.random(in: 0..<4000, using: &random)
        var points = TrackPoint.samples(
            (0..<Int64(count)).map { start + $0 * 3 }, mark: mark)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: points.shuffle(using: &random)
        case 1: points += points.map { .sample($0.fix.time.seconds - 1_700_000_000, mark: mark + 1_000_000) }
        case 2: points.append(.sample(Int64.random(in: -40_000_000..<40_000_000, using: &random), mark: mark))
        default: break
        }
        let received = Timestamp.at(Int64.random(in: 0..<100_000, using: &random))
        guard Int.random(in: 0..<4, using: &random) > 0 else {
            return subject.custom(service, entity: entity, points, received: received)
        }
        let stream: StreamID = Bool.random(using: &random) ? .one : .two
        let next = sequences[stream] ?? 1
        // Some again, some after a gap, most in order.
        let first =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: next > 20 ? next - UInt64.random(in: 0..<20, using: &random) : 1
            case 1: next + UInt64.random(in: 0..<5, using: &random)
            default: next
            }
        var batch = subject.batch(service, entity: entity, stream: stream, first: first, points, received: received)
        sequences[stream] = max(next, first + UInt64(points.count))
        if Int.random(in: 0..<8, using: &random) == 0 {
            let kept = points.indices.filter { _ in Bool.random(using: &random) }
            batch.points = kept.map { points[$0] }
            batch.sequences = kept.map { first + UInt64($0) }
            batch.payload = nil
        }
        return batch
    }

    private mutating func compare(
        _ store: any TrackStore, with reference: ReferencePointStore, _ service: ServiceID, _ when: String
    ) async throws {
        let everything = Page(offset: 0, limit: 100)
        let entities = try await store.entities(in: service, matching: EntityFilter(), page: everything).entities
        let wanted = await reference.entities(in: service)
        try expect(entities, is: wanted, "entities \(when)")
        for entity in wanted.map(\.name) {
            try expect(
                try await store.history(of: entity, in: service),
                is: try await reference.history(of: entity, in: service), "points of \(entity) \(when)")
            let from = Timestamp.at(Int64.random(in: -100..<4000, using: &random))
            let through = from.adding(milliseconds: Int64.random(in: 0..<900_000, using: &random))
            try expect(
                try await store.points(of: entity, in: service, from: from, through: through, limit: 100_000),
                is: try await reference.points(
                    of: entity, in: service, from: from, through: through, limit: 100_000),
                "points of \(entity) from \(from) through \(through) \(when)")
        }
        for stream in [StreamID.one, .two] {
            for entity in wanted.map(\.name) {
                try expect(
                    try await store.storedThrough(stream, of: entity, in: service),
                    is: try await reference.storedThrough(stream, of: entity, in: service), "stored through \(when)")
            }
        }
    }
}
