import AgentLogic
import Testing
import TrackTestKit

struct ServiceMachineTests {
    @Test func aStartThatLogsInSucceeds() {
        var machine = ServiceMachine()
        #expect(
            machine.startService(entity: van, request: request(1)) == [
                .persist(TargetState(entity: van, isServiceStarted: true)),
                .setTimer(.startAnswer, milliseconds: 5000), .startUplink(entity: van),
            ])
        #expect(machine.state == .starting(entity: van))
        for link in [.connecting, .handshaking, .loggingIn] as [LinkState] {
            #expect(machine.uplinkChanged(link) == [])
        }
        #expect(
            machine.uplinkChanged(.online) == [.cancelTimer(.startAnswer), .reply(request(1), .startService(.success))])
        #expect(machine.state == .online(entity: van))
        #expect(machine.uplinkChanged(.online) == [])
    }

    /// The refused entity helps nobody: neither the failed start nor a stop of it is remembered with it.
    @Test(arguments: [true, false]) func aStopWhileARefusedStartEndsRemembersTheEntityOfBefore(isDrained: Bool) {
        var machine = ServiceSetup.online.make()
        _ = machine.stopService(request: request(2))
        _ = machine.uplinkStopped(drained: true)
        _ = machine.startService(entity: "no such", request: request(3))
        let refused = LinkTrouble(.parameter, "no such entity")
        let actions = machine.uplinkChanged(.refused(until: 9, refused))
        #expect(actions.contains(.persist(TargetState(entity: van))))
        #expect(machine.stopService(request: request(4)) == [.persist(TargetState(entity: van))])
        _ = machine.uplinkStopped(drained: isDrained)
        #expect(machine.target == TargetState(entity: van))
    }

    @Test func aStartWithoutTheServerSucceedsOfflineAndComesOnlineLater() {
        var machine = ServiceSetup.starting.make()
        #expect(
            machine.uplinkChanged(.waiting(until: 9, network)) == [
                .cancelTimer(.startAnswer),
                .reply(request(1), .startService(.successButOffline(reason: "no route to host"))),
            ])
        #expect(machine.state == .offline(entity: van, network))
        #expect(machine.uplinkChanged(.connecting) == [])
        #expect(machine.state == .offline(entity: van, network))
        #expect(machine.uplinkChanged(.online) == [])
        #expect(machine.state == .online(entity: van))
    }

    @Test func aStartThatTakesTooLongIsAnsweredOffline() {
        var machine = ServiceSetup.starting.make()
        let answered = machine.timerFired(.startAnswer)
        guard case .reply(request(1), .startService(.successButOffline))? = answered.last else {
            Issue.record("answered \(answered)")
            return
        }
        #expect(machine.timerFired(.startAnswer) == [])
        #expect(machine.uplinkChanged(.online) == [])
        #expect(machine.state == .online(entity: van))
    }

    @Test func aRefusedKeyIsSaidAtOnceAndTheServiceKeepsTrying() {
        var machine = ServiceSetup.starting.make()
        let trouble = LinkTrouble(.authentication, "unknown access key")
        #expect(
            machine.uplinkChanged(.refused(until: 9, trouble)) == [
                .cancelTimer(.startAnswer),
                .reply(request(1), .startService(.authenticationError(reason: "unknown access key"))),
            ])
        #expect(machine.state == .offline(entity: van, trouble))
        #expect(machine.target.isServiceStarted)
    }

    @Test func aRefusedParameterEndsTheStart() {
        var machine = ServiceSetup.starting.make()
        let trouble = LinkTrouble(.parameter, "no such service")
        #expect(
            machine.uplinkChanged(.refused(until: 9, trouble)) == [
                .cancelTimer(.startAnswer),
                .reply(request(1), .startService(.parameterError(reason: "no such service"))),
                .persist(TargetState(entity: van)), .stopUplink(drainMilliseconds: 0),
            ])
        #expect(machine.uplinkStopped(drained: false) == [])
        #expect(machine.state == .stopped)
    }

    @Test func aRefusedNameIsForgotten() {
        var machine = ServiceMachine()
        _ = machine.startService(entity: van, request: request(1))
        _ = machine.uplinkChanged(.online)
        _ = machine.stopService(request: request(2))
        _ = machine.uplinkStopped(drained: true)
        _ = machine.startService(entity: "bus", request: request(3))
        let trouble = LinkTrouble(.parameter, "another device is bus already")
        let actions = machine.uplinkChanged(.refused(until: 9, trouble))
        #expect(actions.contains(.persist(TargetState(entity: van))))
        _ = machine.uplinkStopped(drained: false)
        #expect(machine.target.entity == van && machine.state == .stopped)
    }

    private let moved = LinkTrouble(.parameter, "the device is bus", entity: "bus")

    @Test func theServersEntityIsTakenAndTheNextLoginIsAtOnce() {
        var machine = ServiceSetup.restored.make()
        #expect(
            machine.uplinkChanged(.refused(until: 9, moved)) == [
                .changeEntity("bus", atOnce: true), .persist(TargetState(entity: "bus", isServiceStarted: true)),
            ])
        #expect(machine.state == .offline(entity: "bus", moved) && machine.entity == "bus")
        // A server that names one after the other is obeyed slowly, until a login.
        let again = LinkTrouble(.parameter, "the device is car", entity: "car")
        let second = machine.uplinkChanged(.refused(until: 9, again))
        #expect(second.first == .changeEntity("car", atOnce: false))
        #expect(machine.uplinkChanged(.online) == [])
        let third = machine.uplinkChanged(.refused(until: 9, moved))
        #expect(third.first == .changeEntity("bus", atOnce: true))
    }

    @Test func pointsAfterAChangeOfTheEntityAreTheNewOnes() {
        var machine = ServiceMachine()
        _ = machine.restore(TargetState(entity: van, isServiceStarted: true, isGathering: true))
        #expect(
            machine.uplinkChanged(.refused(until: 9, moved)) == [
                .setGathering(false), .changeEntity("bus", atOnce: true),
                .persist(TargetState(entity: "bus", isServiceStarted: true, isGathering: true)), .setGathering(true),
            ])
        #expect(machine.gather == .started)
    }

    /// Whoever names an entity is told that the server says another one. Whoever names none means the vehicle that it is.
    @Test func aStartAsANamedEntityIsRefusedAndOneWithoutANameGoesOn() {
        var named = ServiceSetup.starting.make()
        let refused = named.uplinkChanged(.refused(until: 9, moved))
        #expect(refused.contains(.stopUplink(drainMilliseconds: 0)))
        var machine = ServiceMachine()
        _ = machine.startService(entity: van, isChosen: false, request: request(1))
        #expect(
            machine.uplinkChanged(.refused(until: 9, moved)) == [
                .changeEntity("bus", atOnce: true), .persist(TargetState(entity: "bus", isServiceStarted: true)),
            ])
        #expect(machine.state == .starting(entity: "bus"))
        #expect(
            machine.uplinkChanged(.online) == [.cancelTimer(.startAnswer), .reply(request(1), .startService(.success))])
    }

    @Test(arguments: [van, "", "#"]) func aNameThatIsNoneOrTheSameChangesNothing(name: String) {
        var machine = ServiceSetup.restored.make()
        let trouble = LinkTrouble(.parameter, "why", entity: name)
        #expect(machine.uplinkChanged(.refused(until: 9, trouble)) == [])
        #expect(machine.state == .offline(entity: van, trouble))
    }

    @Test(arguments: [LinkTrouble.Kind.authentication, .parameter, .configuration])
    func aRefusalAfterBootKeepsTheServiceAndItsPoints(
        _ kind: LinkTrouble.Kind
    ) {
        var machine = ServiceMachine()
        _ = machine.restore(TargetState(entity: van, isServiceStarted: true, isGathering: true))
        #expect(machine.uplinkChanged(.refused(until: 9, LinkTrouble(kind, "no"))) == [])
        #expect(machine.gather == .started)
        #expect(machine.state == .offline(entity: van, LinkTrouble(kind, "no")))
    }

    /// The answer names the cause; the service keeps trying, and nothing is persisted anew.
    @Test(arguments: [
        (LinkTrouble(.network, "x", cause: .nameResolution), StartServiceOutcome.networkError(reason: "x")),
        (LinkTrouble(.configuration, "x"), .internalError(reason: "x")),
        (LinkTrouble(.network, "x", cause: .connectRefused), .successButOffline(reason: "x")),
    ])
    func aTroubleOfTheFirstConnectionIsTheAnswerAndTheServiceStays(
        _ trouble: LinkTrouble, _ outcome: StartServiceOutcome
    ) {
        var machine = ServiceSetup.starting.make()
        #expect(
            machine.uplinkChanged(.waiting(until: 9, trouble))
                == [.cancelTimer(.startAnswer), .reply(request(1), .startService(outcome))])
        #expect(machine.state == .offline(entity: van, trouble))
        #expect(machine.uplinkChanged(.online) == [])
        #expect(machine.state == .online(entity: van))
    }

    @Test(arguments: ["", "#1", "a;b", String(repeating: "x", count: 129)]) func aBadNameIsAParameterError(
        _ name: String
    ) {
        var machine = ServiceMachine()
        let actions = machine.startService(entity: name, request: request(1))
        guard case .reply(request(1), .startService(.parameterError))? = actions.first, actions.count == 1 else {
            Issue.record("answered \(actions)")
            return
        }
        #expect(machine.state == .stopped)
    }

    @Test(
        arguments: [
            (.starting, .inProgress), (.restored, .alreadyStarted), (.online, .alreadyStarted),
            (.offline, .alreadyStarted),
            (.stopping, .inProgress),
        ] as [(ServiceSetup, StartServiceOutcome)])
    func aSecondStartChangesNothing(_ setup: ServiceSetup, _ outcome: StartServiceOutcome) {
        for entity in [van, "another"] {
            var machine = setup.make()
            let before = machine
            // A person who starts a service that is offline has perhaps mended the cause: the login does not wait.
            let isOffline = if case .offline = before.state { true } else { false }
            #expect(
                machine.startService(entity: entity, request: request(9))
                    == (isOffline ? [.logInNow] : []) + [.reply(request(9), .startService(outcome))])
            #expect(machine == before)
        }
    }

    @Test func stoppingStopsGatheringFirstThenDrainsThenAnswers() {
        var machine = ServiceSetup.online.make()
        _ = machine.startGather(request: request(2))
        _ = machine.locationChanged(.available)
        #expect(
            machine.stopService(request: request(3), drainMilliseconds: 700) == [
                .persist(TargetState(entity: van)), .setGathering(false), .stopUplink(drainMilliseconds: 700),
                .closeFeed,
            ])
        #expect(machine.state == .stopping(entity: van))
        #expect(machine.gather == .stopped)
        #expect(machine.uplinkChanged(.closing) == [])
        #expect(machine.uplinkChanged(.closed) == [])
        #expect(machine.uplinkStopped(drained: true) == [.reply(request(3), .stopService(.success(drained: true)))])
        #expect(machine.state == .stopped)
        #expect(machine.uplinkStopped(drained: true) == [])
    }

    @Test(arguments: [ServiceSetup.restored, .online, .offline]) func stoppingHasADefaultTimeLimit(
        _ setup: ServiceSetup
    ) {
        var machine = setup.make()
        #expect(machine.stopService(request: request(3)).contains(.stopUplink(drainMilliseconds: 10_000)))
        #expect(machine.uplinkStopped(drained: false) == [.reply(request(3), .stopService(.success(drained: false)))])
    }

    @Test func stoppingAStartAnswersBoth() {
        var machine = ServiceSetup.starting.make()
        let actions = machine.stopService(request: request(3), drainMilliseconds: -5)
        #expect(actions.contains(.cancelTimer(.startAnswer)))
        #expect(actions.contains(.stopUplink(drainMilliseconds: 0)))
        let answers = actions.compactMap { if case .reply(let id, _) = $0 { id } else { nil } }
        #expect(answers == [request(1)])
        #expect(machine.uplinkStopped(drained: false) == [.reply(request(3), .stopService(.success(drained: false)))])
    }

    @Test func stoppingTwiceIsInProgressAndStoppingNothingNotYetStarted() {
        var machine = ServiceSetup.stopping.make()
        #expect(machine.stopService(request: request(3)) == [.reply(request(3), .stopService(.inProgress))])
        var stopped = ServiceMachine()
        #expect(stopped.stopService(request: request(3)) == [.reply(request(3), .stopService(.notYetStarted))])
    }

    @Test func whoStopsTheServiceWhileAStartComesToNothingIsHeard() {
        var machine = ServiceSetup.starting.make()
        _ = machine.uplinkChanged(.refused(until: 9, LinkTrouble(.parameter, "no such entity")))
        #expect(machine.stopService(request: request(5)) == [.persist(TargetState(entity: van))])
        #expect(machine.stopService(request: request(6)) == [.reply(request(6), .stopService(.inProgress))])
        #expect(machine.uplinkStopped(drained: true) == [.reply(request(5), .stopService(.success(drained: true)))])
    }

    @Test func bootGoesOnAsToldLast() {
        var machine = ServiceMachine()
        #expect(
            machine.restore(TargetState(entity: van, isServiceStarted: true, isGathering: true)) == [
                .startUplink(entity: van), .setGathering(true), .openFeed,
            ])
        #expect(machine.locationChanged(.off(reason: "no gpsd")) == [])
        #expect(machine.gather == .started)
        #expect(machine.restore(TargetState()) == [])
    }

    @Test(arguments: [
        TargetState(), TargetState(entity: van), TargetState(isServiceStarted: true),
        TargetState(entity: "#", isServiceStarted: true, isGathering: true),
    ])
    func bootWithNothingToGoOnWithStaysStopped(_ target: TargetState) {
        var machine = ServiceMachine(keepAlive: true)
        #expect(machine.restore(target) == [])
        #expect(machine.state == .stopped)
    }

    @Test func aLinkThatIsLostIsOfflineFromTheFirstSign() {
        for link in [.connecting, .closed, .loggingIn] as [LinkState] {
            var machine = ServiceSetup.online.make()
            #expect(machine.uplinkChanged(link) == [])
            guard case .offline(van, _) = machine.state else {
                Issue.record("state \(machine.state)")
                return
            }
        }
    }
}

typealias Action = ServiceMachine.Action

let van = "van 7"
let network = LinkTrouble(.network, "no route to host")

func request(_ number: UInt64) -> RequestID { RequestID(rawValue: number) }

/// Each state of the service, reached by events.
enum ServiceSetup: CaseIterable {
    case stopped, starting, restored, online, offline, stopping

    func make(keepAlive: Bool = false) -> ServiceMachine {
        var machine = ServiceMachine(keepAlive: keepAlive)
        switch self {
        case .stopped: break
        case .starting: _ = machine.startService(entity: van, request: request(1))
        case .restored: _ = machine.restore(TargetState(entity: van, isServiceStarted: true))
        case .online:
            _ = machine.startService(entity: van, request: request(1))
            _ = machine.uplinkChanged(.online)
        case .offline:
            _ = machine.startService(entity: van, request: request(1))
            _ = machine.uplinkChanged(.waiting(until: 0, network))
        case .stopping:
            _ = machine.startService(entity: van, request: request(1))
            _ = machine.uplinkChanged(.online)
            _ = machine.stopService(request: request(2))
        }
        return machine
    }
}
