import Foundation
import Logging
import ProgramTestKit
import StoreRecords
import Synchronization
import Testing
import TrackExport
import TrackModel
import TrackStore
import TrackTestKit
import WebAPI

@testable import ServerRuntime

/// The worker of export jobs with real files.
@Suite("Exporting")
struct ExportingTests {
    private final class Clock: Sendable {
        private let time = Mutex(Timestamp(seconds: 1_772_677_900))
        var now: Timestamp { time.withLock { $0 } }
        func move(by milliseconds: Int64) { time.withLock { $0 = $0.adding(milliseconds: milliseconds) } }
    }

    private let store = TestStore()
    private let clock = Clock()
    private let counters = ExportCounters()

    private func worker(_ directory: String, store: (any TrackStore)? = nil) -> Exporting {
        Exporting(
            store: store ?? self.store, directory: ExportDirectory(directory), record: counters,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, pointsAtOnce: 20,
            now: { [clock] in clock.now })
    }

    private func order() -> ExportOrder {
        ExportOrder(
            from: clock.now.adding(milliseconds: -86_400_000), through: clock.now, coordinateType: .wgs84)
    }

    /// A service with points of some vehicles, and a job.
    private func job(points: Int = 100, token: String = String(repeating: "a", count: 32)) async throws -> ExportRecord
    {
        let service = try await store.createService(named: "fleet", at: clock.now).id
        let place = try #require(Coordinate(latitudeE7: 520_000_000, longitudeE7: 43_000_000))
        for name in ["van", "bus"] {
            let first = clock.now.adding(milliseconds: -80_000_000)
            let batch = IngestBatch(
                service: service, entity: name, position: nil,
                points: (0..<points).map {
                    TrackPoint(Fix(time: first.adding(milliseconds: Int64($0) * 1000), coordinate: place))
                }, sequences: [], payload: nil, received: clock.now)
            _ = await store.ingest([batch])
        }
        return try await store.addExport(order(), token: token, in: service, at: clock.now)
    }

