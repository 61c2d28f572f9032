import Testing
import TrackTestKit

@testable import AgentLogic

struct GatherTests {
    @Test func gatheringStartsOnceTheReceiverIsThere() {
        var machine = ServiceSetup.online.make()
        #expect(
            machine.startGather(request: request(2)) == [.setTimer(.gatherAnswer, milliseconds: 2000), .openFeed])
        #expect(machine.locationChanged(.unknown) == [])
        #expect(
            machine.locationChanged(.available) == [
                .cancelTimer(.gatherAnswer), .setGathering(true),
                .persist(TargetState(entity: van, isServiceStarted: true, isGathering: true)),
                .reply(request(2), .startGather(.success)),
            ])
        #expect(machine.gather == .started)
        #expect(machine.locationChanged(.available) == [])
    }

    @Test(
        arguments: [
            (.off(reason: "x"), .locationOff(reason: "x")), (.forbidden(reason: "x"), .permissionDenied(reason: "x")),
            (.failed(reason: "x"), .internalError(reason: "x")),
        ] as [(LocationState, StartGatherOutcome)])
    func gatheringDoesNotStartWithoutAReceiver(_ location: LocationState, _ outcome: StartGatherOutcome) {
        var machine = ServiceSetup.offline.make()
        _ = machine.startGather(request: request(2))
        #expect(
            machine.locationChanged(location) == [
                .cancelTimer(.gatherAnswer), .reply(request(2), .startGather(outcome)), .closeFeed,
            ])
        #expect(machine.gather == .stopped)
        #expect(!machine.target.isGathering)
    }

    @Test func aReceiverThatSaysNothingCountsAsOff() {
        var machine = ServiceSetup.online.make()
        _ = machine.startGather(request: request(2))
        let actions = machine.timerFired(.gatherAnswer)
        guard
            actions.contains(where: {
                if case .reply(request(2), .startGather(.locationOff)) = $0 { true } else { false }
            })
        else {
            Issue.record("answered \(actions)")
            return
        }
        #expect(actions.last == .closeFeed)
        #expect(machine.timerFired(.gatherAnswer) == [])
    }

    @Test func aReceiverThatIsLostDoesNotEndGathering() {
        var machine = ServiceSetup.online.make()
        _ = machine.startGather(request: request(2))
        _ = machine.locationChanged(.available)
        for location in [.off(reason: "x"), .forbidden(reason: "x"), .unknown, .available] as [LocationState] {
            #expect(machine.locationChanged(location) == [])
        }
        #expect(machine.gather == .started)
    }

    @Test func gatheringTwiceIsAlreadyStartedAlsoWhileItStarts() {
        var machine = ServiceSetup.online.make()
        _ = machine.startGather(request: request(2))
        #expect(machine.startGather(request: request(3)) == [.reply(request(3), .startGather(.alreadyStarted))])
        _ = machine.locationChanged(.available)
        #expect(machine.startGather(request: request(4)) == [.reply(request(4), .startGather(.alreadyStarted))])
    }

    @Test(arguments: [ServiceSetup.stopped, .stopping]) func gatheringNeedsTheService(
        _ setup: ServiceSetup
    ) {
        var machine = setup.make()
        #expect(machine.startGather(request: request(7)) == [.reply(request(7), .startGather(.serviceNotStarted))])
        #expect(machine.stopGather(request: request(8)) == [.reply(request(8), .stopGather(.notYetStarted))])
    }

    @Test func stoppingGatheringLeavesTheServiceRunning() {
        var machine = ServiceSetup.online.make()
        _ = machine.startGather(request: request(2))
        _ = machine.locationChanged(.available)
        #expect(
            machine.stopGather(request: request(3)) == [
                .setGathering(false), .persist(TargetState(entity: van, isServiceStarted: true)),
                .reply(request(3), .stopGather(.success)), .closeFeed,
            ])
        #expect(machine.state == .online(entity: van))
        #expect(machine.stopGather(request: request(4)) == [.reply(request(4), .stopGather(.notYetStarted))])
    }

    @Test func stoppingAStartOfGatheringAnswersBoth() {
        var machine = ServiceSetup.online.make()
        _ = machine.startGather(request: request(2))
        let actions = machine.stopGather(request: request(3))
        let answers = actions.compactMap { if case .reply(let id, _) = $0 { id } else { nil } }
        #expect(answers == [request(2), request(3)])
        #expect(actions.filter { $0 == .closeFeed }.count == 1)
    }

    @Test func keepAliveHoldsTheFeedWhileTheServiceRuns() {
        var machine = ServiceMachine(keepAlive: true)
        #expect(machine.startService(entity: van, request: request(1)).last == .openFeed)
        #expect(machine.locationChanged(.available) == [])
        #expect(!machine.startGather(request: request(2)).contains(.openFeed))
        #expect(machine.gather == .started)
        #expect(!machine.stopGather(request: request(3)).contains(.closeFeed))
        #expect(machine.keepAliveChanged(false) == [.closeFeed])
        #expect(machine.keepAliveChanged(true) == [.openFeed])
        #expect(machine.stopService(request: request(4)).last == .closeFeed)
        #expect(machine.keepAliveChanged(true) == [])
    }

    @Test func aClosedFeedIsNotBelieved() {
        var machine = ServiceSetup.online.make()
        #expect(machine.locationChanged(.available) == [])
        #expect(machine.location == .unknown)
        #expect(machine.startGather(request: request(2)).contains(.openFeed))
        #expect(machine.gather == .starting(request(2)))
    }

    @Test func anyOrderOfEventsAnswersEachRequestOnceAndKeepsTheFeedInStep() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for _ in 0..<300 {
            var driver = RandomServiceDriver(generator: generator)
            for _ in 0..<200 { driver.step() }
            driver.finish()
            #expect(driver.problems == [], "seed \(seed)")
            generator = driver.generator
        }
    }
}

