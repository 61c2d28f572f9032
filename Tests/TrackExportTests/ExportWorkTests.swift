import StoreRecords
import Synchronization
import Testing
import TrackAnalysis
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackExport

/// The writing of one job, with a store in memory and a real file.
@Suite struct ExportWorkTests {
    private let store = TestStore()

    /// As many points as that, a second apart, from second 0 on.
    private func service(_ tracks: [String: Int]) async throws -> ServiceID {
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let place = try #require(Coordinate(latitudeE7: 520_000_000, longitudeE7: 43_000_000))
        for (name, count) in tracks.sorted(by: { $0.key < $1.key }) {
            let points = (0..<count).map {
                TrackPoint(Fix(time: .at(Int64($0)), coordinate: place, accuracy: Int32($0 % 100)))
            }
            _ = await store.ingest([
                IngestBatch(
                    service: service, entity: name, position: nil, points: points, sequences: [], payload: nil,
                    received: .at(100_000))
            ])
        }
        return service
    }

    private func job(_ service: ServiceID, _ from: Int64 = 0, _ through: Int64 = 86_400) -> ExportRecord {
        ExportRecord(
            number: 9, service: service,
            order: ExportOrder(from: .at(from), through: .at(through), coordinateType: .wgs84), token: "t",
            created: .at(0), modified: .at(0), state: .running)
    }

    /// What the lines of a job come to, one line a point: the entity and the second.
    private func written(
        _ job: ExportRecord, store: (any TrackStore)? = nil, while goesOn: @escaping () async throws -> Bool = { true }
    ) async throws -> (isWhole: Bool, lines: [String], progress: ExportWork.Progress) {
        let lines = Mutex<[String]>([])
        let calls = Mutex(0)
        let work = ExportWork(job, store: store ?? self.store, pointsAtOnce: 100) { entity, points, gaps in
            calls.withLock { $0 = max($0, points.count) }
            let new = points.map { stored in
                let ended = (gaps[stored.point.fix.time] ?? []).map { gap in
                    " \(gap.reason.name) \(gap.from.seconds - Timestamp.at(0).seconds)-"
                        + "\(gap.until.seconds - Timestamp.at(0).seconds)"
                }
                return "\(entity.name) \(stored.point.fix.time.seconds - Timestamp.at(0).seconds)" + ended.joined()
            }
            lines.withLock { $0 += new }
            return Array(new.joined(separator: "\n").utf8)
        }
        var file = try ExportFile(
            path: "/tmp/saker-export-\(UInt64.random(in: 0 ... .max))", entry: "a", modified: .at(0))
        var progress = ExportWork.Progress()
        let isWhole = try await work.write(to: &file, &progress, while: goesOn)
        #expect(calls.withLock { $0 } <= 100)
        return (isWhole, lines.withLock { $0 }, progress)
    }

    @Test func everyPointOfTheRangeIsThereOnce() async throws {
        let service = try await service(["a": 3, "b": 200, "silent": 0])
        let all = try await written(job(service))
        #expect(all.isWhole && all.progress.points == 203)
        #expect(all.lines == (0..<3).map { "a \($0)" } + (0..<200).map { "b \($0)" })
        let part = try await written(job(service, 2, 4))
        #expect(part.lines == ["a 2", "b 2", "b 3", "b 4"])
        #expect(try await written(job(service, 500, 600)).lines.isEmpty)
    }

    @Test func aLongTrackIsReadInStretches() async throws {
        let service = try await service(["a": 865])
        let found = try await written(job(service))
        #expect(found.lines == (0..<865).map { "a \($0)" })
    }

    @Test func aPointThatEndsAGapSaysWhy() async throws {
        let service = try await service([:])
        let place = try #require(Coordinate(latitudeE7: 520_000_000, longitudeE7: 43_000_000))
        func gathered(_ second: Int64, _ spans: [GapSpan] = []) -> TrackPoint {
            TrackPoint(
                Fix(time: .at(second), coordinate: place), continuity: Continuity(interval: 5, spans: spans))
        }
        // Two gaps, far apart: between them more points than one stretch has.
        let points =
            [gathered(0, [GapSpan(.off, from: nil, until: .at(0))])]
            + (1...250).map { gathered($0 * 5) }
            + [
                gathered(
                    2000,
                    [
                        GapSpan(.noFix, from: .at(1250), until: .at(1700)),
                        GapSpan(.stopped, from: .at(1700), until: .at(2000)),
                    ])
            ]
            + (1...150).map { gathered(2000 + $0 * 5) } + [gathered(4000)]
        _ = await store.ingest([
            IngestBatch(
                service: service, entity: "a", position: nil, points: points, sequences: [], payload: nil,
                received: .at(100_000))
        ])
        let lines = try await written(job(service)).lines.filter { $0.contains("-") }
        #expect(lines == ["a 2000 no_fix 1250-1700 stopped 1700-2000", "a 4000 lost 2750-4000"])
        // A gap is cut where the export begins.
        #expect(try await written(job(service, 1500)).lines.first == "a 2000 no_fix 1500-1700 stopped 1700-2000")
        // Of a gap that nobody explains only the point before tells that there is one.
        #expect(try await written(job(service, 3000)).lines == ["a 4000 lost 3000-4000"])
        #expect(try await written(job(service, 4000)).lines == ["a 4000"])
    }

    @Test func moreEntitiesThanOnePage() async throws {
        let count = ExportWork.entitiesAtOnce + 3
        let names = (0..<count).map { "e\(1000 + $0)" }
        let service = try await service(Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
        #expect(try await written(job(service)).lines == names.map { "\($0) 0" })
    }

    @Test func itStopsWhereItIsTold() async throws {
        let service = try await service(["a": 865])
        var stretches = 0
        let found = try await written(job(service)) {
            stretches += 1
            return stretches < 16
        }
        #expect(!found.isWhole && !found.lines.isEmpty && found.lines.count < 865)
    }

    @Test func anEntityThatIsDeletedMeanwhileIsPassedOver() async throws {
        let service = try await service(["a": 2, "b": 2])
        var isFirst = true
        let found = try await written(job(service)) { [store] in
            if isFirst { try await store.deleteEntity(named: "a", in: service, at: .at(1)) }
            isFirst = false
            return true
        }
        #expect(found.isWhole && found.lines == ["b 0", "b 1"])
    }

    /// A store that cannot read a stretch.
    private struct RottenStore: StoreDecorator {
        let inner: any EngineStore

        func track(
            of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
        ) async throws(TrackStoreError) -> StoredTrack {
            var track = try await inner.track(of: entity, in: service, from: from, through: through, limit: limit)
            track.points = StoredPoints(track.points.dropLast())
            track.holes = [TrackHole(from: from, through: through, count: 1, reason: "rotten")]
            return track
        }
    }

    @Test func whatCannotBeReadIsToldAndTheRestIsWritten() async throws {
        let service = try await service(["a": 3])
        let found = try await written(job(service), store: RottenStore(inner: store))
        #expect(found.isWhole && found.lines == ["a 0", "a 1"])
        #expect(found.progress.holes.map(\.reason) == ["rotten"])
    }
}
