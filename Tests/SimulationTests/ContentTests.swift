import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// The checker's own reader of the ring's files beside the ring that wrote them.
@Suite struct ContentTests {
    private let disk = DiskSimulation(directories: ["/var"])

    private func fix(_ number: Int64) throws -> Fix {
        let place = try #require(Coordinate(latitudeE7: Int32(number), longitudeE7: 7))
        return Fix(time: Timestamp(milliseconds: number), coordinate: place, mode: .threeDimensional)
    }

    private func witness() -> RingFileObserver {
        RingFileObserver(disk, directory: "/ring") { _, time in (try? fix(time)).map { TrackPoint($0) } }
    }

    private func open() throws -> DiskRing {
        let options = DiskRingOptions(limit: nil, segmentBytes: DiskRingOptions.smallestSegment)
        return try DiskRing(directory: "/ring", options: options, fileSystem: disk, now: 0)
    }

    private func times(_ points: [PointOnDisk]) -> [Int64] { points.map(\.fix.time.milliseconds) }

    private func append(_ times: ClosedRange<Int64>, of entity: String, to cache: DiskRing) {
        for time in times { cache.append(entity: entity, time: time, payload: [1, 2, 3], now: 0) }
    }

    @Test func theSumIsThatOfZlib() {
        #expect(CRC32.of("123456789".utf8) == 0xCBF4_3926)
        var parts = CRC32()
        parts.take("1234".utf8)
        parts.take("56789".utf8)
        #expect(parts.value == 0xCBF4_3926)
    }

    @Test func whatTheRingWroteIsFound() throws {
        var cache = try open()
        append(1...5, of: "van", to: cache)
        append(6...8, of: "bus", to: cache)
        _ = try cache.clear(entities: ["van"], from: 2, through: 3, now: 0)
        cache.acknowledge(through: 1, of: cache.streamID, now: 0)
        _ = cache.read(after: 0, maximumCount: 1, maximumBytes: 1000, now: 0)
        cache.close(now: 0)
        cache = try open()
        append(9...9, of: "tram", to: cache)
        let content = witness().content()
        #expect(times(content.points) == [1, 4, 5, 6, 7, 8, 9])
        #expect(content.points.map(\.entity) == ["van", "van", "van", "bus", "bus", "bus", "tram"])
        #expect(UInt64(content.waitingCount) == cache.count)
        #expect(content.others.isEmpty && content.headless.isEmpty)
    }

    @Test func damageCostsWhatItCovers() throws {
        let cache = try open()
        append(1...5, of: "van", to: cache)
        let path = try #require(disk.paths.first { $0.hasSuffix(".segment") })
        let witness = witness()
        // The record that introduces the name has 31 bytes, each point has 31.
        let third = 8192 + 31 + 2 * 31
        disk.flip(bit: 1, at: third + 30, of: path)
        #expect(times(witness.content().points) == [1, 2, 4, 5])
        disk.flip(bit: 1, at: 100, of: path)
        #expect(times(witness.content().points) == [1, 2, 4, 5])
        disk.flip(bit: 1, at: 4200, of: path)
        let headless = witness.content()
        #expect(headless.points.isEmpty && headless.headless.count == 1)
        #expect(times(headless.others) == [1, 2, 4, 5])
        disk.flip(bit: 1, at: 100, of: path)
        disk.flip(bit: 1, at: 8192 + 29, of: path)
        let nameless = witness.content()
        #expect(nameless.points.isEmpty)
        #expect(times(nameless.others) == [1, 2, 4, 5])
    }

    @Test func theDiskTellsWhatItRefusedAndWhatFilesLost() throws {
        let cache = try open()
        append(1...5, of: "van", to: cache)
        let witness = witness()
        let path = try #require(disk.paths.first { $0.hasSuffix(".segment") })
        disk.faults = [DiskFault([.open], times: 1, number: 5)]
        #expect(throws: CacheFileError.self) { try disk.open(path, .readOnly) }
        try disk.unlink(path)
        let operation = witness.takeOperation()
        #expect(operation.refused == [1])
        #expect(operation.losses.count == 1)
        #expect(times(operation.losses[0].points) == [1, 2, 3, 4, 5])
        #expect(witness.takeOperation().losses.isEmpty)
    }
}
