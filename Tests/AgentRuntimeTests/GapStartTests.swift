import AgentControl
import AgentLogic
import ConfigurationFile
import DiskRing
import NIOCore
import Testing
import TrackModel
import TrackTestKit

@testable import AgentRuntime

/// What a process knows at its start of the time before.
@Suite struct GapStartTests {
    private func start(
        _ remembered: DurableState, autostart: Bool, boot: String? = nil
    ) throws -> GapMachine.Start {
        let text = """
            [server]
            host = "server.example"
            [service]
            id = 1
            ak = "0123456789abcdefghjkmnpqrstvwxyz"
            entity = "van"
            autostart = \(autostart)
            """
        let configuration = try AgentConfiguration.read(ConfigurationReader(text: text, path: "/etc/agent.toml"))
        let disk = DiskSimulation(seed: 1, directories: ["/var"])
        let cache = try DiskRing(directory: "/var/cache", fileSystem: disk, now: 0)
        cache.append(entity: "van", time: 5, payload: [1], now: 0)
        defer { cache.close(now: 0) }
        return GapMachine.Start(remembered, CacheSnapshot(cache), configuration.service, boot: boot)
    }

    @Test func theLastCommandSaysWhetherTheProcessBeforeGathered() throws {
        let target = TargetState(entity: "van", isServiceStarted: true, isGathering: false)
        let memory = OpenGap(entity: "van", since: Timestamp(milliseconds: 5), spans: [])
        let newest = Timestamp(milliseconds: 5)
        #expect(
            try start(DurableState(target: .init(target), gap: .init(memory)), autostart: true)
                == GapMachine.Start(entity: "van", isGathering: false, memory: memory, newest: newest))
    }

    @Test func withoutACommandTheConfigurationSaysIt() throws {
        #expect(
            try start(DurableState(), autostart: true)
                == GapMachine.Start(
                    entity: "van", isGathering: true, memory: nil, newest: Timestamp(milliseconds: 5)))
        #expect(
            try start(DurableState(), autostart: false)
                == GapMachine.Start(entity: nil, isGathering: false, memory: nil, newest: nil))
    }

    @Test func theLastRecordOfAProcessSaysHowItEnded() throws {
        func off(_ boot: String, hasEnded: Bool) throws -> String? {
            try start(DurableState(run: .init(boot: boot, hasEnded: hasEnded)), autostart: true, boot: "a").off
                .last?.reason.detail
        }
        #expect(try off("a", hasEnded: true) == "stop" && off("b", hasEnded: true) == "shutdown")
        #expect(try off("a", hasEnded: false) == "crash" && off("b", hasEnded: false) == "power_cut")
        // An earlier version wrote no record, and some computers have no name for their start.
        #expect(try start(DurableState(), autostart: true, boot: "a").off == [.init(reason: .off)])
        #expect(
            try start(DurableState(run: .init(boot: "a", hasEnded: true)), autostart: true).off == [
                .init(reason: .off)
            ])
    }

    /// The power goes; the process after it is killed before it makes a point.
    @Test func aProcessThatMadeNoPointLeavesWhatItKnew() throws {
        var state = DurableState(run: .init(boot: "a", hasEnded: false))
        func begin(_ boot: String, at milliseconds: Int64) {
            state.run = .init(
                boot: boot, hasEnded: false, began: milliseconds, before: DurableState.offs(state.run, boot: boot))
        }
        begin("b", at: 14_000)
        #expect(
            try start(state, autostart: true, boot: "b").off == [
                .init(reason: .offByPowerCut),
                .init(reason: .offByCrash, since: MonotonicTime(milliseconds: 14_000)),
            ])
        for time in 1...20 as ClosedRange<Int64> { begin("b", at: 14_000 + time * 1000) }
        let offs = try start(state, autostart: true, boot: "b").off
        #expect(offs.count == 6 && offs.first?.reason == .offByPowerCut)
        #expect(offs.last == .init(reason: .offByCrash, since: MonotonicTime(milliseconds: 34_000)))
        // The clock of another start is another one.
        #expect(try start(state, autostart: true, boot: "c").off == [.init(reason: .offByPowerCut)])
    }

    @Test func whoStoppedIsKnownAtTheNextStart() throws {
        let target = TargetState(entity: "van", isServiceStarted: true, isGathering: false)
        for (text, reason) in [
            ("person", GapReason.stoppedByPerson), ("hook", .stoppedByHook), ("server", .stoppedByServer),
            ("nobody known", .stopped), (nil, .stopped),
        ] {
            let state = DurableState(target: .init(target, stoppedBy: text))
            #expect(try start(state, autostart: true).stopped == reason)
        }
    }

    @Test func aProcessWritesItsBeginningAndItsEnd() {
        let bench = ShellBench()
        let stateStore = KeptStates()
        let shell = DurableStateShell(bench.context, stateStore: stateStore, state: DurableState(), trouble: nil)
        shell.begin(boot: "a")
        #expect(stateStore.states.map(\.run?.hasEnded) == [false])
        shell.shutDown()
        #expect(stateStore.states.last?.run?.hasEnded == true && stateStore.states.last?.run?.boot == "a")
        #expect(stateStore.states.count == 2)
    }

    /// A disk that did not answer at the start may still have the settings.
    @Test func aStateThatCouldNotBeReadIsNotReplacedByTheBeginning() {
        let bench = ShellBench()
        let stateStore = KeptStates()
        let shell = DurableStateShell(
            bench.context, stateStore: stateStore, state: DurableState(), trouble: "no answer")
        shell.begin(boot: "a")
        #expect(stateStore.states.isEmpty && shell.state.run == nil)
    }

    @Test func aStopKeepsItsCauseUntilSomebodyGathers() {
        let bench = ShellBench()
        let shell = DurableStateShell(bench.context, stateStore: KeptStates(), state: DurableState(), trouble: nil)
        shell.remember(TargetState(entity: "van", isServiceStarted: false, isGathering: false), stoppedBy: .hook)
        shell.remember(TargetState(entity: "van", isServiceStarted: true, isGathering: false))
        #expect(shell.state.target?.stoppedBy == "hook")
        #expect(shell.state.target?.stoppedTime != nil)
        shell.remember(TargetState(entity: "van", isServiceStarted: true, isGathering: true))
        #expect(shell.state.target?.stoppedBy == nil && shell.state.target?.stoppedTime == nil)
    }

    /// The next command does not make the stop younger.
    @Test func whenTheAgentCeasedToGatherIsKept() {
        var state = DurableState()
        let stopped = TargetState(entity: "van", isServiceStarted: false, isGathering: false)
        for before in [5, nil] as [Int64?] {
            state.target = .init(stopped, at: before)
            let shell = DurableStateShell(ShellBench().context, stateStore: KeptStates(), state: state, trouble: nil)
            shell.remember(TargetState(entity: "van", isServiceStarted: true, isGathering: false))
            #expect(shell.state.target?.stoppedTime == before)
        }
    }

    @Test func aNameOfAStartIs128Bits() {
        let name = "0f3b1c6e12344c7a9d0e5a6b7c8d9e0f"
        #expect(BootName.usable("0F3B1C6E-1234-4C7A-9D0E-5A6B7C8D9E0F\n") == name && BootName.usable(name) == name)
        for text in ["", "%b", String(name.dropLast()), name + "0", "zf3b1c6e12344c7a9d0e5a6b7c8d9e0f", nil] {
            #expect(BootName.usable(text) == nil)
        }
        #expect(BootName.read() != nil)
    }
}

private final class KeptStates: DurableStateStore {
    var states: [DurableState] = []

    func write(_ state: DurableState, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        states.append(state)
        return loop.makeSucceededFuture(nil)
    }
}