/// Plays a careless runtime and a careless user, and notes what must never happen.
private struct RandomServiceDriver {
    var generator: TestGenerator
    var problems: [String] = []
    private var machine = ServiceMachine()
    private var open: Set<RequestID> = []
    private var requests: UInt64 = 0
    private var isFeedOpen = false
    private var isUplinkRunning = false
    private var isStopping = false
    private var isGathering = false

    init(generator: TestGenerator) { self.generator = generator }

    mutating func step() {
        switch Int.random(in: 0..<14, using: &generator) {
        case 0, 1:
            let entity = Bool.random(using: &generator) ? van : ""
            ask { $0.startService(entity: entity, request: $1) }
        case 2: ask { $0.stopService(request: $1) }
        case 3, 4: ask { $0.startGather(request: $1) }
        case 5: ask { $0.stopGather(request: $1) }
        case 6: perform(machine.uplinkChanged(.online))
        case 7: perform(machine.uplinkChanged(.waiting(until: 1, network)))
        case 8:
            let kind: LinkTrouble.Kind = Bool.random(using: &generator) ? .authentication : .parameter
            let entity = Bool.random(using: &generator) ? "bus \(Int.random(in: 0..<2, using: &generator))" : nil
            perform(machine.uplinkChanged(.refused(until: 1, LinkTrouble(kind, "no", entity: entity))))
        case 9: perform(machine.locationChanged(.available))
        case 10: perform(machine.locationChanged(.off(reason: "no gpsd")))
        case 11: perform(machine.timerFired(Bool.random(using: &generator) ? .startAnswer : .gatherAnswer))
        case 12: perform(machine.keepAliveChanged(Bool.random(using: &generator)))
        default: if isStopping { uplinkStops() }
        }
        if isGathering, !isFeedOpen { problems.append("gathering with a closed feed") }
        if isGathering != (machine.gather == .started) { problems.append("the sampler is out of step") }
    }

    mutating func finish() {
        ask { $0.stopService(request: $1) }
        if isStopping { uplinkStops() }
        if machine.state != .stopped { problems.append("does not end: \(machine.state)") }
        if !open.isEmpty { problems.append("never answered: \(open)") }
        if isFeedOpen || isGathering || isUplinkRunning { problems.append("something still runs") }
    }

