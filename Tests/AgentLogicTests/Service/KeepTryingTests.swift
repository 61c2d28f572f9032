import Testing

@testable import AgentLogic

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
