import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// A process goes on where the ledger of the ring had come to.
@Suite struct LedgerPositionTests {
    private let disk = DiskSimulation(directories: ["/var"])

    /// What stands there when a process has gathered ten points and given up some.
    private func content(acknowledged: UInt64, in directory: String = "/ring") throws -> RingContent {
        disk.killProcess()
        let cache = try DiskRing(
            directory: directory,
            options: DiskRingOptions(limit: nil, segmentBytes: DiskRingOptions.smallestSegment),
            fileSystem: disk, now: 0)
        for number in 0..<10 { cache.append(entity: "van", time: Int64(number), payload: [1, 2, 3], now: 0) }
        _ = cache.read(after: 0, maximumCount: 100, maximumBytes: 10_000, now: 0)
        cache.acknowledge(through: acknowledged, of: cache.streamID, now: 0)
        cache.close(now: 0)
        return RingFileObserver(disk, directory: directory) { _, number in
            (try? ObservedRing.fix(Int(number))).map { TrackPoint($0) }
        }.content()
    }

    @Test func anOpeningGoesOnWhereTheLedgerHadCome() throws {
        let (early, late) = (try content(acknowledged: 3), try content(acknowledged: 7))
        #expect(early.acknowledged == 3 && late.acknowledged == 7)
        try LedgerPosition(early)?.check(against: late)
        let mark = try #require(LedgerPosition(late))
        try mark.check(against: late)
        #expect(throws: Violation.self) { try mark.check(against: early) }
    }

    @Test func anotherStreamBeginsAnew() throws {
        let (one, other) = (try content(acknowledged: 7), try content(acknowledged: 3, in: "/var/other"))
        let mark = try #require(LedgerPosition(one))
        try mark.check(against: other)
        disk.killProcess()
        #expect(LedgerPosition(RingFileObserver(disk, directory: "/nothing") { _, _ in nil }.content()) == nil)
    }
}
