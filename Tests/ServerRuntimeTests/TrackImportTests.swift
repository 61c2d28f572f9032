import Foundation
import Logging
import ProgramTestKit
import Synchronization
import Testing
import TrackExport
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

@Suite("Importing exports")
struct TrackImportTests {
    private let now = Timestamp(seconds: 1_772_677_900)

    private func zip(_ lines: [String], _ directory: TemporaryDirectory, entry: String = "1_1.json") throws -> String {
        let path = "\(directory.path)/\(lines.count)-\(entry).zip"
        var file = try ExportFile(path: path, entry: entry, modified: now)
        try file.append(Array(lines.joined(separator: "\n").utf8))
        _ = try file.finish()
        return path
    }

    private func store(columns: [ColumnRecord] = []) async throws -> (store: any TrackStore, service: ServiceID) {
        let store: any TrackStore = TestStore()
        let service = try await store.createService(named: "fleet", at: now).id
        for column in columns { try await store.addColumn(column, of: .track, in: service) }
        return (store, service)
    }

    private func points(_ store: any TrackStore, _ service: ServiceID, _ entity: String) async throws
        -> [TrackPoint]
    {
        let track = try await store.track(
            of: entity, in: service, from: Timestamp(seconds: 0), through: now, limit: 100_000)
        return track.points.map(\.point)
    }

    private let published = """
        {"entity_id":17,"entity_name":"van_07","loc":{"longitude":116.4,"latitude":39.9,"coord_type":"COORD_TYPE_BD09LL"},\
        "loc_time":1772677800,"create_time":1772677812,"custom_data":{"speed":"32.4","direction":"87","radius":"6",\
        "height":"44.5","fuel":"51"}}
        """