    private mutating func ask(_ event: (inout ServiceMachine, RequestID) -> [Action]) {
        requests += 1
        open.insert(request(requests))
        perform(event(&machine, request(requests)))
    }

    private mutating func uplinkStops() {
        isStopping = false
        isUplinkRunning = false
        perform(machine.uplinkStopped(drained: Bool.random(using: &generator)))
    }

    private mutating func perform(_ actions: [Action]) {
        for action in actions {
            switch action {
            case .startUplink:
                if isUplinkRunning { problems.append("started the uplink twice") }
                isUplinkRunning = true
            case .changeEntity:
                if !isUplinkRunning || isStopping { problems.append("another entity without an uplink") }
                if isGathering { problems.append("points of one entity go on as another's") }
            case .logInNow:
                if !isUplinkRunning || isStopping { problems.append("a login without an uplink") }
            case .stopUplink:
                if !isUplinkRunning || isStopping { problems.append("stopped no uplink") }
                if isGathering { problems.append("gathering outlives the service") }
                isStopping = true
            case .openFeed:
                if isFeedOpen { problems.append("opened the feed twice") }
                isFeedOpen = true
            case .closeFeed:
                if !isFeedOpen { problems.append("closed no feed") }
                isFeedOpen = false
            case .setGathering(let isOn):
                if isOn == isGathering { problems.append("gathering set to what it is") }
                isGathering = isOn
            case .reply(let id, _):
                if open.remove(id) == nil { problems.append("answered twice: \(id)") }
            case .persist, .setTimer, .cancelTimer: break
            }
        }
    }
}

/// Gathering for a caller who does not want to come back.
@Suite struct KeepTryingTests {
    private func started() -> ServiceMachine {
        var machine = ServiceMachine()
        _ = machine.startService(entity: "van", request: RequestID(rawValue: 1))
        return machine
    }

    @Test(
        arguments: [
            .off(reason: "gpsd is away"), .forbidden(reason: "gpsd is away"), .failed(reason: "gpsd is away"),
        ] as [LocationState])
    func gatheringStartsWithoutAReceiver(_ location: LocationState) {
        var machine = started()
        let request = RequestID(rawValue: 2)
        _ = machine.startGather(request: request, keepsTrying: true)
        let target = TargetState(entity: "van", isServiceStarted: true, isGathering: true)
        #expect(
            machine.locationChanged(location) == [
                .cancelTimer(.gatherAnswer), .setGathering(true), .persist(target),
                .reply(request, .startGather(.successWithoutReceiver(reason: "gpsd is away"))),
            ])
        #expect(machine.gather == .started && machine.target == target)
        // It goes on when the receiver is there.
        #expect(machine.locationChanged(.available) == [])
    }

    @Test func aGPSDThatDoesNotAnswerInTimeIsNoObstacle() {
        var machine = started()
        let request = RequestID(rawValue: 2)
        _ = machine.startGather(request: request, keepsTrying: true)
        #expect(
            machine.timerFired(.gatherAnswer).last
                == .reply(
                    request,
                    .startGather(.successWithoutReceiver(reason: "gpsd has not answered yet: is it running?"))))
        #expect(machine.gather == .started)
    }

    /// The wish of one caller is not the next one's, and a service that stops ends the start.
    @Test func itIsTheWishOfOneCall() {
        var machine = started()
        _ = machine.startGather(request: RequestID(rawValue: 2), keepsTrying: true)
        _ = machine.stopService(request: RequestID(rawValue: 3))
        #expect(machine.gather == .stopped && !machine.target.isGathering)
        machine = started()
        _ = machine.startGather(request: RequestID(rawValue: 4), keepsTrying: true)
        _ = machine.locationChanged(.available)
        _ = machine.stopGather(request: RequestID(rawValue: 5))
        _ = machine.startGather(request: RequestID(rawValue: 6))
        #expect(
            machine.locationChanged(.off(reason: "x")).contains(
                .reply(RequestID(rawValue: 6), .startGather(.locationOff(reason: "x")))))
        #expect(machine.gather == .stopped)
    }
}
