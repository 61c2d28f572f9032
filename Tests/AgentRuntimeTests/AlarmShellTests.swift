import AgentControl
import AlarmLog
import DiskRing
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// A push is acknowledged when it is on the disk, and told once.
@Suite struct AlarmShellTests {
    private final class Setup {
        let log = EventRecorder()
        let bench: ShellBench
        let disk = DiskSimulation(seed: 1, directories: ["/state"])
        let journal: SlowDisk<AlarmJournal>
        /// Of all pushes, by the server's clock.
        static let created: Int64 = 1_780_000_000_000
        private(set) var acknowledged: [UInt64] = []
        private(set) var arrived: [UInt64] = []
        private(set) var recalled: [[UInt64]] = []
        private(set) var confirmed: [UInt64] = []
        private(set) var unkept: [UInt64] = []
        /// Pushes whose alarms were told as not durable.
        var told: Set<UInt64> = []
        private(set) lazy var shell = AlarmShell(
            bench.context, executor: journal, areHooksOwed: true, isTold: { [unowned self] in told.contains($0) }
        ) { [unowned self] effect in
            switch effect {
            case .came, .hooksSettled: break
            case .heard(let id): unkept.append(id)
            case .acknowledge(let id): acknowledged.append(id)
            case .arrived(let alarm): arrived.append(alarm.content.id)
            case .recalled(let alarms, _): recalled.append(alarms.map(\.content.id))
            case .confirmed(let number), .cameAfterDrop(let number): confirmed.append(number)
            }
        }

        init() {
            bench = ShellBench(log: log)
            journal = SlowDisk(
                AlarmJournal(directory: "/state/alarms", fileSystem: disk, now: MonotonicTime(milliseconds: 0)))
        }

        func push(_ id: UInt64, body: String = "{}") {
            var push = Push()
            (push.id, push.type, push.json, push.time) = (id, 65, body, Self.created)
            shell.take(push, entity: "van")
        }
    }

    @Test func nothingIsAcknowledgedOrToldBeforeItIsOnTheDisk() {
        let setup = Setup()
        setup.push(7)
        #expect(setup.acknowledged.isEmpty && setup.arrived.isEmpty)
        setup.journal.work()
        #expect(setup.acknowledged == [7] && setup.arrived == [7])
        #expect(setup.log.ids == [MessageID.alarmReceived.description])
        #expect(setup.shell.status?.kept == 1)
    }

    @Test func whatComesAgainIsAcknowledgedAgainAndNotTold() {
        let setup = Setup()
        for _ in 0..<2 {
            setup.push(7)
            // Twice on its way to the disk is once.
            setup.push(7)
            setup.journal.work()
        }
        #expect(setup.arrived == [7])
        #expect(setup.acknowledged == [7, 7])
    }

