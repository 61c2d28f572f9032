import AgentControl
import AlarmLog
import DiskRing
import FenceDelivery
import Foundation
import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// Server fences on the vehicle, from the server's first message to the confirmation of an alarm.
@Suite struct EarlyAlarmTests {
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

    @Test func anEarlyAlarmIsToldAtOnceAndConfirmedByTheServersPush() throws {
        let box = try ServedAgent()
        let hello = try #require(try box.login())
        #expect(hello.fenceFormat == 1 && hello.fenceVersion == 0)
        try box.deliver(5)
        try box.drive()
        #expect(box.told.map { $0.body["action"] } == ["enter", "exit"])
        #expect(box.told.allSatisfy { $0.type == 3 && $0.early == true && $0.durable == nil && $0.confirmed == false })
        let uploads = try box.frames().compactMap(\.upload)
        #expect(!uploads.isEmpty && uploads.allSatisfy { $0.fenceUses.map(\.version) == [5] })
        // The server tells the first.
        let push = Self.push(box.told[0])
        for _ in 0..<2 {
            try box.send(.push(push))
            #expect(Self.acknowledged(try box.frames()) == [push.id])
        }
        #expect(box.told.count == 2)
        #expect(try box.alarms().map(\.isConfirmed) == [true, false])
        // A push that this agent has not found is told as ever.
        var other = push
        other.id = 77
        try box.send(.push(other))
        #expect(box.told.count == 3 && box.told.last?.early == nil)
        // A version that is remembered is told at the next login, also by the next process.
        box.cut()
        #expect(try box.login()?.fenceVersion == 5)
        box.disk.killProcess()
        let next = try ServedAgent(box.disk)
        #expect(try next.login()?.fenceVersion == 5)
    }

