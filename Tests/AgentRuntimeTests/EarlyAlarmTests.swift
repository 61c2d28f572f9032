import AgentControl
import AlarmLog
import FenceDelivery
import Foundation
import Geodesy
import Geofencing
import JSON
import Testing
import TrackCache
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// Server fences on the vehicle, from the server's first message to the confirmation of an alarm.
@Suite struct EarlyAlarmTests {
    /// A circle of 100 m around 52 N 4 E.
    private static func fence(_ id: Int32 = 3) throws -> DeliveredFence {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 52, longitude: 4), radius: 100)))
        definition.name = "depot"
        definition.watch = .everyone
        return DeliveredFence(
            try Fence(id: id, definition, at: Timestamp(milliseconds: 0)), since: Timestamp(milliseconds: 0), of: "van")
    }

    private static func deliver(_ version: UInt64, to box: ServedAgent) throws {
        for update in try FenceDelivery(version: version, fences: [try fence()]).updates() {
            try box.send(.fenceUpdate(update))
        }
    }

    private static func uploads(_ frames: [ClientFrame.OneOf_Message]) -> [Upload] {
        frames.compactMap { if case .upload(let upload) = $0 { upload } else { nil } }
    }

    private static func push(_ alarm: AlarmReport) -> Push {
        var push = Push()
        (push.id, push.type, push.json) = (UInt64(bitPattern: alarm.id ?? 0), 3, alarm.body.description)
        push.time = 1_780_000_100_000
        return push
    }

    private static func acknowledged(_ frames: [ClientFrame.OneOf_Message]) -> [UInt64] {
        frames.flatMap { frame -> [UInt64] in
            guard case .pushAck(let ack) = frame else { return [] }
            return ack.ids
        }
    }

    private func alarms(of box: ServedAgent) throws -> [Alarm] {
        try box.journal.alarms(AlarmQuery(), now: 0).alarms
    }

    @Test func anEarlyAlarmIsToldAtOnceAndConfirmedByTheServersPush() throws {
        let box = try ServedAgent()
        let hello = try #require(try box.login())
        #expect(hello.fenceFormat == 1 && hello.fenceVersion == 0)
        try Self.deliver(5, to: box)
        try box.drive()
        #expect(box.told.map { $0.body["action"] } == ["enter", "exit"])
        #expect(box.told.allSatisfy { $0.type == 3 && $0.early == true && $0.durable == nil && $0.confirmed == false })
        let uploads = Self.uploads(try box.frames())
        #expect(!uploads.isEmpty && uploads.allSatisfy { $0.fenceUses.map(\.version) == [5] })
        // The server tells the first.
        let push = Self.push(box.told[0])
        for _ in 0..<2 {
            try box.send(.push(push))
            #expect(Self.acknowledged(try box.frames()) == [push.id])
        }
        #expect(box.told.count == 2)
        #expect(try alarms(of: box).map(\.isConfirmed) == [true, false])
        // A push that this agent has not found is told as ever.
        var other = push
        other.id = 77
        try box.send(.push(other))
        #expect(box.told.count == 3 && box.told.last?.early == nil)
        // A version that is remembered is told by the next process.
        box.disk.killProcess()
        let next = try ServedAgent(box.disk)
        #expect(try next.login()?.fenceVersion == 5)
    }

    @Test func offlineAlarmsAreToldOnceAcrossARestart() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try Self.deliver(5, to: box)
        box.isReachable = false
        box.cut()
        try box.drive()
        #expect(box.told.count == 2)
        box.disk.killProcess()
        let next = try ServedAgent(box.disk)
        #expect(next.told.isEmpty)
        next.storedThrough = next.ring.firstSequence - 1
        #expect(try next.login()?.fenceVersion == 5)
        try next.wait(seconds: 5)
        let uploads = Self.uploads(try next.frames())
        #expect(uploads.reduce(0) { $0 + $1.count } >= 12)
        #expect(uploads.allSatisfy { $0.fenceUses.map(\.version) == [5] })
        for alarm in box.told { try next.send(.push(Self.push(alarm))) }
        #expect(next.told.isEmpty)
        #expect(try alarms(of: next).map(\.isConfirmed) == [true, true])
    }

    @Test func anAlarmThatNobodyConfirmsIsCounted() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try Self.deliver(5, to: box)
        try box.drive()
        try box.wait(seconds: 700)
        #expect(box.agent.earlyAlarms.overdueCount == 2)
        #expect(try alarms(of: box).map(\.isConfirmed) == [false, false])
        // It may still come.
        try box.send(.push(Self.push(box.told[0])))
        #expect(try alarms(of: box).map(\.isConfirmed) == [true, false] && box.told.count == 2)
    }

    @Test func anAlarmThatTheDiskRefusedIsNotToldAgainByThePush() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try Self.deliver(5, to: box)
        for step in 0...25 as ClosedRange<Int64> {
            // The ring goes on in memory, the journal does not take the alarm.
            if step == 15 { box.disk.faults = [DiskFault([.write, .synchronizeData], number: 28)] }
            try box.fix(step, north: 300 - Double(step) * 10)
            if box.told.count == 1 { break }
        }
        let enter = try #require(box.told.first)
        #expect(enter.durable == false && enter.early == true)
        box.disk.faults = []
        try box.send(.push(Self.push(enter)))
        #expect(box.told.count == 1)
        try box.wait(seconds: 70)
        #expect(try alarms(of: box).count == 1 && box.told.count == 1)
    }

    @Test func theServerIsAskedForFencesNearTheEdgeOfTheReach() throws {
        let box = try ServedAgent()
        _ = try box.login()
        let center = try #require(Coordinate(latitude: 52, longitude: 4))
        for update in try FenceDelivery(
            version: 5, fences: [], reach: .init(center: center, metres: 200)
        ).updates() {
            try box.send(.fenceUpdate(update))
        }
        try box.drive()
        let requests = try box.frames().filter { if case .fenceRequest = $0 { true } else { false } }
        #expect(requests.count == 1)
    }
}
