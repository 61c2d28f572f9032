import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``StoreUpkeep``; merging is asked of every random history of ``points``.
    package static var upkeep: [TrackStoreCheck] {
        [
            TrackStoreCheck("a store counts what it holds") { subject in
                let store = try await subject.make()
                try expect(
                    try await store.counts(), is: StoreCounts(services: 0, entities: 0, chunks: 0, points: 0), "empty")
                let service = try await store.createService(named: "fleet", at: .at(0)).id
                _ = try await store.upload([
                    subject.batch(service, entity: "a", first: 1, TrackPoint.samples(0..<6)),
                    subject.batch(service, entity: "b", first: 7, TrackPoint.samples(0..<3)),
                ])
                let counts = try await store.counts()
                try expect([counts.services, counts.entities, counts.points], is: [1, 2, 9], "counts")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("merging comes to an end and changes no range") { subject in
                let (store, service) = try await subject.withService()
                for index in 0..<120 as Range<Int64> {
                    let points = TrackPoint.samples((index * 6)..<(index * 6 + 6))
                    _ = try await store.upload([
                        subject.batch(service, first: UInt64(index * 6 + 1), points, received: .at(index))
                    ])
                }
                let history = try await store.history(in: service)
                var rounds = 0
                while try await store.mergeChunks(limit: 10) > 0 {
                    rounds += 1
                    try expect(rounds < 1000, is: true, "merging comes to an end")
                }
                try expect(try await store.history(in: service), is: history, "points")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
        ]
    }
}