    private func lines(_ file: String) throws -> [String] {
        let unzip = Process()
        unzip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        unzip.arguments = [
            "python3", "-c",
            "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); sys.stdout.buffer.write(z.read(z.namelist()[0]))",
            file,
        ]
        let pipe = Pipe()
        unzip.standardOutput = pipe
        try unzip.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        unzip.waitUntilExit()
        #expect(unzip.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func state() async throws -> [ExportRecord.State: Int] { try await store.exportCounts() }

    /// A key that makes job after job fills no log, and hides no removal.
    @Test func linesThatClientsCauseHaveABudgetAndRemovalsAreCertain() throws {
        let (lines, service) = (RecordedLines(), try #require(ServiceID(rawValue: 1)))
        let log = RequestLog(lines.logger, now: { Timestamp(seconds: 1_800_000_000) })
        for _ in 0..<40 { log.write(.info, "an export is done", of: service, [:]) }
        #expect(lines.all.count == 30)
        log.write(.notice, "an entity is removed with its track", of: service, ["removed": "gold"], isCertain: true)
        #expect(lines.all.count == 31)
        #expect(lines.all.last?.metadata == ["removed": "gold", "service": "1", "skipped": "10"])
    }

    @Test func theFileHasEveryPointAndTheJobIsDone() async throws {
        let directory = try TemporaryDirectory()
        let (path, job) = (directory.path + "/exports", try await job())
        #expect(await worker(path).step())
        #expect(try await state() == [.done: 1])
        let file = "\(path)/\(job.token).zip"
        let lines = try lines(file)
        #expect(lines.count == 200 && Set(lines).count == 200)
        #expect(lines.allSatisfy { $0.hasPrefix("{\"entity_id\":") && $0.hasSuffix("\"custom_data\":{}}") })
        let done = try #require(try await store.export(token: job.token))
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int64
        #expect(done.result == ExportResult(points: 200, bytes: try #require(size)))
        #expect(counters.counts.done == 1 && counters.counts.points == 200)
    }

    @Test func aDiskThatRefusesLeavesTheJobWaiting() async throws {
        let directory = try TemporaryDirectory()
        _ = try await job()
        try Data().write(to: URL(fileURLWithPath: directory.path + "/file"))
        #expect(await !worker(directory.path + "/file/exports").step())
        #expect(try await state() == [.waiting: 1])
        #expect(counters.counts.failed == 1)
        #expect(await worker(directory.path + "/exports").step())
        #expect(try await state() == [.done: 1])
    }

    /// A store that can neither read nor take a job back.
    private final class BrokenStore: StoreDecorator {
        let inner: any EngineStore

        init(_ inner: any EngineStore) { self.inner = inner }

        func track(
            of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
        ) async throws(TrackStoreError) -> StoredTrack { throw TrackStoreError(.corrupt, "the first reason") }

        func settleExport(
            _ number: Int64, by worker: Int64, _ result: ExportResult?, at now: Timestamp
        ) async throws(TrackStoreError) -> Bool { throw TrackStoreError(.failed, "the second reason") }
    }

    @Test func theFirstReasonIsTold() async throws {
        let directory = try TemporaryDirectory()
        _ = try await job()
        let lines = RecordedLines()
        let worker = Exporting(
            store: BrokenStore(store), directory: ExportDirectory(directory.path + "/exports"), record: counters,
            logger: lines.logger, now: { [clock] in clock.now })
        #expect(await !worker.step())
        #expect(lines.all.contains { $0.metadata["reason"]?.contains("the first reason") == true }, "\(lines.all)")
        #expect(lines.all.contains { $0.metadata["reason"]?.contains("the second reason") == true }, "\(lines.all)")
    }

    /// A store whose reading ends the worker at the k-th stretch, as a kill would.
    private final class EndingStore: StoreDecorator {
        let inner: any EngineStore
        private let left: Mutex<Int>
        private let end: @Sendable () -> Void

        init(_ inner: any EngineStore, after calls: Int, end: @escaping @Sendable () -> Void) {
            self.inner = inner
            left = Mutex(calls)
            self.end = end
        }

        func track(
            of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
        ) async throws(TrackStoreError) -> StoredTrack {
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { end() }
            return try await inner.track(of: entity, in: service, from: from, through: through, limit: limit)
        }
    }

    @Test(arguments: 1...10)
    func aWorkerThatEndsLeavesTheJobToTheNextOne(_ calls: Int) async throws {
        let directory = try TemporaryDirectory()
        let (path, job) = (directory.path + "/exports", try await job(points: 250))
        let stop = Mutex<Task<Bool, Never>?>(nil)
        let (ready, go) = AsyncStream.makeStream(of: Void.self)
        let store = EndingStore(self.store, after: calls) { stop.withLock { $0 }?.cancel() }
        let first = worker(path, store: store)
        let task = Task {
            for await _ in ready { break }
            return await first.step()
        }
        stop.withLock { $0 = task }
        go.yield()
        _ = await task.value
        #expect(try await state() == [.waiting: 1], "given back, not lost")
        #expect(await worker(path).step())
        #expect(try lines("\(path)/\(job.token).zip").count == 500)
    }

    @Test func aWorkerThatIsGoneKeepsTheJobForAMinute() async throws {
        let directory = try TemporaryDirectory()
        _ = try await job()
        let end = clock.now.adding(milliseconds: 60_000)
        _ = try await store.claimExport(by: 1, at: clock.now, through: end)
        #expect(await worker(directory.path + "/exports").step())
        #expect(try await state() == [.running: 1])
        clock.move(by: 60_001)
        #expect(await worker(directory.path + "/exports").step())
        #expect(try await state() == [.done: 1])
    }

    /// A server that was killed is the same worker when it comes back: its own claim does not hold it up.
    @Test func aServerThatWasKilledGoesOnAtOnce() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/exports"
        _ = try await job()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try "-7\n".write(toFile: path + "/worker", atomically: true, encoding: .utf8)
        _ = try await store.claimExport(by: -7, at: clock.now, through: clock.now.adding(milliseconds: 60_000))
        #expect(await worker(path).step())
        #expect(try await state() == [.done: 1])
        #expect(try String(contentsOfFile: path + "/worker", encoding: .utf8) == "-7\n")
    }

    /// A number that was not written to its end is another server's number.
    @Test(arguments: ["", "-", "12", "x\n", "99999999999999999999\n"])
    func aBrokenNumberOfTheWorkerIsReplaced(_ text: String) async throws {
        let directory = try TemporaryDirectory()
        try text.write(toFile: directory.path + "/worker", atomically: true, encoding: .utf8)
        _ = try await job()
        #expect(await worker(directory.path).step())
        #expect(try await state() == [.done: 1])
        let kept = try String(contentsOfFile: directory.path + "/worker", encoding: .utf8)
        #expect(kept.last == "\n" && Int64(kept.dropLast()) != nil && kept != text, "\(kept)")
    }

    @Test func aJobThatIsDeletedMeanwhileLeavesNoFile() async throws {
        let directory = try TemporaryDirectory()
        let (path, job) = (directory.path + "/exports", try await job(points: 250))
        let store = EndingStore(self.store, after: 2) { [store = self.store, clock] in
            clock.move(by: 20_000)
            let done = DispatchSemaphore(value: 0)
            Task {
                try await store.deleteExport(job.number, in: job.service)
                done.signal()
            }
            done.wait()
        }
        #expect(await worker(path, store: store).step())
        #expect(try await state().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["worker"])
    }

    @Test func filesAreKeptFor48Hours() async throws {
        let directory = try TemporaryDirectory()
        let (path, job) = (directory.path + "/exports", try await job())
        let worker = worker(path)
        #expect(await worker.step())
        clock.move(by: ExportRules.kept)
        await worker.clear()
        #expect(FileManager.default.fileExists(atPath: "\(path)/\(job.token).zip"))
        clock.move(by: 1)
        await worker.clear()
        #expect(try await state().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["worker"])
    }
}
