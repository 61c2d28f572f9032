import AgentControl
import FenceDelivery
import Foundation
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
