import AgentControl
import AgentLogic
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackTestKit

@testable import AgentRuntime

/// What callers of the service and of gathering are told, and what leaves the shell, whatever link and receiver do.
@Suite struct ServiceShellTests {
    /// A shell; the test plays the link and the receiver.
    private final class Setup {
        let log = EventRecorder()
        let bench: ShellBench
        private let keepAlive: Bool
        private var effects: [String] = []
        /// What another shell does at once when it hears of an effect.
        var atOnce: (ServiceShell.Effect) -> Void = { _ in }
        private(set) lazy var shell = ServiceShell(bench.context, entity: "van", keepAlive: keepAlive) {
            [unowned self] effect in
            effects.append(Self.text(effect))
            atOnce(effect)
        }

        init(keepAlive: Bool = false) {
            self.keepAlive = keepAlive
            bench = ShellBench(log: log)
        }

        /// Whatever a test found, every call ends.
        deinit { shell.shutDown() }

        private static func text(_ effect: ServiceShell.Effect) -> String {
            switch effect {
            case .openFeed: "open feed"
            case .closeFeed: "close feed"
            case .startGathering(let entity): "gather as \(entity)"
            case .stopGathering(let entity, let cause): "end gathering as \(entity) by \(cause)"
            case .startLink(let entity): "link as \(entity)"
            case .logInNow: "log in now"
            case .changeLink(let entity, let atOnce): "link anew as \(entity) \(atOnce ? "at once" : "later")"
            case .stopLink(let milliseconds): "end link within \(milliseconds)"
            case .remember(let target, _):
                "remember \(target.entity ?? "nobody") \(target.isServiceStarted) \(target.isGathering)"
            case .changed: "changed"
            }
        }

        func taken() -> [String] {
            defer { effects = [] }
            return effects
        }

        /// The service runs and gathers.
        func gathering() {
            shell.restore(TargetState(entity: "van", isServiceStarted: true, isGathering: true))
            shell.locationChanged(.available)
            shell.linkChanged(.online)
            _ = taken()
        }
    }

    // MARK: Service

    struct Ending: Sendable, CustomTestStringConvertible {
        let link: LinkState
        /// Nil: a success.
        let refusal: AgentControlError.Code?
        var outcome = StartServiceReply.Outcome.success

        var testDescription: String { "\(link)" }
    }

    private static func waiting(_ kind: LinkTrouble.Kind, _ cause: LinkTrouble.Cause? = nil) -> LinkState {
        .waiting(until: 0, LinkTrouble(kind, "why", cause: cause))
    }

    @Test(arguments: [
        Ending(link: .online, refusal: nil),
        Ending(link: waiting(.network), refusal: nil, outcome: .successButOffline),
        Ending(link: waiting(.network, .nameResolution), refusal: .networkError),
        Ending(link: waiting(.authentication), refusal: .authenticationError),
        Ending(link: waiting(.configuration), refusal: .internalError),
        Ending(link: waiting(.parameter), refusal: .parameterError),
    ]) func aStartIsAnsweredAsTheLinkEnds(ending: Ending) throws {
        let setup = Setup()
        let call = setup.shell.start(entity: "bus")
        #expect(setup.bench.outcome(call) == nil)
        setup.shell.linkChanged(.connecting)
        #expect(setup.bench.outcome(call) == nil)
        setup.shell.linkChanged(ending.link)
        #expect(setup.bench.refusal(call) == ending.refusal)
        if ending.refusal == nil { #expect(try setup.bench.outcome(call)?.get().outcome == ending.outcome) }
        // A value that the server refuses ends the service; every other trouble is tried again.
        let effects = setup.taken()
        #expect(effects.starts(with: ["remember bus true false", "link as bus"]))
        #expect(effects.contains("end link within 0") == (ending.refusal == .parameterError))
    }

    @Test func theServersEntityIsTakenAndPointsOfBeforeStayThoseOfBefore() {
        let setup = Setup()
        setup.gathering()
        let moved = LinkTrouble(.parameter, "the device is bus", cause: .parameterRefused, entity: "bus")
        setup.shell.linkChanged(.refused(until: 0, moved))
        #expect(
            setup.taken() == [
                "end gathering as van by server", "link anew as bus at once", "changed", "remember bus true true",
                "gather as bus",
            ])
        #expect(setup.shell.entity == "bus" && setup.shell.status.entity == "bus")
    }

    @Test func aServerThatDoesNotAnswerIsNotWaitedForAndMayAnswerLater() throws {
        let setup = Setup()
        let call = setup.shell.start(entity: nil)
        setup.bench.loop.advanceTime(by: .milliseconds(4999))
        #expect(setup.bench.outcome(call) == nil)
        setup.bench.loop.advanceTime(by: .milliseconds(1))
        #expect(try setup.bench.outcome(call)?.get().outcome == .successButOffline)
        setup.shell.linkChanged(.online)
        #expect(setup.bench.refusal(setup.shell.start(entity: "bus")) == .alreadyStarted)
        #expect(setup.shell.entity == "van" && setup.shell.status.state == .running)
    }

    @Test func aSecondCallIsRefusedAndTheFirstStillAnswered() {
        let setup = Setup()
        let start = setup.shell.start(entity: nil)
        #expect(setup.bench.refusal(setup.shell.start(entity: nil)) == .inProgress)
        setup.shell.linkChanged(.online)
        #expect(setup.bench.outcome(start) != nil && setup.bench.refusal(start) == nil)
        let stop = setup.shell.stop(timeout: .seconds(3), by: .person)
        #expect(setup.bench.refusal(setup.shell.stop(timeout: nil, by: .person)) == .inProgress)
        #expect(setup.bench.refusal(setup.shell.start(entity: nil)) == .inProgress)
        #expect(setup.bench.refusal(setup.shell.startGathering()) == .serviceNotStarted)
        #expect(setup.taken().contains("end link within 3000"))
        setup.shell.linkStopped(isDrained: false)
        #expect(setup.bench.outcome(stop) != nil && setup.bench.refusal(stop) == nil)
        #expect(setup.bench.refusal(setup.shell.stop(timeout: nil, by: .person)) == .serviceNotStarted)
    }