    @Test func aLineOfThePublishedServiceIsAPoint() async throws {
        let directory = try TemporaryDirectory()
        let fuel = ColumnRecord(key: "fuel", type: .integer, created: now)
        let (store, service) = try await store(columns: [fuel])
        let work = try await TrackImport(store: store, service: service.rawValue)
        let path = try zip(
            [published, "", published.replacingOccurrences(of: "1772677800", with: "1772677805")], directory)
        let trial = try await work.importFiles([path], isTrial: true, now: now)
        #expect(
            try await store.entities(in: service, matching: EntityFilter(), page: Page(offset: 0, limit: 9)).total == 0)
        let outcome = try await work.importFiles([path], isTrial: false, now: now)
        #expect(outcome == trial)
        #expect(outcome == TrackImport.Outcome(points: 2, entities: 1))
        let points = try await points(store, service, "van_07")
        #expect(points.map(\.fix.time.seconds) == [1_772_677_800, 1_772_677_805])
        let first = try #require(points.first)
        #expect(first.coordinateType == .bd09ll && first.fix.coordinate.longitudeE7 == 1_164_000_000)
        #expect(first.fix.speed == 900 && first.fix.course == 870)
        #expect(first.fix.accuracy == 60 && first.fix.altitude == 445)
        #expect(first.attributes == ["fuel": .integer(51)])
        // Once more: the same track.
        _ = try await work.importFiles([path], isTrial: false, now: now)
        #expect(try await self.points(store, service, "van_07") == points)
    }

    /// Also of two files: the store has one point of an entity and a time.
    @Test(arguments: [true, false]) func aPointThatReplacesAnotherIsCountedOnce(isTrial: Bool) async throws {
        let directory = try TemporaryDirectory()
        let (store, service) = try await store()
        let other = published.replacingOccurrences(of: "van_07", with: "van_08")
        let paths = [try zip([published, published, other], directory), try zip([published], directory)]
        let outcome = try await TrackImport(store: store, service: service.rawValue)
            .importFiles(paths, isTrial: isTrial, now: now)
        #expect(outcome.points == 2 && outcome.replaced == 2 && outcome.isExact && outcome.entities == 2)
        guard !isTrial else { return }
        #expect(try await points(store, service, "van_07").count == 1)
    }

    @Test func whatIsNoPointIsNamedAndTheRestComes() async throws {
        let directory = try TemporaryDirectory()
        let (store, service) = try await store()
        let bad = [
            "{", "[]", "{\"entity_name\":\"a\"}", published.replacingOccurrences(of: "39.9", with: "99.9"),
            published.replacingOccurrences(of: "COORD_TYPE_BD09LL", with: "MARS"),
            published.replacingOccurrences(of: "1772677800", with: "99999999999"),
            published.replacingOccurrences(of: "\"32.4\"", with: "\"fast\""),
            String(repeating: "x", count: 70_000),
        ]
        let path = try zip(bad + [published], directory)
        let outcome = try await TrackImport(store: store, service: service.rawValue)
            .importFiles([path], isTrial: false, now: now)
        #expect(outcome.points == 1 && outcome.refused == bad.count)
        #expect(outcome.refusals.count == bad.count)
        #expect(outcome.refusals[3] == "\(path): 1_1.json, line 4: latitude must be -90...90 and longitude -180...180")
        #expect(outcome.withoutColumn == ["fuel"])
    }

    @Test func filesThatAreNoExportsAreRefused() async throws {
        let directory = try TemporaryDirectory()
        let (store, service) = try await store()
        await #expect(throws: ServerError.self) {
            try await TrackImport(store: store, service: service.rawValue + 1)
        }
        let work = try await TrackImport(store: store, service: service.rawValue)
        let text = try zip([published], directory, entry: "1_1.txt")
        for path in [text, directory.path + "/missing.zip", directory.path] {
            await #expect(throws: ServerError.self, "\(path)") {
                try await work.importFiles([path], isTrial: false, now: now)
            }
        }
    }

    /// A zip file whose entries say in their zip64 fields how many bytes they have; `{}` is in each of them.
    private func claiming(_ sizes: [UInt64]) -> [UInt8] {
        func little(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }
        var (content, directory): ([UInt8], [UInt8]) = ([], [])
        for (number, size) in sizes.enumerated() {
            let name = Array("\(number).json".utf8)
            let start = UInt64(content.count)
            // CRC-32 of `{}`.
            let common = little(0, 2) + little(0, 2) + little(0, 4) + little(0xA3_05_05_BF, 4)
            content += little(0x0403_4B50, 4) + little(45, 2) + common + little(2, 4) + little(2, 4)
            content += little(UInt64(name.count), 2) + little(0, 2) + name + Array("{}".utf8)
            let extra = little(1, 2) + little(8, 2) + little(size, 8)
            directory += little(0x0201_4B50, 4) + little(45, 2) + little(45, 2) + common + little(2, 4)
            directory += little(0xFFFF_FFFF, 4) + little(UInt64(name.count), 2) + little(UInt64(extra.count), 2)
            directory += little(0, 10) + little(start, 4) + name + extra
        }
        let end =
            little(0x0605_4B50, 4) + little(0, 4) + little(UInt64(sizes.count), 2) + little(UInt64(sizes.count), 2)
            + little(UInt64(directory.count), 4) + little(UInt64(content.count), 4) + little(0, 2)
        return content + directory + end
    }

    @Test func sizesThatCannotBeAreNoTrouble() async throws {
        let directory = try TemporaryDirectory()
        let (store, service) = try await store()
        for (number, sizes) in [[UInt64.max, .max], [.max, 2], [2, .max - 1], [.max]].enumerated() {
            let path = "\(directory.path)/claims-\(number).zip"
            try Data(claiming(sizes)).write(to: URL(fileURLWithPath: path))
            let told = Mutex<[TrackImport.Progress]>([])
            let work = try await TrackImport(store: store, service: service.rawValue)
            await #expect(throws: ServerError.self, "\(sizes)") {
                try await work.importFiles([path, path], isTrial: false, now: now) { progress in
                    told.withLock { $0.append(progress) }
                }
            }
            #expect(told.withLock { $0 }.allSatisfy { $0.bytes <= $0.of })
        }
    }

    @Test(arguments: ["-19999", "3.4e38", "high", "1e999"])
    func aHeightThatCannotBeIsUnknownAndThePointStays(height: String) async throws {
        let directory = try TemporaryDirectory()
        let (store, service) = try await store()
        let path = try zip([published.replacingOccurrences(of: "44.5", with: height)], directory)
        let outcome = try await TrackImport(store: store, service: service.rawValue)
            .importFiles([path], isTrial: false, now: now)
        #expect(outcome.points == 1 && outcome.refused == 0 && outcome.impossibleHeights == 1)
        #expect(try await points(store, service, "van_07").map(\.fix.altitude) == [nil])
    }

    /// The journal tells what was stored, and not what was read.
    @Test func anImportThatFailsIsToldByWhatItStored() async throws {
        let directory = try TemporaryDirectory()
        let journal = directory.path + "/log"
        try Data().write(to: URL(fileURLWithPath: journal))
        let acts = AuditLog(path: directory.path + "/none", log: journal)
        let (store, service) = try await store()
        let work = try await TrackImport(store: store, service: service.rawValue, acts: acts)
        let path = try zip([published], directory)
        // The first file is stored, and the second is none.
        await #expect(throws: ServerError.self) {
            try await work.importFiles([path, directory.path + "/missing.zip"], isTrial: false, now: now)
        }
        let told = try String(contentsOfFile: journal, encoding: .utf8)
        #expect(told.contains("1 points of 1 entities"), "\(told)")
        // Nothing of it can be stored.
        try await store.close()
        await #expect(throws: ServerError.self) { try await work.importFiles([path], isTrial: false, now: now) }
        #expect(try String(contentsOfFile: journal, encoding: .utf8) == told)
    }

    /// What one server exports another one imports: the same points.
    @Test func anExportComesBackAsItWas() async throws {
        let directory = try TemporaryDirectory()
        let fuel = ColumnRecord(key: "fuel", type: .integer, created: now)
        let (store, service) = try await store(columns: [fuel])
        for (name, count) in ["van": 2500, "bus": 7] {
            let points = try (0..<count).map { index in
                let place = try #require(
                    Coordinate(latitudeE7: 520_000_000 + Int32(index), longitudeE7: 43_000_000 - Int32(index)))
                return TrackPoint(
                    Fix(
                        time: now.adding(milliseconds: Int64(index - 50_000) * 1000), coordinate: place,
                        speed: Int32(index % 3000), course: Int32(index % 360) * 10, altitude: Int32(index % 900),
                        accuracy: Int32(index % 70)), attributes: ["fuel": .integer(Int64(index))])
            }
            let batch = IngestBatch(
                service: service, entity: name, position: nil, points: points, sequences: [], payload: nil,
                received: now)
            _ = await store.ingest([batch])
        }
        let order = ExportOrder(from: now.adding(milliseconds: -86_400_000), through: now, coordinateType: .wgs84)
        let job = try await store.addExport(order, token: String(repeating: "a", count: 32), in: service, at: now)
        let exporting = Exporting(
            store: store, directory: ExportDirectory(directory.path + "/exports"), record: ExportCounters(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { [now] in now })
        #expect(await exporting.step())
        let (other, otherService) = try await self.store(columns: [fuel])
        let outcome = try await TrackImport(store: other, service: otherService.rawValue)
            .importFiles(["\(directory.path)/exports/\(job.token).zip"], isTrial: false, now: now)
        #expect(outcome == TrackImport.Outcome(points: 2507, entities: 2))
        for name in ["van", "bus"] {
            #expect(try await points(other, otherService, name) == points(store, service, name))
        }
    }
}
