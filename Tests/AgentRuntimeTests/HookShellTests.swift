import AgentControl
import AgentLogic
import AlarmLog
import JSON
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackTestKit

@testable import AgentRuntime

/// Which hooks run for what, what an alarm is owed, and what is left when the agent stops.
@Suite struct HookShellTests {
    /// Hooks that begin and end when the test says. Its end is that of `HookRunner`: what waits fails, what runs is killed.
    private final class SlowHooks: HookExecutor {
        typealias Listing = (hooks: [String], refusals: [String])
        typealias Outcome = (failure: String?, output: String)
        struct Stopped: Error {}

        private var lists: [EventLoopPromise<Listing>] = []
        private var runs: [(hook: String, promise: EventLoopPromise<Outcome>)] = []
        /// The hooks that were started, with the events that they got.
        private(set) var started: [String] = []
        private(set) var inputs: [[UInt8]] = []

        var listCount: Int { lists.count }
        var runCount: Int { runs.count }

        func list(on loop: any EventLoop) -> EventLoopFuture<Listing> {
            let promise = loop.makePromise(of: Listing.self)
            lists.append(promise)
            return promise.futureResult
        }

        func run(
            _ hook: String, kind: String, input: [UInt8], on loop: any EventLoop
        ) -> EventLoopFuture<Outcome> {
            started.append("\(hook) \(kind)")
            inputs.append(input)
            let promise = loop.makePromise(of: Outcome.self)
            runs.append((hook, promise))
            return promise.futureResult
        }

        /// The directory is read.
        func answer(_ hooks: [String], refusals: [String] = []) {
            guard !lists.isEmpty else { return }
            lists.removeFirst().succeed((hooks, refusals))
        }

        /// The hook that began first ends.
        func end(failure: String? = nil, output: String = "") {
            guard !runs.isEmpty else { return }
            runs.removeFirst().promise.succeed((failure, output))
        }

        func shutDown(on loop: any EventLoop) -> EventLoopFuture<Void> {
            let (waiting, killed) = (lists, runs)
            (lists, runs) = ([], [])
            for promise in waiting { promise.fail(Stopped()) }
            for run in killed { run.promise.succeed(("it was ended by signal 9", "")) }
            return loop.makeSucceededVoidFuture()
        }
    }

    private final class Setup {
        let log = EventRecorder()
        let bench: ShellBench
        let hooks = SlowHooks()
        private let events: [String]
        /// What cannot be written as JSON.
        var isUnreadable: (AgentEvent) -> Bool = { _ in false }
        struct Unreadable: Error {}
        private(set) var finished: [UInt64] = []
        private(set) var recalls: [Set<UInt64>] = []
        private(set) lazy var shell = HookShell(
            bench.context, executor: hooks,
            settings: AgentConfiguration.Hooks(directory: "/etc/saker/hooks.d", events: events, timeLimit: 30),
            encode: { [unowned self] event in
                guard !isUnreadable(event) else { throw Unreadable() }
                return try JSONValue(encoding: event)
            }
        ) { [unowned self] effect in
            switch effect {
            case .finished(let alarm): finished.append(alarm)
            case .recall(_, let known): recalls.append(known)
            }
        }

        init(_ events: [String] = ["alarm", "feed"]) {
            self.events = events
            bench = ShellBench(log: log)
        }

        /// Whatever a test found, every promise ends.
        deinit {
            shell.beginShutDown()
            _ = shell.shutDown()
        }

        func alarm(_ number: UInt64, isOwed: Bool = true, body: String = "{}") -> JournalAlarm {
            JournalAlarm(
                number: number,
                content: NewAlarm(id: number, type: 65, entity: "van", time: 1, received: 1, body: body),
                isOwed: isOwed)
        }

        func feed(_ state: FeedStatus.State) { shell.happened(.feed(FeedStatus(state: state))) }
    }

    // MARK: Events

    @Test func anAlarmIsOwedUntilItsLastHookHasEnded() {
        let setup = Setup()
        setup.shell.arrived(setup.alarm(7))
        setup.hooks.answer(["a", "b"])
        setup.hooks.end()
        #expect(setup.finished == [])
        setup.hooks.end(failure: "it ended with status 1", output: "sorry")
        #expect(setup.finished == [7])
        #expect(setup.hooks.started == ["a alarm", "b alarm"])
        #expect(setup.log.fields.map { $0["reason"] } == ["b: it ended with status 1"])
        let status = setup.shell.status
        #expect(status?.started == 2 && status?.failed == 1 && status?.running == 0 && status?.waiting == 0)
    }

    @Test func anAlarmWithoutHooksIsOwedNoLonger() {
        let setup = Setup()
        setup.shell.arrived(setup.alarm(7))
        setup.hooks.answer([])
        setup.shell.arrived(setup.alarm(8, isOwed: false))
        #expect(setup.finished == [7] && setup.hooks.listCount == 0)
    }

    @Test func onlyAnotherStateOfAKindThatWasAskedForRunsHooks() {
        let setup = Setup(["connection"])
        for state in [LinkStatus.State.connecting, .handshaking, .online, .closing, .online, .waiting] {
            setup.shell.happened(.connection(LinkStatus(state: state)))
        }
        setup.feed(.fix)
        setup.shell.arrived(setup.alarm(7, isOwed: false))
        #expect(setup.shell.status?.waiting == 2)
    }