    @Test func aStopEndsTheStartThatWaits() throws {
        let setup = Setup()
        let start = setup.shell.start(entity: nil)
        let gather = setup.shell.startGathering()
        _ = setup.shell.stop(timeout: nil, by: .person)
        #expect(try setup.bench.outcome(start)?.get().outcome == .successButOffline)
        #expect(setup.bench.refusal(gather) == .internalError)
        setup.shell.linkStopped(isDrained: true)
    }

    /// The link may have nothing to upload and end before the effect returns.
    @Test func aLinkThatEndsAtOnceChangesNoOrder() {
        let setup = Setup()
        setup.gathering()
        setup.atOnce = { [unowned setup] effect in
            if case .stopLink = effect { setup.shell.linkStopped(isDrained: true) }
        }
        let stop = setup.shell.stop(timeout: .zero, by: .person)
        #expect(setup.bench.outcome(stop) != nil)
        #expect(
            setup.taken()
                == [
                    "remember van false false", "end gathering as van by person", "end link within 0", "close feed",
                    "changed",
                ])
        #expect(setup.log.ids == [MessageID.serviceStarted, .serviceStopped].map(\.description))
    }

    @Test func aLinkThatIsLostAndComesBackIsNoNewsOfTheService() {
        let setup = Setup()
        setup.shell.restore(TargetState(entity: "van", isServiceStarted: true))
        setup.shell.linkChanged(.online)
        _ = setup.taken()
        setup.shell.linkChanged(Self.waiting(.network))
        setup.shell.linkChanged(.connecting)
        setup.shell.linkChanged(.online)
        #expect(setup.taken() == [])
        #expect(setup.log.ids == [MessageID.serviceStarted.description])
    }

    // MARK: Gathering

    @Test func aReceiverThatIsMissingIsToldAndOneThatSaysNothingIsNotWaitedFor() {
        let setup = Setup()
        setup.shell.restore(TargetState(entity: "van", isServiceStarted: true))
        let first = setup.shell.startGathering()
        setup.shell.locationChanged(.forbidden(reason: "no right"))
        #expect(setup.bench.refusal(first) == .permissionDenied)
        let second = setup.shell.startGathering()
        setup.bench.loop.advanceTime(by: .seconds(2))
        #expect(setup.bench.refusal(second) == .locationOff)
        // Too late: nobody waits, and the feed is closed.
        setup.shell.locationChanged(.available)
        #expect(!setup.shell.isGatheringWanted)
        let third = setup.shell.startGathering()
        setup.shell.locationChanged(.available)
        #expect(setup.bench.outcome(third) != nil && setup.bench.refusal(third) == nil)
        #expect(setup.bench.refusal(setup.shell.startGathering()) == .gatherAlreadyStarted)
        #expect(setup.bench.refusal(setup.shell.stopGathering(by: .hook)) == nil)
        #expect(setup.bench.refusal(setup.shell.stopGathering(by: .hook)) == .gatherNotStarted)
    }

    /// Calls of one connection may wait behind each other: the answer to one begins the next.
    @Test func aCallerWhoTriesAgainAtOnceFindsAFeedThatIsOpened() {
        let setup = Setup()
        setup.shell.restore(TargetState(entity: "van", isServiceStarted: true))
        _ = setup.taken()
        var second: EventLoopFuture<StartGatherReply>?
        setup.shell.startGathering().assumeIsolated().whenComplete { [unowned setup] _ in
            second = setup.shell.startGathering()
        }
        setup.shell.locationChanged(.off(reason: "no receiver"))
        #expect(setup.taken() == ["open feed", "close feed", "open feed"])
        setup.shell.locationChanged(.off(reason: "still none"))
        #expect(second.flatMap { setup.bench.refusal($0) } == .locationOff)
    }

    // MARK: The end

    enum Waiting: CaseIterable { case start, stop, startGather }

    @Test(arguments: Waiting.allCases) func aCallThatWaitsIsAnsweredWhenTheAgentStops(waiting: Waiting) {
        let setup = Setup()
        func check<Reply: Sendable>(_ call: EventLoopFuture<Reply>) {
            #expect(setup.bench.outcome(call) == nil)
            setup.shell.shutDown()
            #expect(setup.bench.refusal(call) == .internalError)
        }
        switch waiting {
        case .start: check(setup.shell.start(entity: nil))
        case .stop:
            setup.gathering()
            check(setup.shell.stop(timeout: nil, by: .person))
        case .startGather:
            setup.shell.restore(TargetState(entity: "van", isServiceStarted: true))
            check(setup.shell.startGathering())
        }
        // No timer is left, and an answer that comes late is ignored.
        _ = setup.taken()
        setup.bench.loop.advanceTime(by: .hours(1))
        #expect(setup.taken() == [])
        setup.shell.linkStopped(isDrained: true)
        setup.shell.locationChanged(.off(reason: "none"))
    }

    /// What was told last goes on after the next start: a stop of the agent is no stop of the service.
    @Test func theEndOfTheAgentIsNotRemembered() {
        let setup = Setup(keepAlive: true)
        setup.gathering()
        setup.shell.linkChanged(.closed)
        setup.shell.linkStopped(isDrained: false)
        setup.shell.shutDown()
        #expect(!setup.taken().contains { $0.hasPrefix("remember") })
    }
}
