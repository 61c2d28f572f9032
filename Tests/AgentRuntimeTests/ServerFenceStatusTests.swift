import AgentControl
import AlarmLog
import FenceDelivery
import Foundation
import Geodesy
import Geofencing
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

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
