import AgentControl
import AlarmLog
import DiskRing
import Geofencing
import JSON
import LocalFences
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// An alarm of a local fence is told once, when it is on the disk, and at once when the disk does not take it.
@Suite struct FenceShellTests {
    @Test func aNamedTimeZoneIsReadBeforeItsFenceIsMade() throws {
        let setup = try Setup()
        func definition(_ zone: String) throws -> FenceDefinition {
            try FenceForms.definition(
                [
                    "shape": ["kind": "circle", "latitude": 52, "longitude": 4, "radius": 100],
                    "validity": ["windows": [["days": ["mon"], "from": 0, "to": 3600]], "zone": .string(zone)],
                ], in: .createFence)
        }
        func create(_ zone: String) throws {
            let read = try definition(zone)
            setup.bench.loop.run()
            _ = try setup.shell.change(in: .createFence) { (machine) throws(FenceRefusal) in
                let (numbers, actions) = try machine.create([read], now: SystemTime(milliseconds: 0))
                return (numbers, actions)
            }
        }
        #expect(setup.shell.learnZones(of: [try definition("UTC"), try definition("Asia/Shanghai")]) != nil)
        try create("Asia/Shanghai")
        // What is known is not asked for again.
        #expect(setup.shell.learnZones(of: [try definition("Asia/Shanghai")]) == nil)
        #expect(setup.shell.learnZones(of: [try definition("Asia/Nowhere")]) != nil)
        #expect(throws: AgentControlError.self) { try create("Asia/Nowhere") }
    }

    @Test func anAlarmIsToldWhenItIsOnTheDisk() throws {
        let setup = try Setup()
        _ = try setup.fence()
        setup.shell.started(entity: "van", service: 1)
        try setup.driveIn()
        #expect(setup.told.isEmpty && setup.hooks.isEmpty)
        // A note of the first fence state goes before.
        for _ in 0..<3 { setup.journal.work() }
        #expect(setup.actions == ["enter"] && setup.hooks == [1] && setup.kept == 1)
        let report = try #require(setup.told.first)
        #expect(report.number == 1 && report.durable == nil && report.type == 4 && report.entity == "van")
        #expect(report.id != nil && report.body["fence_name"] == "depot")
        #expect(report.time.map { ($0 - 1_780_000_020_000).magnitude < 200 } == true)
        #expect(setup.log.ids.contains(MessageID.alarmReceived.description))
        let status = setup.shell.status(of: "van")
        #expect((status.kept, status.watching, status.inside, status.alarms, status.waiting) == (1, 1, 1, 1, 0))
        #expect(status.lastAlarmTime == report.time)
    }

    /// The van has entered a fence durably and left it while the disk refuses.
    private func refusedExit() throws -> Setup {
        let setup = try Setup()
        _ = try setup.fence()
        setup.shell.started(entity: "van", service: 1)
        try setup.driveIn()
        for _ in 0..<3 { setup.journal.work() }
        setup.journal.accepts = false
        try setup.driveOut(from: 100)
        return setup
    }

