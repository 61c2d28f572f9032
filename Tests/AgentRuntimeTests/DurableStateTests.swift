import AgentControl
import AgentLogic
import JSON
import NIOCore
import Synchronization
import Systemd
import Testing
import TrackTestKit

@testable import AgentRuntime

/// What callers and the status are told of a disk that is right, full, or hangs.
@Suite(.timeLimit(.minutes(5))) struct MemoryTests {
    @Test func aChangeIsAnsweredWhenItIsOnTheDisk() async throws {
        let agent = try await RunningAgent.start(stateStore: ScriptedStateStore(.works))
        let reply = try await agent.client.call(.setIntervals, parameters: ["gather": 10, "pack": 60])
        #expect(reply["durable"]?.boolValue == true)
        #expect(try await agent.client.status().remembered?.state == .durable)
        _ = try await agent.stop()
    }

    /// The answer does not wait for a disk that is busy for long; what it says is in the file later.
    @Test func aChangeIsInTheFileOnceItIsDurable() async throws {
        let agent = try await RunningAgent.start()
        _ = try await agent.client.call(.setIntervals, parameters: ["gather": 10, "pack": 60])
        try await agent.wait("the state on the disk") { $0.agent.durableState.isDurable }
        guard case .read(let state) = agent.stateFile.read() else {
            Issue.record("nothing is remembered")
            return
        }
        #expect(try state.settings?.settings().gatherInterval == 10)
        #expect(try await agent.client.status().remembered?.state == .durable)
        _ = try await agent.stop()
    }

    @Test func aFullDiskIsTheAnswerAndStaysInTheStatusUntilAWriteSucceeds() async throws {
        let stateStore = ScriptedStateStore(.fails("No space left on device"))
        let agent = try await RunningAgent.start(stateStore: stateStore)
        let error = await #expect(throws: AgentControlError.self) {
            _ = try await agent.client.setIntervals(gather: 10, pack: 60)
        }
        #expect(error?.code == .notRemembered)
        #expect(error?.reason.contains("No space left on device") == true)
        // In force all the same.
        #expect(try await agent.client.settings().gatherInterval == 10)
        let status = try await agent.client.status()
        #expect(status.remembered?.state == .failing)
        #expect(status.remembered?.lastError == "No space left on device")
        stateStore.behave(.works)
        // It is tried again by itself.
        try await agent.wait("the state on the disk") { $0.agent.durableState.isDurable }
        #expect(try await agent.client.status().remembered?.state == .durable)
        _ = try await agent.stop()
    }

    @Test func aDiskThatHangsHoldsNoCallerUp() async throws {
        let stateStore = ScriptedStateStore(.hangs)
        let agent = try await RunningAgent.start(stateStore: stateStore)
        for (method, parameters): (AgentMethod, [String: JSONValue?]) in [
            (.setIntervals, ["gather": 10, "pack": 60]), (.resetSettings, [:]), (.stopGather, [:]),
        ] {
            let reply = try await agent.client.call(method, parameters: parameters)
            #expect(reply["durable"]?.boolValue == false, "\(method)")
        }
        // On a machine that takes longer than five seconds for this, the write is a trouble already.
        let state = try await agent.client.status().remembered?.state
        #expect(state == .writing || state == .failing)
        // The changes that waited go in one write.
        try await agent.on { _ in stateStore.answer() }
        try await agent.on { _ in stateStore.answer() }
        #expect(stateStore.writes == 2)
        #expect(try await agent.client.status().remembered?.state == .durable)
        _ = try await agent.stop()
    }

    @Test func whatCouldNotBeGivenToTheDiskAtTheEndIsSaid() {
        let log = EventRecorder()
        let bench = ShellBench(log: log)
        let shell = DurableStateShell(bench.context, stateStore: FullQueue(), state: DurableState(), trouble: nil)
        shell.remember(TargetState(entity: "van", isServiceStarted: true, isGathering: true))
        let before = log.ids.count
        shell.shutDown()
        #expect(log.ids.dropFirst(before) == [MessageID.stateNotRemembered.description])
        #expect(log.fields.last?["reason"]?.contains("stops") == true)
    }
}

/// A disk whose queue is full.
private final class FullQueue: DurableStateStore {
    func write(_ state: DurableState, on loop: any EventLoop) -> EventLoopFuture<String?>? { nil }
}

/// A store of the state that does what the test says. Confined to the agent's loop, but for its behaviour.
final class ScriptedStateStore: DurableStateStore, Sendable {
    enum Behaviour: Sendable {
        case works
        case fails(String)
        case hangs
    }

    private let behaviour: Mutex<Behaviour>
    private let waiting = Mutex<[EventLoopPromise<String?>]>([])
    private let count = Mutex(0)

    init(_ behaviour: Behaviour) { self.behaviour = Mutex(behaviour) }

    var writes: Int { count.withLock { $0 } }

    func behave(_ new: Behaviour) { behaviour.withLock { $0 = new } }

    /// The oldest write that hangs is done.
    func answer() {
        waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.succeed(nil)
    }

    func write(_ state: DurableState, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        count.withLock { $0 += 1 }
        switch behaviour.withLock({ $0 }) {
        case .works: return loop.makeSucceededFuture(nil)
        case .fails(let reason): return loop.makeSucceededFuture(reason)
        case .hangs:
            let promise = loop.makePromise(of: String?.self)
            waiting.withLock { $0.append(promise) }
            return promise.futureResult
        }
    }
}