    @Test func aDiskThatFailsAcknowledgesNothingAndIsToldOfOnce() {
        let setup = Setup()
        setup.disk.faults = [DiskFault([.write], number: 28)]
        for id in [1, 2] as [UInt64] {
            setup.push(id)
            setup.journal.work()
        }
        #expect(setup.acknowledged.isEmpty && setup.arrived.isEmpty && setup.unkept == [1, 2])
        #expect(setup.shell.status?.lastError != nil)
        setup.disk.faults = []
        setup.push(1)
        setup.journal.work()
        #expect(setup.acknowledged == [1] && setup.arrived == [1])
        #expect(setup.shell.status?.lastError == nil)
        #expect(
            setup.log.ids
                == [MessageID.alarmJournalFailed, .alarmReceived, .alarmJournalReturned].map(\.description))
    }

    @Test func alarmsThatAreOwedAreAskedForAgainWhenTheDiskHasRoom() {
        let setup = Setup()
        setup.push(7)
        setup.journal.work()
        setup.journal.accepts = false
        setup.shell.recall(limit: 10, without: [])
        setup.bench.loop.advanceTime(by: .seconds(5))
        #expect(setup.recalled.isEmpty)
        setup.journal.accepts = true
        setup.bench.loop.advanceTime(by: .seconds(10))
        setup.journal.work()
        #expect(setup.recalled == [[7]])
    }

    @Test func aDiskThatHangsRefusesMoreAndTheServerSendsItAgain() {
        let setup = Setup()
        setup.journal.accepts = false
        setup.push(7)
        #expect(setup.shell.status?.lastError?.contains("hangs") == true && !setup.unkept.isEmpty)
        #expect(setup.bench.refusal(setup.shell.list(AlarmSelection())) == .internalError)
        setup.journal.accepts = true
        setup.push(7)
        setup.journal.work()
        #expect(setup.acknowledged == [7] && setup.arrived == [7])
    }

    @Test func whatHooksAreOwedComesBackUntilTheyHaveEnded() {
        let setup = Setup()
        for id in [1, 2] as [UInt64] { setup.push(id) }
        setup.journal.work()
        setup.shell.recall(limit: 9, without: [])
        setup.journal.work()
        #expect(setup.recalled == [[1, 2]])
        setup.shell.finishHooks(of: 1)
        setup.shell.recall(limit: 9, without: [])
        setup.journal.work()
        #expect(setup.recalled == [[1, 2], [2]])
    }

    /// Hooks that have ended do not run again because the disk had no time to note it.
    @Test func theEndOfHooksIsNotForgottenWhileTheDiskHangs() {
        let setup = Setup()
        for id in [1, 2] as [UInt64] { setup.push(id) }
        setup.journal.work()
        setup.journal.accepts = false
        setup.shell.finishHooks(of: 1)
        setup.journal.accepts = true
        // Before the note is tried again.
        setup.shell.recall(limit: 9, without: [])
        setup.journal.work()
        #expect(setup.recalled == [[2]])
        setup.bench.loop.advanceTime(by: .seconds(2))
        setup.journal.work()
        #expect(setup.journal.subject.owedCount == 1)
        let next = AlarmJournal(directory: "/state/alarms", fileSystem: setup.disk, now: 0)
        #expect(next.owedCount == 1)
    }

    /// Nobody starts the agent anew because a disk failed for a moment.
    @Test func hooksGetTheirAlarmsWhenTheDiskGivesThem() {
        let setup = Setup()
        for id in [1, 2] as [UInt64] { setup.push(id) }
        setup.journal.work()
        setup.disk.faults = [DiskFault([.read], number: 5)]
        setup.shell.recall(limit: 9, without: [])
        setup.journal.work()
        #expect(setup.recalled == [])
        setup.journal.accepts = false
        setup.bench.loop.advanceTime(by: .seconds(15))
        setup.journal.accepts = true
        setup.disk.faults = []
        setup.bench.loop.advanceTime(by: .seconds(15))
        setup.journal.work()
        #expect(setup.recalled == [[1, 2]])
        setup.disk.faults = [DiskFault([.read], number: 5)]
        setup.shell.recall(limit: 9, without: [])
        setup.journal.work()
        setup.shell.shutDown()
        setup.disk.faults = []
        setup.bench.loop.advanceTime(by: .seconds(60))
        setup.journal.work()
        #expect(setup.recalled.count == 1)
    }

    /// A session may begin in the last moment of a push's seven days, and then sends it for ten minutes; a server's clock may
    /// be set meanwhile.
    @Test(arguments: [600, 3 * 3600] as [Int64])
    func aPushIsKnownForLongerThanTheServerSendsIt(secondsAfterItsEnd: Int64) {
        let setup = Setup()
        let end = Setup.created + 7 * 86_400_000
        setup.shell.forgetOld(serverTime: end - 1000)
        setup.push(7)
        setup.journal.work()
        setup.shell.finishHooks(of: 1)
        setup.bench.loop.advanceTime(by: .seconds(1 + secondsAfterItsEnd))
        setup.push(7)
        setup.journal.work()
        // A login tells the server's clock anew.
        setup.shell.forgetOld(serverTime: end + secondsAfterItsEnd * 1000)
        setup.push(7)
        setup.journal.work()
        #expect(setup.arrived == [7])
        #expect(setup.acknowledged == [7, 7, 7])
    }

    @Test func aPushThatBreaksARuleIsRefusedAndCounted() {
        let setup = Setup()
        setup.push(0)
        setup.push(9, body: String(repeating: "x", count: NewAlarm.maximumBodyBytes + 1))
        setup.journal.work()
        #expect(setup.arrived.isEmpty)
        #expect(setup.shell.status?.refused == 2)
    }
}