    @Test func anAlarmThatTheDiskRefusesIsToldAtOnceAndWrittenLater() throws {
        let setup = try refusedExit()
        #expect(
            setup.actions == ["enter", "exit"] && setup.told.last?.durable == false && setup.told.last?.number == 0)
        #expect(setup.hooksOnce.count == 1 && setup.hooks == [1] && setup.kept == 1)
        #expect(setup.shell.status(of: "van").lastError?.contains("the disk hangs") == true)
        #expect(setup.log.ids.contains(MessageID.alarmJournalFailed.description))
        setup.journal.accepts = true
        setup.bench.loop.advanceTime(by: .seconds(60))
        for _ in 0..<3 { setup.journal.work() }
        #expect(setup.kept == 2 && setup.told.count == 2 && setup.hooksOnce.count == 1)
        #expect(setup.shell.status(of: "van").lastError == nil && setup.shell.status(of: "van").waiting == 0)
    }

    /// The disk works again while the alarm waits for its next attempt: the end of the process is one.
    @Test func anAlarmThatTheDiskRefusedIsWrittenWhenTheAgentStops() throws {
        let setup = try refusedExit()
        #expect(setup.kept == 1 && setup.told.last?.durable == false)
        setup.journal.accepts = true
        setup.shell.shutDown()
        for _ in 0..<3 { setup.journal.work() }
        #expect(setup.kept == 2 && setup.told.count == 2 && setup.hooksOnce.count == 1)
        setup.writer.work()
        setup.disk.killProcess()
        let after = try Setup(setup.disk)
        after.shell.started(entity: "van", service: 1)
        after.ring.work()
        for second in 131...134 as ClosedRange<Int64> {
            after.shell.passed(try Setup.fix(second, north: 300), floor: nil)
        }
        for _ in 0..<3 { after.journal.work() }
        #expect(after.told.isEmpty)
    }

    @Test func aDiskThatHangsIsNotWaitedFor() throws {
        let setup = try Setup()
        _ = try setup.fence()
        setup.shell.started(entity: "van", service: 1)
        try setup.driveIn()
        #expect(setup.told.isEmpty)
        // The note hangs first: the alarm behind it is not on its way yet. Both have the disk's timeout.
        setup.journal.work()
        setup.bench.loop.advanceTime(by: .seconds(3))
        #expect(setup.actions == ["enter"] && setup.told.first?.durable == false)
        for _ in 0..<3 { setup.journal.work() }
        #expect(setup.kept == 1 && setup.told.count == 1 && setup.settled == [1])
    }

    @Test func aRestartKeepsFencesAndPlaces() throws {
        let before = try Setup()
        let number = try before.fence()
        before.writer.work()
        before.shell.started(entity: "van", service: 1)
        try before.driveIn()
        for _ in 0..<4 { before.journal.work() }
        #expect(before.actions == ["enter"])
        before.disk.killProcess()
        let after = try Setup(before.disk)
        #expect(after.shell.current.table.fences.numbers.map { Int64($0) } == [number])
        after.shell.started(entity: "van", service: 1)
        after.ring.work()
        try after.driveOut(from: 100)
        for _ in 0..<4 { after.journal.work() }
        #expect(after.actions == ["exit"])
        #expect(after.told.first?.number == 2)
    }

    @Test func pointsThatTheProcessBeforeGatheredAreJudgedBeforeLaterFixes() throws {
        let before = try Setup()
        _ = try before.fence()
        before.writer.work()
        before.shell.started(entity: "van", service: 1)
        before.shell.passed(try Setup.fix(0, north: 300), floor: nil)
        before.shell.stopped()
        for _ in 0..<4 { before.journal.work() }
        // Later points are in the ring, and no fence has judged them.
        for second in 1...6 as ClosedRange<Int64> {
            let point = TrackPoint(try Setup.fix(second * 5, north: 300 - Double(second) * 50))
            _ = before.ring.subject.append(
                entity: "van", time: point.fix.time.milliseconds, payload: PointRecord.encode(point), now: 0)
        }
        before.ring.subject.close(now: 0)
        before.disk.killProcess()
        let after = try Setup(before.disk)
        after.shell.started(entity: "van", service: 1)
        after.shell.passed(try Setup.fix(31, north: 10), floor: nil)
        for _ in 0..<3 { after.journal.work() }
        #expect(after.told.isEmpty)
        after.ring.work()
        for _ in 0..<3 { after.journal.work() }
        #expect(after.actions == ["enter"])
        // The crossing is where the points were, 100 m from the middle.
        #expect(after.told.first?.time.map { ($0 - 1_780_000_020_000).magnitude < 300 } == true)
    }

    /// The disk has no time, or refuses, when the agent begins: the points of before are judged as soon as it shows them.
    @Test(arguments: [false, true]) func pointsOfBeforeAreJudgedAlsoWhenTheDiskShowsThemLate(hangs: Bool) throws {
        let before = try Setup()
        _ = try before.fence()
        before.writer.work()
        before.shell.started(entity: "van", service: 1)
        before.shell.passed(try Setup.fix(0, north: 300), floor: nil)
        before.shell.stopped()
        for _ in 0..<4 { before.journal.work() }
        for second in 1...6 as ClosedRange<Int64> {
            let point = TrackPoint(try Setup.fix(second * 5, north: 300 - Double(second) * 50))
            _ = before.ring.subject.append(
                entity: "van", time: point.fix.time.milliseconds, payload: PointRecord.encode(point), now: 0)
        }
        before.ring.subject.close(now: 0)
        before.disk.killProcess()
        let after = try Setup(before.disk)
        after.ring.accepts = !hangs
        if !hangs { after.disk.faults = [DiskFault([.read], number: 5)] }
        after.shell.started(entity: "van", service: 1)
        after.ring.work()
        // A fix that is inside already: without the points of before nobody knows where the way in was.
        after.shell.passed(try Setup.fix(31, north: 10), floor: nil)
        for _ in 0..<3 { after.journal.work() }
        #expect(after.told.isEmpty)
        after.ring.accepts = true
        after.disk.faults = []
        for _ in 0..<8 {
            after.bench.loop.advanceTime(by: .milliseconds(500))
            after.ring.work()
        }
        for _ in 0..<3 { after.journal.work() }
        #expect(after.actions == ["enter"])
        #expect(after.told.first?.time.map { ($0 - 1_780_000_020_000).magnitude < 300 } == true)
    }

    @Test func fixesDoNotWaitForARingThatHangs() throws {
        let before = try Setup()
        _ = try before.fence()
        before.writer.work()
        before.shell.started(entity: "van", service: 1)
        before.shell.passed(try Setup.fix(0, north: 300), floor: nil)
        before.shell.stopped()
        for _ in 0..<4 { before.journal.work() }
        before.disk.killProcess()
        let after = try Setup(before.disk)
        after.shell.started(entity: "van", service: 1)
        try after.driveIn(from: 10)
        after.bench.loop.advanceTime(by: .seconds(6))
        for _ in 0..<4 { after.journal.work() }
        #expect(after.actions == ["enter"])
        // The ring's answer comes too late for anything.
        after.ring.work()
        for _ in 0..<4 { after.journal.work() }
        #expect(after.actions == ["enter"])
    }

    @Test func aChangeIsAnsweredByWhatTheDiskSays() throws {
        let setup = try Setup()
        _ = try setup.fence("one")
        let durable = setup.shell.whenDurable(in: .createFence)
        #expect(setup.bench.outcome(durable) == nil)
        setup.writer.work()
        #expect(try setup.bench.outcome(durable)?.get() == true)
        // Slow.
        _ = try setup.fence("two")
        let slow = setup.shell.whenDurable(in: .createFence)
        setup.bench.loop.advanceTime(by: .milliseconds(50))
        #expect(try setup.bench.outcome(slow)?.get() == false)
        setup.writer.work()
        // Full.
        setup.disk.capacity = setup.disk.usedBytes
        _ = try setup.fence("three")
        let full = setup.shell.whenDurable(in: .createFence)
        setup.writer.work()
        #expect(setup.bench.refusal(full) == .notRemembered)
        #expect(setup.shell.status(of: "van").remembered.state == .failing)
        #expect(setup.log.ids.contains(MessageID.stateNotRemembered.description))
        setup.disk.capacity = nil
        setup.bench.loop.advanceTime(by: .seconds(2))
        setup.writer.work()
        #expect(setup.shell.status(of: "van").remembered.state == .durable)
        #expect(LoadedLocalFences(setup.writer.file).fences.count == 3)
        // Hung: too much waits already.
        setup.writer.accepts = false
        _ = try setup.fence("four")
        #expect(setup.bench.refusal(setup.shell.whenDurable(in: .createFence)) == .notRemembered)
        #expect(setup.shell.current.table.fences.count == 4)
    }

    @Test func aDamagedFileLeavesTheSoundFencesAndIsTold() throws {
        let before = try Setup()
        _ = try before.fence("one")
        _ = try before.fence("two")
        before.writer.work()
        before.writer.work()
        let path = before.writer.file.path
        let size = try #require(before.disk.contents(of: path)?.count)
        before.disk.flip(bit: 0, at: size - 1, of: path)
        before.disk.killProcess()
        let after = try Setup(before.disk)
        #expect(after.shell.current.table.fences.count == 1)
        #expect(after.log.ids == [MessageID.stateNotRemembered.description])
        // Nobody changes a fence, and the next process finds what was left, too.
        after.writer.work()
        after.disk.killProcess()
        let last = try Setup(after.disk)
        #expect(last.shell.current.table.fences.count == 1)
        #expect(last.log.ids.isEmpty)
        // The number of the lost fence is not given again.
        #expect(try last.fence("three") == 3)
    }
}
