import AgentControl
import AlarmLog
import FenceDelivery
import Foundation
import Geodesy
import Geofencing
import JSON
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// What the server sends of its fences is worked out beside the event loop: an update has up to 8 MiB.
@Suite struct ServerFenceWorkTests {
    private typealias SlowWork = FenceShellTests.SlowWork

    private let slow: SlowWork
    private let box: ServedAgent

    init() throws {
        slow = SlowWork()
        box = try ServedAgent(longWork: slow)
        _ = try box.login()
    }

    private var version: UInt64? { box.agent.report().fences?.server.map { UInt64($0.version) } }
    private var status: ServerFencesStatus? { box.agent.report().fences?.server }

    private func change(_ version: UInt64, after base: UInt64, _ fence: Int32) throws {
        let delivery = FenceDelivery(version: version, base: base, fences: [try ServedAgent.fence(fence)])
        for update in try delivery.updates() { try box.send(.fenceUpdate(update)) }
    }

    private func work() {
        slow.work()
        box.loop.run()
    }

    /// Nobody looks into an update on the loop: that it is nonsense is found beside it.
    @Test func theLoopDoesNotUnpackAnUpdate() throws {
        var update = FenceUpdate()
        (update.version, update.base, update.part, update.parts) = (9, 0, 0, 1)
        update.content = Data([1, 2, 3])
        try box.send(.fenceUpdate(update))
        #expect(slow.count == 1 && (status?.updatesRefused ?? 0) == 0)
        work()
        #expect(status?.updatesRefused == 1)
    }

    /// Points come and alarms are told while an update is worked out, by the fences that there are.
    @Test func pointsAreJudgedMeanwhile() throws {
        try box.deliver(5)
        work()
        #expect(version == 5)
        try box.deliver(6, fences: [])
        try box.drive()
        #expect(version == 5 && box.told.compactMap { $0.body["action"]?.stringValue } == ["enter", "exit"])
        work()
        #expect(version == 6 && status?.kept == 0)
        try box.drive(from: 100)
        #expect(box.told.count == 2)
    }

    /// A difference follows the version that is worked out before it.
    @Test func updatesAreTakenInTheirOrder() throws {
        try box.deliver(5)
        try change(6, after: 5, 4)
        try change(7, after: 6, 5)
        #expect(slow.count == 1 && version != 5)
        for expected in [5, 6, 7] as [UInt64] {
            work()
            #expect(version == expected)
        }
        #expect(slow.count == 0 && status?.kept == 3 && status?.updatesRefused == 0)
        // What replaces everything makes what waits before it needless.
        try change(8, after: 7, 6)
        try change(9, after: 8, 7)
        try box.deliver(12)
        work()
        work()
        #expect(slow.count == 0 && version == 12 && status?.kept == 1 && status?.updatesRefused == 0)
    }

    /// The next login tells the fences that are in use: what came before it must not come into use after it.
    @Test func aLostLinkForgetsWhatIsNotInUse() throws {
        try box.deliver(5)
        work()
        try change(6, after: 5, 4)
        box.cut()
        work()
        #expect(version == 5 && slow.count == 0)
        let hello = try #require(try box.login())
        #expect(hello.fenceVersion == 5)
        try change(7, after: 5, 4)
        work()
        #expect(version == 7 && status?.updatesRefused == 0)
    }

    @Test func anUpdateWaitsForTheThreadOfLongWork() throws {
        slow.accepts = false
        try box.deliver(5)
        try box.wait(seconds: 2)
        #expect(slow.count == 0 && version != 5)
        slow.accepts = true
        try box.wait(seconds: 1)
        #expect(slow.count == 1)
        work()
        #expect(version == 5)
    }

    /// A server that sends faster than the computer works is told so: the next login asks for everything.
    @Test func soManyUpdatesWait() throws {
        try box.deliver(5)
        for number in 6...68 as ClosedRange<UInt64> { try change(number, after: number - 1, 4) }
        #expect((status?.updatesRefused ?? 0) == 0)
        try change(69, after: 68, 4)
        #expect(status?.updatesRefused == 1 && status?.lastError?.contains("64 updates") == true)
        while slow.count > 0 { work() }
        #expect(version == 68)
    }

    /// The date goes back while an update is worked out for the fences as they were: it is worked out once more.
    @Test func aDateThatGoesBackBeginsTheWorkAnew() throws {
        try box.deliver(5)
        work()
        try box.drive(from: 10_000)
        try change(6, after: 5, 4)
        try box.drive()
        work()
        #expect(version == 5 && slow.count == 1)
        work()
        #expect(version == 6 && status?.kept == 2)
    }

