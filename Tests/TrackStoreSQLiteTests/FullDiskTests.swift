import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit

@Suite struct FullDiskTests {
    @Test func aFullStoreSaysSoAndStoresNothingByHalves() async throws {
        let bench = try Workbench()
        let options = SQLiteTrackStoreOptions(synchronous: .normal, maximumBytes: 400 * 4096)
        let store = try await bench.open(nil, options)
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let stream = StreamID(high: 1, low: 1)
        var sequence: UInt64 = 0
        var full: TrackStoreError?
        var batches: [IngestBatch] = []
        while full == nil, sequence < 10_000_000 {
            batches = (0..<20).map { index in
                let first = sequence + UInt64(index) * 500
                let points = (0..<500).map { point(Int64(first) + $0, speed: Int32.random(in: 0..<9000)) }
                return IngestBatch(
                    service: service, entity: "truck",
                    position: StreamPosition(
                        stream: stream, epoch: 0, previous: 0, first: first + 1, count: 500), points: points,
                    sequences: (1...500).map { first + $0 }, payload: Workbench.encode(points), received: .at(0))
            }
            do throws(TrackStoreError) {
                let outcomes = try await store.upload(batches)
                if case .failed(let error)? = outcomes.first {
                    full = error
                    #expect(outcomes.allSatisfy { $0 == .failed(error) })
                } else {
                    sequence += 10_000
                }
            } catch {
                full = error
            }
        }
        #expect(full?.code == .full)
        #expect(full?.isRetriable == true)
        #expect(full?.detail.contains(bench.path) == true)
        #expect(sequence > 0)
        #expect(try await store.counts().points == Int(sequence))
        #expect(try await store.checkIntegrity() == [])
        try store.close()

        // With room again the very same call succeeds.
        let roomy = try await bench.open()
        #expect(try await roomy.storedThrough(stream, in: service) == sequence)
        #expect(try await roomy.upload(batches).last == .stored(through: sequence + 10_000))
        #expect(try await roomy.counts().points == Int(sequence) + 10_000)
        #expect(try await roomy.checkIntegrity() == [])
    }

    @Test func anEntityMadeInACallThatFailedIsMadeAgainByTheNext() async throws {
        let bench = try Workbench()
        let store = try await bench.open(
            nil, SQLiteTrackStoreOptions(synchronous: .normal, maximumBytes: 90 * 4096))
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        var huge: [IngestBatch] = [upload([point(1)], to: service, entity: "new")]
        for start in stride(from: Int64(0), to: 200_000, by: 1000) {
            huge.append(
                upload((start..<(start + 1000)).map { point($0, speed: .random(in: 0..<9000)) }, to: service))
        }
        #expect(await store.ingest(huge).allSatisfy { $0 == .failed(TrackStoreError(.full, "")) })
        #expect(try await store.entity(named: "new", in: service) == nil)
        #expect(try await store.upload([huge[0]]) == [.stored(through: 0)])
        #expect(try await everything(store, service, "new").count == 1)
        #expect(try await store.checkIntegrity() == [])
    }
}
