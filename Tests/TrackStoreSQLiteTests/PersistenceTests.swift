import Foundation
import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit

@Suite struct PersistenceTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    @Test func everythingIsThereAfterARestart() async throws {
        var store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let hash = AccessKey("key").hash
        try await store.addKey(hash, secret: "sk", to: service, replacing: false, at: .at(1))
        try await store.addEntity(NewEntity(name: "truck", description: "blue"), in: service, at: .at(2))
        let stream = StreamID(high: 3, low: 4)
        let points = (0..<6).map { point($0) }
        let batch = IngestBatch(
            service: service, entity: "truck",
            position: StreamPosition(stream: stream, epoch: 0, previous: 0, first: 1, count: 6), points: points,
            sequences: Array(1...6), payload: Workbench.encode(points), received: .at(9))
        #expect(try await store.upload([batch]) == [.stored(through: 6)])
        try store.close()

        store = try await bench.open()
        #expect(try await store.services().map(\.name) == ["fleet"])
        #expect(try await store.keys(matching: hash).map(\.secret) == ["sk"])
        #expect(try await store.entity(named: "truck", in: service)?.description == "blue")
        #expect(try await store.entity(named: "truck", in: service)?.latest?.point == points.last)
        #expect(try await store.storedThrough(stream, in: service) == 6)
        #expect(try await store.upload([batch]) == [.duplicate(through: 6)])
        #expect(try await everything(store, service) == points.map { StoredPoint($0, received: .at(9)) })
    }

    @Test func aHintIsThereAfterARestart() async throws {
        var store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let hint = IngestBatch(
            service: service, entity: "truck", position: nil, points: [], sequences: [], payload: nil, received: .at(9),
            hint: point(7))
        try await store.haveEntity(named: "truck", in: service, at: .at(1))
        #expect(try await store.upload([hint]) == [.stored(through: 0)])
        try store.close()
        store = try await bench.open()
        #expect(
            try await store.entity(named: "truck", in: service)?.latest == StoredPoint(point(7), received: .at(9)))
        #expect(try await everything(store, service) == [])
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func columnsAndTheirValuesAreThereAfterARestart() async throws {
        var store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let fuel = ColumnRecord(key: "fuel", type: .double, description: "litres", created: .at(1))
        let team = ColumnRecord(key: "team", type: .string, isSearchable: true, created: .at(2))
        try await store.addColumn(fuel, of: .track, in: service)
        try await store.addColumn(team, of: .entity, in: service)
        try await store.addEntity(NewEntity(name: "truck", values: ["team": "north"]), in: service, at: .at(3))
        try store.close()
        store = try await bench.open()
        #expect(try await store.columns(of: .track, in: service) == [fuel])
        #expect(try await store.columns(of: .entity, in: service) == [team])
        #expect(try await store.entity(named: "truck", in: service)?.values == ["team": "north"])
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func aClosedStoreFailsInsteadOfForgetting() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        try store.close()
        #expect(
            await store.ingest([upload([point(1)], to: service)]) == [.failed(TrackStoreError(.closed, ""))])
        await #expect(throws: TrackStoreError.self) { try await store.services() }
    }

    @Test func randomHistoriesSurviveRestartsAndMerging() async throws {
        for _ in 0..<2 {
            let seed = UInt64.random(in: .min ... .max)
            print("history seed \(seed)")
            let bench = try Workbench()
            let subject = TrackStoreSubject(encode: Workbench.encode) { try await bench.open() }
            var history = TrackStoreHistory(seed: seed, subject)
            try await history.run(steps: 80) { store in
                try (store as? SQLiteTrackStore)?.close()
                return try await bench.open()
            }
        }
    }

    /// What a crash of the machine leaves: the file and its log as they are between two commits, without any closing.
    @Test func aCopyTakenAtAnyCommitHasExactlyWhatWasAcknowledged() async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("crash seed \(seed)")
        var random = SplitMix(state: seed)
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let stream = StreamID(high: 1, low: 1)
        var sequence: UInt64 = 0
        for step in 0..<120 {
            let points = (0..<Int64.random(in: 1...30, using: &random)).map { point(Int64(sequence) + $0) }
            let batch = IngestBatch(
                service: service, entity: "truck",
                position: StreamPosition(
                    stream: stream, epoch: 0, previous: 0, first: sequence + 1, count: UInt32(points.count)),
                points: points, sequences: points.indices.map { sequence + 1 + UInt64($0) },
                payload: Workbench.encode(points), received: .at(Int64(step)))
            _ = try await store.upload([batch])
            sequence += UInt64(points.count)
            if Int.random(in: 0..<10, using: &random) == 0 { _ = try await store.merge(limit: 100) }
            guard Int.random(in: 0..<8, using: &random) == 0 else { continue }
            let copy = bench.folder.appending(path: "copy-\(step).sqlite").path()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: bench.path + suffix, toPath: copy + suffix)
            }
            let reopened = try await bench.open(copy)
            #expect(try await reopened.storedThrough(stream, in: service) == sequence, "step \(step)")
            let times = try await everything(reopened, service).map(\.point)
            #expect(times == (0..<Int64(sequence)).map { point($0) }, "step \(step)")
            #expect(try await reopened.checkIntegrity() == [], "step \(step)")
            try reopened.close()
        }
    }

    /// What a power cut in the middle of a commit leaves: a log whose end is missing or wrong.
    @Test func aTornLogLosesOnlyItsLastTransactions() async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("torn log seed \(seed)")
        var random = SplitMix(state: seed)
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for step in 0..<40 as Range<Int64> {
            _ = await store.ingest([upload((0..<5).map { point(step * 5 + $0) }, to: service)])
        }
        let file = try Data(contentsOf: URL(filePath: bench.path))
        let log = try Data(contentsOf: URL(filePath: bench.path + "-wal"))
        for round in 0..<25 {
            let copy = bench.folder.appending(path: "torn-\(round).sqlite").path()
            var torn = log.prefix(Int.random(in: 0...log.count, using: &random))
            if Bool.random(using: &random), !torn.isEmpty {
                torn[torn.indices.randomElement(using: &random) ?? 0] ^= 0x55
            }
            try file.write(to: URL(filePath: copy))
            try torn.write(to: URL(filePath: copy + "-wal"))
            let reopened = try await bench.open(copy)
            #expect(try await reopened.checkIntegrity() == [], "round \(round)")
            // The very first transactions may be among the lost.
            guard try await reopened.entity(named: "truck", in: service) != nil else { continue }
            let points = try await everything(reopened, service).map(\.point)
            #expect(points.count % 5 == 0, "whole batches only, round \(round)")
            #expect(points == (0..<Int64(points.count)).map { point($0) }, "a beginning, round \(round)")
            try reopened.close()
        }
    }
}