    @Test func anOldServerGetsNothingNewAndTheAgentGoesOnJudging() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5, reach: 200)
        box.isReachable = false
        box.cut()
        try box.drive()
        // The points of two alarms never reach a server, so the alarms are to be reported.
        _ = box.agent.clearCache(CacheSelection())
        (box.isReachable, box.fenceFormat) = (true, 0)
        #expect(try box.login()?.fenceVersion == 5)
        try box.drive(from: 1000)
        #expect(box.told.count == 4)
        let frames = try box.frames()
        let uploads = frames.compactMap(\.upload)
        #expect(!uploads.isEmpty && uploads.allSatisfy(\.fenceUses.isEmpty))
        #expect(frames.compactMap(\.alarmUpload).isEmpty && frames.compactMap(\.fenceRequest).isEmpty)
        #expect(box.agent.earlyAlarms.reportsWaiting == 2)
        // The next server is new again, and gets what waits.
        box.cut()
        box.fenceFormat = 1
        _ = try box.login()
        try box.drive(from: 2000)
        let later = try box.frames()
        #expect(later.compactMap(\.alarmUpload).map(\.alarms.count) == [2])
        #expect(later.compactMap(\.fenceRequest).count == 1)
        #expect(later.compactMap(\.upload).allSatisfy { $0.fenceUses.map(\.version) == [5] })
    }

    @Test func aBadUpdateChangesNothingAndTheNextLoginAsksForEverything() throws {
        let good = try FenceDelivery(version: 9, fences: []).updates()[0].content
        for (base, content) in [(5, Data([1, 2, 3])), (4, good)] as [(UInt64, Data)] {
            let box = try ServedAgent()
            _ = try box.login()
            try box.deliver(5)
            var update = FenceUpdate()
            (update.version, update.base, update.part, update.parts) = (9, base, 0, 1)
            update.content = content
            try box.send(.fenceUpdate(update))
            try box.drive()
            #expect(box.told.count == 2 && box.agent.serverFences.refusedUpdates == 1)
            #expect(try box.frames().compactMap(\.upload).allSatisfy { $0.fenceUses.map(\.version) == [5] })
            box.cut()
            #expect(try box.login()?.fenceVersion == 0)
            // All fences have come: the next login has nothing to ask for.
            try box.deliver(9)
            box.cut()
            #expect(try box.login()?.fenceVersion == 9)
        }
    }

    @Test func offlineAlarmsAreToldOnceAcrossARestart() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
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
        let uploads = try next.frames().compactMap(\.upload)
        #expect(uploads.reduce(0) { $0 + $1.count } >= 12)
        #expect(uploads.allSatisfy { $0.fenceUses.map(\.version) == [5] })
        for alarm in box.told { try next.send(.push(Self.push(alarm))) }
        #expect(next.told.isEmpty)
        #expect(try next.alarms().map(\.isConfirmed) == [true, true])
    }

    /// A backup of the server was put back: it has neither the points nor the alarms any more, and the agent has freed the points.
    @Test func aServerThatForgotGetsItsAlarmsAgainOnce() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        let before = box.storedThrough
        try box.drive()
        for alarm in box.told { try box.send(.push(Self.push(alarm))) }
        try box.wait(seconds: 120)
        #expect(try box.alarms().map(\.isConfirmed) == [true, true])
        #expect(box.ring.count == 0)
        _ = try box.frames()
        box.cut()
        box.storedThrough = before
        // The first answer is lost with the machine, and the server has taken later points meanwhile.
        _ = try box.login()
        #expect(try box.reports().map(\.alarms.count) == [2])
        box.disk.crash(seed: 1)
        let next = try ServedAgent(box.disk)
        next.storedThrough = next.ring.nextSequence
        _ = try next.login()
        let reports = try next.reports()
        #expect(reports.map(\.alarms.count) == [2])
        #expect(try reports[0].alarms.map { try Self.key($0.json) } == box.told.map { $0.body["key"] })
        try next.answer(reports[0])
        #expect(next.agent.earlyAlarms.reportsWaiting == 0 && next.told.isEmpty)
        // What the server has is not reported again.
        next.cut()
        _ = try next.login()
        #expect(try next.reports().isEmpty)
    }

    /// Points behind the backup that the ring still has come again. But the server judges them from the places that it knew,
    /// and may find nothing.
    @Test func alarmsOfLaterPointsAreReportedToAServerThatForgot() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        try box.drive()
        let stored = box.storedThrough
        for alarm in box.told { try box.send(.push(Self.push(alarm))) }
        box.isStoring = false
        try box.drive(from: 1000)
        #expect(box.told.count == 4)
        _ = try box.frames()
        box.cut()
        box.storedThrough = stored - 1
        try box.wait(seconds: 400)
        // The exit of the first drive was caused before the last acknowledged point.
        let reports = try #require(try box.reports().first).alarms
        #expect(try reports.map { try Self.key($0.json) } == box.told.suffix(2).map { $0.body["key"] })
    }

    /// A power cut took what the ring had noted of acknowledgements, and a backup of the server was put back.
    @Test func aConfirmedAlarmTellsThatTheServerHasForgotten() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        let before = box.storedThrough
        box.isStoring = false
        try box.drive()
        for alarm in box.told { try box.send(.push(Self.push(alarm))) }
        _ = try box.frames()
        box.cut()
        box.storedThrough = before
        try box.wait(seconds: 400)
        let reports = try #require(try box.reports().first).alarms
        #expect(try reports.map { try Self.key($0.json) } == box.told.map { $0.body["key"] })
    }

    private static func key(_ json: String) throws -> JSONValue? {
        guard case .object(let members) = try JSONReader.value(of: Array(json.utf8)) else { return nil }
        return members["key"]
    }

    @Test func anAlarmThatNobodyConfirmsIsCounted() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        try box.drive()
        try box.wait(seconds: 700)
        #expect(box.agent.earlyAlarms.overdueCount == 2)
        #expect(try box.alarms().map(\.isConfirmed) == [false, false])
        // It may still come.
        try box.send(.push(Self.push(box.told[0])))
        #expect(try box.alarms().map(\.isConfirmed) == [true, false] && box.told.count == 2)
    }

    /// The server sends few pushes at once, so it may not have been able to confirm.
    @Test func noAlarmIsOverdueWhileTheDiskTakesNoPush() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        try box.drive()
        var message = Push()
        (message.id, message.type, message.time, message.json) = (1000, 65, 1_780_000_100_000, "{}")
        box.disk.faults = [DiskFault([.write, .synchronizeData], number: 28)]
        try box.send(.push(message))
        try box.wait(seconds: 700)
        #expect(box.agent.earlyAlarms.overdueCount == 0)
        box.disk.faults = []
        try box.send(.push(message))
        try box.wait(seconds: 500)
        #expect(box.agent.earlyAlarms.overdueCount == 0)
        try box.wait(seconds: 200)
        #expect(box.agent.earlyAlarms.overdueCount == 2)
    }

    /// Messages fill the journal, and it drops the early alarms before the server's pushes come.
    /// Of 60 messages traces of the dropped alarms stay in the journal, of 400 also these are gone.
    @Test(arguments: [60, 400] as [UInt64]) func thePushOfADroppedAlarmConfirmsIt(messages: UInt64) throws {
        let box = try ServedAgent(journalLimit: 16_384)
        _ = try box.login()
        try box.deliver(5)
        try box.drive()
        let early = box.told
        #expect(early.count == 2)
        for id in 1000..<1000 + messages {
            var message = Push()
            (message.id, message.type, message.json) = (id, 65, "\"\(String(repeating: "x", count: 300))\"")
            message.time = 1_780_000_100_000
            try box.send(.push(message))
        }
        #expect(try !box.alarms().contains { $0.content.early != nil })
        let told = box.told.count
        for alarm in early { try box.send(.push(Self.push(alarm))) }
        try box.wait(seconds: 700)
        #expect(box.told.count == told)
        let confirmed: UInt64 = messages == 60 ? 2 : 0
        #expect(box.agent.earlyAlarms.confirmedCount == confirmed && box.agent.earlyAlarms.overdueCount == 0)
        #expect(box.agent.earlyAlarms.waitingCount == 0)
        // What was no early alarm confirms none.
        var message = Push()
        (message.id, message.type, message.json) = (999 + messages, 65, "{}")
        try box.send(.push(message))
        #expect(box.told.count == told && box.agent.earlyAlarms.confirmedCount == confirmed)
    }

    @Test func anAlarmThatTheDiskRefusedIsNotToldAgainByThePush() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
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
        #expect(try box.alarms().count == 1 && box.told.count == 1)
    }

    @Test func theServerIsAskedForFencesNearTheEdgeOfTheReach() throws {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5, fences: [], reach: 200)
        try box.drive()
        #expect(try box.frames().compactMap(\.fenceRequest).count == 1)
    }
}
