import AgentLogic
import AlarmLog
import DiskRing
import FenceDelivery
import Geofencing
import Testing
import TrackModel
import TrackTestKit

@testable import LocalFences

@Suite struct ServerFenceMachineTests {
    private let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])

    private static func point(_ second: Int64, _ metres: Double) -> FencePoint {
        FencePoint(east(second, metres, speed: 4000))
    }

    private static func fence(_ id: Int32 = 1, _ definition: FenceDefinition = circle()) throws -> DeliveredFence {
        let start = Timestamp(milliseconds: 0)
        return DeliveredFence(try Fence(id: id, definition, at: start), since: start, group: nil)
    }

    /// In the fence and out of it again.
    private func drive(_ box: inout ServerBox, from second: Int64 = 0) {
        for step in 0...12 as ClosedRange<Int64> {
            box.gather(Self.point(second + step * 5, 300 - 50 * Double(step)), sequence: UInt64(second + step + 1))
        }
    }

    @Test func anAlarmHasTheKeyOfTheServersAndTheNumberOfItsPush() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        drive(&box)
        let alarms = try box.journal.alarms(AlarmQuery(), now: 0).alarms
        #expect(alarms.count == 2 && alarms.allSatisfy { $0.content.type == 3 && $0.content.early != nil })
        let key = try #require(AlarmKey(text: box.told[0].key))
        #expect(alarms[0].content.id == UInt64(key.pushID(to: ServerBox.entity)))
        #expect(alarms[0].content.early?.sequence ?? 0 > 1)
        #expect(box.machine.toldVersion == 5)
        // The server's push of it is known, and confirms it.
        let push = NewAlarm(id: alarms[0].content.id, type: 3, entity: "van_07", time: 1, received: 2, body: "{}")
        #expect(try box.journal.append(push, isOwed: true, now: 0) == .confirmed(1))
        #expect(try box.journal.append(push, isOwed: true, now: 0) == .known)
        #expect(try box.journal.unconfirmed(now: 0).map(\.number) == [2])
        disk.crash(seed: 1)
        box.start()
        #expect(try box.journal.alarms(AlarmQuery(), now: 0).alarms.map(\.isConfirmed) == [true, false])
    }

    /// A note without an alarm is not synchronised, unless points may be gone after it.
    @Test(arguments: [true, false]) func whatTheRingLetsGoLastsInTheMemory(letsGo: Bool) throws {
        var lost = 0
        for seed in 0..<20 as Range<UInt64> {
            let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])
            var box = ServerBox(disk: disk)
            try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
            drive(&box)
            box.gather(Self.point(1000, 700), sequence: 1000)
            if letsGo { box.perform(box.machine.ringLetsGo()) }
            disk.crash(seed: seed)
            box.start()
            if box.machine.fenceState?.lastTime != Self.point(1000, 0).time { lost += 1 }
        }
        #expect(letsGo ? lost == 0 : lost > 0)
    }

    @Test func aProcessThatHasJudgedNothingWritesNoMemory() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        drive(&box)
        box.start()
        #expect(box.machine.fenceState?.lastTime != nil)
        #expect(box.machine.ringLetsGo() == [])
    }

    /// A disk that refused to be read at the start: the journal has a newer fence state than the file of the fences.
    @Test(arguments: [true, false]) func aJournalThatCouldNotBeReadKeepsItsMemory(stops: Bool) throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        drive(&box)
        try box.deliver(FenceDelivery(version: 6, base: 5, fences: [try Self.fence(2)]))
        drive(&box, from: 100)
        let kept = try #require(box.journal.fenceStates.first)
        guard case .read(let bytes) = box.file.read() else {
            Issue.record("the file of the fences is not there")
            return
        }
        box.machine = ServerFenceMachine(found: try ServerFenceSet(encoded: bytes))
        box.perform(box.machine.runs(as: ServerBox.entity, service: 7))
        #expect(box.machine.fenceState?.lastTime?.milliseconds ?? .max < kept.time)
        box.perform(stops ? box.machine.closing() : box.machine.runs(as: "van_08", service: 7))
        #expect(box.journal.fenceStates.first?.time == kept.time)
    }

    // MARK: Time zones

    /// Open on all days from 08:00 to 17:00.
    private static func office(_ id: Int32 = 1) throws -> DeliveredFence {
        var definition = circle()
        let window = try #require(WeeklyWindow(days: 127, from: 28_800, to: 61_200))
        definition.validity = FenceValidity(windows: [window], zone: .named("Europe/Amsterdam"))
        return try fence(id, definition)
    }

    /// The second of the tests at which a day begins, UTC.
    private static let midnight = 86_400 - point(0, 0).time.seconds % 86_400

    @Test(arguments: [(6 * 3600, 2), (8 * 3600, 2), (16 * 3600, 0)] as [(Int64, Int)])
    func aFenceIsJudgedByTheZoneThatTheServerHasSent(_ second: Int64, _ told: Int) throws {
        // Two hours ahead of UTC now, one hour until long ago.
        let zone = ZoneOffsets(
            first: 3600, changes: [.init(time: Self.point(-86_400, 0).time, seconds: 7200)])
        var box = ServerBox(disk: disk)
        try box.deliver(
            FenceDelivery(version: 5, fences: [try Self.office()], zones: ["Europe/Amsterdam": zone, "Etc/UTC": .utc]))
        #expect(box.machine.notJudged.isEmpty && box.machine.set.zones == ["Europe/Amsterdam": zone])
        // The next process has it too.
        box.start()
        drive(&box, from: Self.midnight + second)
        #expect(box.told.count == told)
        #expect(box.machine.loggedIn().isEmpty)
        // A difference leaves the zone, and without the fence it goes.
        try box.deliver(FenceDelivery(version: 6, base: 5, fences: [try Self.fence(2)]))
        #expect(box.machine.set.zones.count == 1)
        try box.deliver(FenceDelivery(version: 7, base: 6, fences: [], removed: [1]))
        #expect(box.machine.set.zones.isEmpty)
    }

    @Test func aZoneThatHasNotComeIsAskedForOnceAndInventsNoAlarm() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.office()]))
        #expect(box.machine.notJudged[1]?.contains("Europe/Amsterdam") == true)
        let begin = Self.midnight + 12 * 3600
        for step in 0...6 as ClosedRange<Int64> { box.gather(Self.point(begin + step * 5, 300 - 50 * Double(step))) }
        #expect(box.told.isEmpty)
        let place = Self.point(0, 0).place
        #expect(box.machine.loggedIn() == [.request(place)])
        #expect(box.machine.loggedIn().isEmpty)
        // The same version again, now with the zone, while the vehicle stands inside.
        try box.deliver(
            FenceDelivery(version: 5, fences: [try Self.office()], zones: ["Europe/Amsterdam": .utc]))
        #expect(box.machine.notJudged.isEmpty)
        for step in 7...12 as ClosedRange<Int64> { box.gather(Self.point(begin + step * 5, 300 - 50 * Double(step))) }
        let alarms = try box.journal.alarms(AlarmQuery(), now: 0).alarms
        #expect(alarms.map(\.content.body).allSatisfy { $0.contains("\"exit\"") } && alarms.count == 1)
    }

    @Test func aSetOfTheEarlierFormatIsRead() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.office()]))
        var bytes = try #require(box.machine.content).encoded
        // Format 1 ends before the number of zones, which is 0 here.
        bytes[0] = 1
        bytes.removeLast(4)
        #expect(try ServerFenceSet(encoded: bytes) == box.machine.set)
        #expect(throws: FenceStateCodingError.self) { try ServerFenceSet(encoded: bytes + [0, 0, 0, 0]) }
        bytes[0] = 3
        #expect(throws: FenceStateCodingError.self) { try ServerFenceSet(encoded: bytes) }
    }

    @Test func aPushThatCameFirstIsNotToldAgain() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        var other = ServerBox(disk: DiskSimulation(seed: 2, directories: ["/var", "/var/saker"]))
        try other.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        drive(&other)
        let enter = try #require(try other.journal.alarms(AlarmQuery(), now: 0).alarms.first).content
        var push = enter
        (push.early, push.fence) = (nil, nil)
        _ = try box.journal.append(push, isOwed: false, now: 0)
        drive(&box)
        #expect(box.told.map(\.key) == other.told.dropFirst().map(\.key) && box.told.count == 1)
    }

    @Test func aNewSetWaitsForTheDiskAndPointsWaitForTheSet() throws {
        var box = ServerBox(disk: disk)
        box.gather(Self.point(0, 300))
        box.isHanging = true
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        #expect(box.isWaitingForDisk && box.machine.toldVersion == 5)
        drive(&box, from: 5)
        #expect(box.told.isEmpty && box.applied.isEmpty)
        box.release()
        #expect(box.applied.map(\.isRemembered) == [true] && box.told.count == 2)
        #expect(box.machine.newest.uses == [VersionUse(version: 5, after: Self.point(0, 0).time)])
    }

    @Test func aDiskThatDoesNotAnswerHoldsNothingBack() throws {
        var box = ServerBox(disk: disk)
        box.isHanging = true
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        drive(&box)
        box.perform(box.machine.timedOut())
        #expect(box.applied.map(\.isRemembered) == [false] && box.told.count == 2)
        // The process after this one says nothing of the fences that judged the points: the server may not find these alarms.
        #expect(box.journal.reportCount == 2)
        // The process before has no set, and the server is asked for everything.
        disk.killProcess()
        box.start()
        #expect(box.machine.toldVersion == 0)
    }

    @Test func aDiskThatRefusesIsTriedAgain() throws {
        var box = ServerBox(disk: disk)
        disk.faults = [DiskFault([.write], times: 1, number: 28)]
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        #expect(box.applied.map(\.isRemembered) == [false])
        box.perform(box.machine.saving { $0.timerFired(.retry, now: 0) })
        #expect(box.machine.saving.standing == .durable)
        drive(&box)
        #expect(box.told.count == 2 && box.journal.reportCount == 0)
        box.start()
        #expect(box.machine.toldVersion == 5)
    }

    @Test func aDifferenceToAnotherVersionIsRefusedAndEverythingAskedFor() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        #expect(throws: FenceRefusal.self) {
            try box.deliver(FenceDelivery(version: 9, base: 7, fences: []))
        }
        #expect(box.machine.toldVersion == 0 && box.machine.set.version == 5)
        drive(&box)
        #expect(box.told.count == 2)
        try box.deliver(FenceDelivery(version: 9, fences: []))
        #expect(box.machine.toldVersion == 9 && box.machine.set.fences.isEmpty)
        let tooMany = try (1...10_001).map { try Self.fence(Int32($0)) }
        #expect(throws: FenceRefusal.self) { try box.deliver(FenceDelivery(version: 10, fences: tooMany)) }
        #expect(box.machine.set.version == 9)
    }

    @Test func aFenceMadeAroundAVehicleMakesNoAlarm() throws {
        var box = ServerBox(disk: disk)
        for second in 0...9 as ClosedRange<Int64> { box.gather(Self.point(second, 0)) }
        // The server's clock has seen it come before the newest point.
        let fence = DeliveredFence(
            try Fence(id: 1, circle(), at: Self.point(3, 0).time), since: Self.point(3, 0).time, group: nil)
        try box.deliver(FenceDelivery(version: 5, fences: [fence]))
        for second in 10...19 as ClosedRange<Int64> { box.gather(Self.point(second, 0)) }
        #expect(box.told.isEmpty)
    }

    /// While the disk hangs, no point is judged and versions are passed over: the last one says who is watched since when.
    @Test(arguments: [(1, true), (20, false)] as [(Int64, Bool)])
    func aFenceOfAVersionThatJudgedNothingIsNewInTheNextOne(made: Int64, isKnown: Bool) throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 4, fences: isKnown ? [try Self.fence()] : []))
        box.gather(Self.point(10, 300))
        func fence(since second: Int64) throws -> DeliveredFence {
            DeliveredFence(
                try Fence(id: 1, circle(), at: Self.point(made, 0).time), since: Self.point(second, 0).time, group: nil)
        }
        try box.deliver(FenceDelivery(version: 5, base: 4, fences: [try fence(since: made)]))
        try box.deliver(FenceDelivery(version: 6, base: 5, fences: [try fence(since: 100)]))
        for second in 3...30 as ClosedRange<Int64> {
            box.gather(Self.point(second * 5, 300 - 50 * Double(second % 12)))
        }
        #expect((box.machine.set.fences[1]?.since == Self.point(100, 0).time) == !isKnown)
    }

    @Test func anotherEntityOrServiceBeginsWithoutASet() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        box.perform(box.machine.runs(as: "van_08", service: 7))
        #expect(box.machine.toldVersion == 0)
        drive(&box)
        #expect(box.told.isEmpty)
        for (entity, service, version) in [("van_07", 7, 5), ("van_07", 8, 0), ("VAN_07", 7, 0)]
            as [(String, Int64, UInt64)]
        {
            box.start(as: entity, service: service)
            #expect(box.machine.toldVersion == version, "\(entity) \(service)")
        }
    }

    @Test func aStateBelongsToItsService() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        box.gather(Self.point(0, 300))
        box.gather(Self.point(1, 290))
        box.perform(box.machine.runs(as: ServerBox.entity, service: 8))
        #expect(box.machine.fenceState?.lastTime == nil)
        box.gather(Self.point(2, 280))
        #expect(box.journal.fenceStates.map(\.service) == [7])
        #expect(box.journal.fenceStates.first?.time == Self.point(1, 0).time.milliseconds)
        box.perform(box.machine.runs(as: ServerBox.entity, service: 7))
        #expect(box.machine.fenceState?.lastTime == Self.point(1, 0).time)
    }

    @Test func timeThatBeganAnewIsJudgedByTheSameSet() throws {
        var box = ServerBox(disk: disk)
        box.gather(Self.point(90_000, 300))
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        drive(&box)
        #expect(box.told.count == 2)
        let first = Self.point(0, 0).time
        #expect(box.machine.newest.uses == [VersionUse(version: 5, after: first.adding(milliseconds: -1), base: 5)])
        #expect(box.machine.newest.uses(from: first, through: first).map(\.version) == [5])
    }

    @Test func usesAreKeptAsLongAsPointsWaitThatTheyJudged() throws {
        var box = ServerBox(disk: disk)
        func time(_ second: Int64) -> Timestamp { Self.point(second, 0).time }
        for (step, version) in ([3, 4, 5] as [UInt64]).enumerated() {
            box.gather(Self.point(Int64(step) * 100 + 1, 300))
            try box.deliver(FenceDelivery(version: version, fences: [try Self.fence()]))
        }
        let uses = box.machine.newest
        #expect(uses.uses(from: time(0), through: time(1)) == [])
        #expect(uses.uses(from: time(50), through: time(60)).map(\.version) == [3])
        #expect(uses.uses(from: time(1), through: time(150)).map(\.version) == [3, 4])
        #expect(uses.uses(from: time(101), through: time(101)).map(\.version) == [3])
        #expect(uses.uses(from: time(500), through: time(600)).map(\.version) == [5])
        box.perform(box.machine.ringBegins(at: time(101)))
        #expect(box.machine.newest.uses.map(\.version) == [3, 4, 5])
        box.perform(box.machine.ringBegins(at: time(102)))
        #expect(box.machine.newest.uses.map(\.version) == [4, 5])
        box.perform(box.machine.ringBegins(at: nil))
        #expect(box.machine.newest.uses.map(\.version) == [5])
    }

    @Test func aUseNamesTheVersionThatJudgedBefore() throws {
        var box = ServerBox(disk: disk)
        for (second, version) in [(1, 3), (100, 4), (200, 5)] as [(Int64, UInt64)] {
            box.gather(Self.point(second, 300))
            try box.deliver(FenceDelivery(version: version, fences: [try Self.fence()]))
        }
        // This version has judged no point.
        try box.deliver(FenceDelivery(version: 6, fences: [try Self.fence()]))
        #expect(box.machine.newest.uses.map(\.version) == [3, 4, 6])
        #expect(box.machine.newest.uses.map(\.base) == [0, 3, 4])
    }

    /// The file has the fence state of the moment at which the fences came, the journal that of the last alarm or note.
    @Test func aProcessGoesOnFromTheNewerMemory() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence()]))
        box.gather(Self.point(0, 300))
        try box.deliver(FenceDelivery(version: 6, base: 5, fences: []))
        box.gather(Self.point(5, 0))
        // The journal's is newer.
        box.start()
        #expect(box.machine.fenceState?.lastTime == Self.point(5, 0).time)
        box.gather(Self.point(6, 10))
        try box.deliver(FenceDelivery(version: 7, base: 6, fences: []))
        // The file's is newer.
        box.start()
        #expect(box.machine.fenceState?.lastTime == Self.point(6, 0).time)
        box.gather(Self.point(15, 400))
        #expect(box.told.count == 2)
    }

    @Test func aDeletedFenceHasNobodyInside() throws {
        var box = ServerBox(disk: disk)
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence(), try Self.fence(2)]))
        box.gather(Self.point(0, 300))
        box.gather(Self.point(5, 0))
        #expect(box.machine.insideCount == 2)
        try box.deliver(FenceDelivery(version: 6, base: 5, fences: [], removed: [1]))
        #expect(box.machine.insideCount == 1)
        // Nor after a start, before the next point.
        box.start()
        #expect(box.machine.insideCount == 1)
    }

    @Test func theServerIsAskedOnceNearTheEdgeOfTheReach() throws {
        var box = ServerBox(disk: disk)
        let reach = FenceDelivery.Reach(center: Self.point(0, 0).place, metres: 1000)
        try box.deliver(FenceDelivery(version: 5, fences: [], reach: reach))
        box.gather(Self.point(1, 790))
        #expect(box.requests.isEmpty)
        box.gather(Self.point(2, 850))
        box.gather(Self.point(3, 900))
        #expect(box.requests == [Self.point(2, 850).place])
        box.gather(Self.point(602, 900))
        #expect(box.requests.count == 2)
        try box.deliver(FenceDelivery(version: 6, fences: [], reach: reach))
        box.gather(Self.point(603, 900))
        #expect(box.requests.count == 3)
    }

    @Test func whatNoVersionWroteIsNoSet() throws {
        var box = ServerBox(disk: disk)
        let reach = FenceDelivery.Reach(center: Self.point(0, 0).place, metres: 7)
        box.gather(Self.point(1, 0))
        try box.deliver(FenceDelivery(version: 5, fences: [try Self.fence(), try Self.fence(2)], reach: reach))
        let (set, bytes) = (box.machine.newest, box.machine.newest.encoded)
        #expect(try ServerFenceSet(encoded: bytes) == set)
        for length in 0..<bytes.count {
            #expect(throws: FenceStateCodingError.self) { try ServerFenceSet(encoded: Array(bytes[..<length])) }
        }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x81
            _ = try? ServerFenceSet(encoded: damaged)
        }
    }
}
