import SQLDatabase
import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// Two stores on one file, as two processes have it: what one remembers, the other may delete.
@Suite struct OtherProcessTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    private func batch(_ session: TestSession, first: Int64, _ count: Int64 = 3) -> IngestBatch {
        let points = (first..<(first + count)).map { point($0) }
        return session.claimed(
            IngestBatch(
                service: session.service, entity: "truck",
                position: StreamPosition(
                    stream: session.stream, epoch: 0, previous: 0, first: UInt64(first), count: UInt32(count)),
                points: points, sequences: points.indices.map { UInt64(first) + UInt64($0) },
                payload: Workbench.encode(points), received: .at(first)))
    }

    @Test func anEntityThatAnotherProcessDeletesEndsItsClaims() async throws {
        let (store, other) = (try await bench.open(), try await bench.open())
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        var session = TestSession(service, StreamID(high: 1, low: 1))
        let former = try await session.open("truck", in: store)
        let first = batch(session, first: 1)
        #expect(await store.ingest([first]).map(\.withoutVersion) == [.stored(through: 3)])
        session.sent(first)
        #expect(!store.records.known.withLock { $0.entities.isEmpty }, "the row is remembered")

        try await other.deleteEntity(named: "truck", in: service, at: .at(1))
        #expect(await store.ingest([batch(session, first: 4)]) == [.replaced])
        #expect(try await store.entity(named: "truck", in: service) == nil)

        // Made again by the other process, in the same turn as the deletion.
        let claim = try await session.open("truck", in: store)
        #expect(claim.epoch > former.epoch)
        try await other.deleteEntity(named: "truck", in: service, at: .at(2))
        try await other.haveEntity(named: "truck", in: service, at: .at(3))
        #expect(await store.ingest([batch(session, first: 1)]) == [.replaced])
        let custom = upload([point(9)], to: service)
        #expect(await store.ingest([custom]).map(\.isKept) == [true])
        #expect(try await everything(store, service).map(\.point) == [point(9)])
        #expect(try await everything(other, service).map(\.point) == [point(9)])
        let again = try await session.open("truck", in: store)
        #expect(again.storedThrough == 0)
        #expect(again.epoch > claim.epoch)
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func anEntityThatAnotherProcessDeletesIsMadeAgainByItsNextPoint() async throws {
        let (store, other) = (try await bench.open(), try await bench.open())
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for round in 0..<5 as Range<Int64> {
            #expect(await store.ingest([upload([point(round)], to: service)]).map(\.isKept) == [true])
            #expect(try await everything(store, service).map(\.point) == [point(round)])
            try await other.deleteEntity(named: "truck", in: service, at: .at(round))
        }
        #expect(try await store.counts().entities == 0)
        #expect(try await store.checkIntegrity() == [])
    }

    /// Merging looks at an entity beside the writer, and exchanges its chunks later.
    @Test func aMergeOfADeletedEntityExchangesNothing() async throws {
        let (store, other) = (try await bench.open(), try await bench.open())
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        func fill() async throws -> Int64 {
            for start in stride(from: Int64(0), to: 60, by: 6) {
                _ = await store.ingest([upload((0..<6).map { point(start + $0) }, to: service)])
            }
            return try #require(
                try await store.database.read { try $0.value(Int64.self, "SELECT id FROM entity WHERE name = 'truck'") }
            )
        }
        for isMadeAgain in [false, true] {
            let entity = try await fill()
            let work = try #require(try await store.database.read { try MergeWork(entity, $0) })
            #expect(work.chunks == 10)
            try await other.deleteEntity(named: "truck", in: service, at: .at(1))
            if isMadeAgain { #expect(try await fill() != entity) }
            let chunks = try await store.counts().chunks
            #expect(try await store.writing { try work.commit($0) } == 0)
            #expect(try await store.counts().chunks == chunks)
            #expect(try await store.checkIntegrity() == [])
        }
    }
}
