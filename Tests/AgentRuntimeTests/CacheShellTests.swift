import AgentControl
import DiskRing
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackModel
import TrackTestKit

@testable import AgentRuntime

/// A disk that hangs keeps nobody, and what it costs is told.
@Suite struct CacheShellTests {
    private final class Setup {
        let log = EventRecorder()
        let bench: ShellBench
        let disk: SlowDisk<DiskRing>
        private(set) var told: [CacheShell.Effect] = []
        private(set) lazy var shell = CacheShell(
            bench.context, executor: disk, directory: "/cache", snapshot: CacheSnapshot(disk.subject)
        ) { [unowned self] in told.append($0) }

        init() throws {
            bench = ShellBench(log: log)
            let files = DiskSimulation(seed: 1, directories: ["/"])
            disk = SlowDisk(try DiskRing(directory: "/cache", fileSystem: files, now: 0))
            shell.start()
        }

        var losses: [[String: Int64]] { told.compactMap { if case .lost(let lost) = $0 { lost } else { nil } } }
        var appended: [UInt64] {
            told.compactMap { if case .appended(_, _, let sequence) = $0 { sequence } else { nil } }
        }
        var settled: [Bool] { told.compactMap { if case .settled(_, let isDone) = $0 { isDone } else { nil } } }

        func point(_ second: Int64) throws {
            let place = try #require(Coordinate(latitudeE7: 520_000_000, longitudeE7: 43_000_000))
            shell.append(
                TrackPoint(Fix(time: Timestamp(milliseconds: 1_780_000_000_000 + second * 1000), coordinate: place)),
                entity: "van")
        }
    }

    @Test func pointsThatADiskDoesNotTakeAreToldAtTheFirstAndAtTheEnd() throws {
        let setup = try Setup()
        setup.disk.accepts = false
        for second in Int64(1)...3 { try setup.point(second) }
        #expect(setup.losses == [["disk_hangs": 1]])
        setup.disk.accepts = true
        try setup.point(4)
        setup.disk.work()
        #expect(setup.losses == [["disk_hangs": 1], ["disk_hangs": 3]])
        #expect(setup.log.ids == [MessageID.cacheDropped, .cacheDropped].map(\.description))
        // The next hang is another.
        setup.disk.accepts = false
        try setup.point(5)
        #expect(setup.losses.last == ["disk_hangs": 4])
    }

    /// An alarm of a fence follows from this: it must not be written before the point that caused it.
    @Test func aPointIsToldOnlyWhenTheRingHasIt() throws {
        let setup = try Setup()
        for second in Int64(1)...2 { try setup.point(second) }
        #expect(setup.appended == [])
        setup.disk.work()
        #expect(setup.appended == [setup.disk.subject.nextSequence - 2, setup.disk.subject.nextSequence - 1])
        // Nobody hears of a point that the disk's queue had no place for.
        setup.disk.accepts = false
        try setup.point(3)
        setup.disk.accepts = true
        setup.disk.work()
        #expect(setup.appended.count == 2)
    }

    @Test func aStopDoesNotWaitLongerThanItsDeadline() throws {
        let setup = try Setup()
        setup.shell.settle(before: setup.bench.context.now + 10_000)
        let stopped = setup.shell.stopReply(entity: "van", before: 0)
        setup.bench.loop.advanceTime(by: .milliseconds(999))
        #expect(setup.bench.outcome(stopped) == nil && setup.settled == [])
        setup.bench.loop.advanceTime(by: .milliseconds(1))
        #expect(try setup.bench.outcome(stopped)?.get().uploaded == 0)
        setup.bench.loop.advanceTime(by: .seconds(9))
        #expect(setup.settled == [false])
        // The disk's answer comes too late, and is nobody's.
        setup.disk.work()
        #expect(setup.settled == [false])
    }

    @Test func aDiskThatAnswersInTimeIsAwaited() throws {
        let setup = try Setup()
        setup.shell.settle(before: setup.bench.context.now + 10_000)
        setup.disk.work()
        setup.bench.loop.advanceTime(by: .seconds(60))
        #expect(setup.settled == [true])
    }

    @Test func whoWaitsIsAnsweredWhenTheAgentStops() throws {
        let setup = try Setup()
        let stopped = setup.shell.stopReply(entity: "van", before: 0)
        setup.shell.shutDown()
        #expect(setup.bench.outcome(stopped) != nil)
    }

    @Test func aLimitThatTheDisksQueueHadNoPlaceForGoesWithTheNextPoint() throws {
        let setup = try Setup()
        setup.disk.accepts = false
        setup.shell.setLimit(40 << 20)
        setup.shell.setLimit(30 << 20)
        setup.disk.accepts = true
        try setup.point(1)
        setup.disk.work()
        #expect(setup.shell.status(unacknowledged: 0).limit == 30 << 20)
    }
}

@Suite(.timeLimit(.minutes(5))) struct CacheTests {
    @Test func aClearIsDurableOnADiskThatWorks() async throws {
        let agent = try await RunningAgent.start()
        try await agent.fix(0)
        try await agent.wait("a point") { $0.agent.cacheStatus.points == 1 }
        let reply = try await agent.client.clearCache(CacheSelection())
        #expect(reply.removed == 1 && reply.durable == true)
        #expect(try await agent.stop().isEmpty)
    }

    @Test func aFileInTheWayKeepsPointsInMemoryAndAClearIsNotDurable() async throws {
        let agent = try await RunningAgent.start(isCacheObstructed: true)
        for second in Int64(0)...5 { try await agent.fix(second) }
        try await agent.wait("two points in memory") { $0.agent.cacheStatus.points == 2 }
        let status = try await agent.on { $0.agent.report() }
        #expect(status.cache.state == .memory && status.cache.lastError?.contains("ENOTDIR") == true)
        #expect(status.reason.contains("memory"), "\(status.reason)")
        let reply = try await agent.client.clearCache(CacheSelection())
        #expect(reply.removed == 2 && reply.durable == false)
        try await agent.fix(10)
        try agent.clearTheWay()
        try await agent.wait("the disk") { $0.agent.cacheStatus.state == .disk }
        let again = try await agent.client.clearCache(CacheSelection(entities: ["tram"]))
        #expect(again.removed == 0 && again.durable == true)
        #expect(try await agent.stop().map(\.second) == [10])
    }
}