    /// A state that hooks never heard of is not one that they were told.
    @Test func aStateThatFoundNoRoomIsToldWhenThereIsRoom() {
        let setup = Setup()
        for index in 0..<64 { setup.feed(index.isMultiple(of: 2) ? .noFix : .fix) }
        setup.feed(.unreachable)
        #expect(setup.shell.status?.waiting == 64 && setup.shell.status?.dropped == 1)
        for _ in 0..<64 { setup.hooks.answer([]) }
        #expect(setup.shell.status?.waiting == 0)
        setup.feed(.unreachable)
        #expect(setup.hooks.listCount == 1)
        setup.feed(.unreachable)
        #expect(setup.shell.status?.waiting == 1)
    }

    @Test func whatIsRefusedIsSaidOnceUntilItIsAnother() {
        let setup = Setup()
        for (number, refusals) in [["x"], ["x"], ["x", "y"], [], ["x"]].enumerated() {
            setup.shell.arrived(setup.alarm(UInt64(number + 1)))
            setup.hooks.answer([], refusals: refusals)
        }
        #expect(setup.log.fields.map { $0["reason"] } == ["x", "x", "y", "x"])
        #expect(setup.shell.status?.lastError == "x")
    }

    @Test func alarmsOfTheProcessBeforeRunFirst() {
        let setup = Setup()
        setup.shell.begin()
        #expect(setup.recalls == [[]])
        // It stays in the journal: it must not overtake the others.
        setup.shell.arrived(setup.alarm(3))
        #expect(setup.hooks.listCount == 0)
        setup.shell.recalled([setup.alarm(1), setup.alarm(2), setup.alarm(3)], isAll: true)
        for _ in 0..<3 { setup.hooks.answer(["a"]) }
        for _ in 0..<3 { setup.hooks.end() }
        #expect(setup.finished == [1, 2, 3])
    }

    @Test func withoutAlarmsAmongTheEventsNothingIsFetched() {
        let setup = Setup(["feed"])
        setup.shell.begin()
        #expect(setup.recalls == [])
        #expect(!HookShell.hearAlarms(setup.hooks, nil))
    }

    // MARK: What hooks read

    /// A hook that got an empty object would act on an alarm of which it knows nothing.
    @Test func noHookRunsForAnEventThatCannotBeWritten() {
        let setup = Setup()
        setup.isUnreadable = { event in
            if case .alarm(let alarm) = event.change { return alarm.number != 8 }
            return true
        }
        setup.shell.arrived(setup.alarm(7))
        setup.feed(.fix)
        #expect(setup.hooks.listCount == 0 && setup.finished == [7])
        let status = setup.shell.status
        #expect(status?.dropped == 2 && status?.lastError?.contains("'feed'") == true)
        #expect(setup.log.ids == [MessageID.hookFailed, .hookFailed].map(\.description))
        setup.shell.begin()
        setup.shell.recalled([setup.alarm(7), setup.alarm(8)], isAll: true)
        setup.hooks.answer(["a"])
        setup.hooks.end()
        #expect(setup.hooks.started == ["a alarm"] && setup.finished == [7, 7, 8])
    }

    /// The readers of messages take 64 levels, and an alarm stands inside of some.
    @Test(arguments: [1, 47, 48, 49, 63, 64, 65, 5000]) func anAlarmReachesHooksHoweverDeepItIs(depth: Int) throws {
        let setup = Setup()
        let body = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        setup.shell.arrived(setup.alarm(7, body: body))
        setup.hooks.answer(["a"])
        let read = try JSONReader.value(of: try #require(setup.hooks.inputs.first))
        #expect(read["kind"] == "alarm" && read["fields"]?["number"] == 7)
        let told = read["fields"]?["body"]
        #expect(depth <= 48 ? told?.description == body : told == .string(body))
    }

    // MARK: The end

    /// The order of the agent's own end.
    private func stop(_ setup: Setup) {
        setup.shell.beginShutDown()
        setup.feed(.closed)
        _ = setup.shell.shutDown()
    }

    @Test func anAlarmWhoseHooksWereKilledStaysOwed() {
        let setup = Setup()
        setup.shell.arrived(setup.alarm(7))
        setup.hooks.answer(["a"])
        stop(setup)
        #expect(setup.finished == [] && setup.log.ids == [])
    }

    @Test func anAlarmWhoseHooksNobodyHasLookedForStaysOwed() {
        let setup = Setup()
        setup.shell.arrived(setup.alarm(7))
        stop(setup)
        #expect(setup.finished == [])
    }

    @Test func aDirectoryThatWasReadTooLateStartsNothing() {
        let setup = Setup()
        setup.feed(.fix)
        setup.shell.beginShutDown()
        setup.hooks.answer(["a"])
        #expect(setup.hooks.started == [])
    }

    enum LateEvent: CaseIterable { case change, alarm, recalled }

    @Test(arguments: LateEvent.allCases) func noEventIsTakenOnceTheAgentStops(late: LateEvent) {
        let setup = Setup()
        setup.shell.begin()
        if late != .recalled { setup.shell.recalled([], isAll: true) }
        setup.shell.beginShutDown()
        switch late {
        case .change: setup.feed(.closed)
        case .alarm: setup.shell.arrived(setup.alarm(7))
        case .recalled: setup.shell.recalled([setup.alarm(7)], isAll: true)
        }
        #expect(setup.hooks.listCount == 0 && setup.finished == [])
    }
}