    /// The thread of the program itself.
    @Test func longWorkRunsOnAThreadOfItsOwn() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let worker = LongWorkThread()
        let isOnLoop = try await loop.flatSubmit {
            worker.perform(on: loop) { loop.inEventLoop } ?? loop.makeSucceededFuture(true)
        }.get()
        #expect(!isOnLoop)
        try await group.shutdownGracefully()
    }
}

/// What the agent tells of the server's fences.
@Suite struct ServerFenceStatusTests {
    private func status(_ box: ServedAgent) throws -> ServerFencesStatus {
        try #require(box.agent.report().fences?.server)
    }

    @Test func theSetIsTold() throws {
        let box = try ServedAgent()
        #expect(box.agent.report().fences?.server == nil)
        _ = try box.login()
        #expect(box.agent.report().fences?.server == nil)
        var definition = try ServedAgent.fence().fence.definition
        definition.validity = FenceValidity(
            windows: [try #require(WeeklyWindow(days: 127, from: 0, to: 86_400))], zone: .named("Mars/Olympus"))
        let odd = DeliveredFence(
            try Fence(id: 8, definition, at: Timestamp(milliseconds: 0)), since: Timestamp(milliseconds: 0), of: "van")
        try box.deliver(1_780_000_000_005, fences: [try ServedAgent.fence(), odd], reach: 5000)
        let told = try status(box)
        #expect(told.version == 1_780_000_000_005 && told.changedTime == told.version && told.kept == 2)
        #expect(told.completeWithin == 5000 && told.sent == true && told.updatesRefused == 0)
        #expect(told.notJudged == 1 && told.notJudgedReasons?.first?.contains("Mars/Olympus") == true)
        #expect(told.lastError == nil && told.fileError == nil)
        try box.deliver(1_780_000_000_006)
        let next = try status(box)
        #expect(next.completeWithin == nil && next.notJudged == 0 && next.notJudgedReasons == nil)
    }

    @Test func anUpdateThatIsNotInUseIsTold() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        // Numbers before the changes had times are no times.
        #expect(try status(box).version == 5 && status(box).changedTime == nil)
        var update = FenceUpdate()
        (update.version, update.base, update.part, update.parts) = (9, 5, 0, 1)
        update.content = Data([1, 2, 3])
        try box.send(.fenceUpdate(update))
        #expect(try status(box).lastError?.isEmpty == false && status(box).updatesRefused == 1)
        // One that follows another version.
        try box.deliver(12)
        #expect(try status(box).lastError == nil)
        update.content = try FenceDelivery(version: 9, fences: []).updates()[0].content
        update.base = 4
        try box.send(.fenceUpdate(update))
        #expect(try status(box).lastError?.contains("version 4") == true)
        try box.deliver(20)
        #expect(try status(box).lastError == nil && status(box).updatesRefused == 2)
    }

    @Test func aFileThatCannotBeReadIsToldUntilTheFencesCome() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        box.disk.killProcess()
        #expect(ServerFenceFile(directory: "/state", files: box.disk).write([7, 7]) == nil)
        let next = try ServedAgent(box.disk)
        #expect(try status(next).fileError?.isEmpty == false && status(next).version == 0)
        _ = try next.login()
        #expect(try status(next).fileError != nil)
        try next.deliver(5)
        #expect(try status(next).fileError == nil && status(next).kept == 1)
    }

    @Test func whatWaitsForTheServerIsTold() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        try box.drive()
        #expect(try status(box).confirmationsWaiting == 2 && status(box).alarms == 2)
        box.isReachable = false
        box.cut()
        try box.drive(from: 1000)
        _ = box.agent.clearCache(CacheSelection())
        #expect(try status(box).reportsWaiting == 2 && status(box).reportsWaitingSince == nil)
        box.isReachable = true
        _ = try box.login()
        let report = try #require(try box.reports().first)
        #expect(try status(box).reportsWaitingSince != nil)
        try box.answer(report)
        #expect(try status(box).reportsWaiting == 0 && status(box).reportsWaitingSince == nil)
        // An old server.
        box.cut()
        box.fenceFormat = 0
        _ = try box.login()
        #expect(try status(box).sent == false && status(box).kept == 1)
    }
}
