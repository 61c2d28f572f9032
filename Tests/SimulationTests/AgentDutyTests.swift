import AgentControl
import DiskRing
import JSON
import NIOCore
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import SystemSimulation

/// What the checker asks of the agent beside the points: what it remembers, how long it tries, and what it goes on from.
@Suite struct AgentDutyTests {
    @Test func whatIsInForceForLongComesBackAlone() {
        var model = DurableStateModel("a")
        _ = model.changed(to: "b")
        #expect(model.allows("a") && model.allows("b"))
        model.settled("b")
        #expect(!model.allows("a") && model.allows("b"))
        let number = model.changed(to: "c")
        #expect(model.hasSince(number) { $0 == "c" })
        #expect(!model.hasSince(number) { $0 == "b" }, "it was in force before")
        model.durable(number)
        #expect(!model.allows("b") && model.allows("c"))
    }

    @Test func aStartThatWaitsForTheServerIsInForceBesideWhatIsAnswered() {
        let stopped = CommandedTarget(isStarted: false, isGathering: false, entity: "van")
        var model = DurableStateModel(stopped)
        let started = status(.starting, as: "tram")
        _ = model.changed(to: CommandedTarget(started, otherwise: "van"))
        let asked = model.changed(to: CommandedTarget(started, otherwise: "van"))
        // StartGather is answered as durable, and StartService waits for the server.
        let onDisk = CommandedTarget(isStarted: true, isGathering: true, entity: "tram")
        var told = stopped
        told.isGathering = true
        let inForce = CommandedTarget(status(.starting, as: "tram", .gathering), otherwise: "van")
        let number = model.answered(told: told, inForce: inForce)
        #expect(model.hasSince(asked) { $0 == onDisk }, "the file says what is in force")
        model.durable(number)
        #expect(model.allows(onDisk))
    }

    @Test func aServiceThatIsBeingStoppedIsRememberedAsStopped() {
        // Something else was in force before.
        var model = DurableStateModel(CommandedTarget(isStarted: true, isGathering: true, entity: "van"))
        let asked = model.changed(to: CommandedTarget(status(.starting, as: "tram"), otherwise: "van"))
        // StopService ends the start before the server has answered: this answers StartService, and the stop waits.
        let stopping = CommandedTarget(status(.stopping, as: "tram"), otherwise: "van")
        _ = model.answered(
            told: CommandedTarget(isStarted: true, isGathering: false, entity: "tram"), inForce: stopping)
        #expect(model.hasSince(asked) { $0 == CommandedTarget(isStarted: false, isGathering: false, entity: "tram") })
    }

    /// What an agent says while its service is in this state.
    private func status(
        _ state: ServiceStatus.State, as entity: String, _ gathering: GatherStatus.State = .stopped
    ) -> AgentStatus {
        var status = SampleAgent.sampleStatus
        status.service.state = state
        status.service.entity = entity
        status.gather.state = gathering
        return status
    }

    @Test func aDiskIsCalmWhenNothingHappenedForLong() {
        var model = QuietTimeModel(now: 0)
        #expect(!model.isCalm(75_000))
        #expect(model.isCalm(75_001))
        model.trouble(75_001)
        #expect(!model.isCalm(150_001))
    }

    @Test func aStateIsReadWithoutTheAgent() throws {
        let text = """
            {"version": 1, "target": {"isServiceStarted": true, "isGathering": false, "entity": "bus"},
             "settings": {"gatherInterval": 5, "distanceFilter": 50.0, "desiredAccuracy": null, "keepAlive": true}}
            """
        let state = try #require(StateContent(Array(text.utf8)))
        #expect(state.target == CommandedTarget(isStarted: true, isGathering: false, entity: "bus"))
        #expect(state.has(AgentSettings(["gather_interval": 5, "distance_filter": 50, "pack_interval": 30])))
        #expect(!state.has(AgentSettings(["gather_interval": 7, "distance_filter": 50])))
        #expect(!state.has(AgentSettings(["gather_interval": 5])), "the filter is off")
        #expect(StateContent(Array("{}".utf8)) == nil)
        #expect(StateContent(Array(text.utf8.dropLast(4))) == nil)
    }

    @Test func aJournalIsGivenUpAfterLongErrorsOnly() throws {
        var model = ReadRetryModel(refusals: 3)
        try model.observe(refusals: 3, hasGivenUp: false, 0)
        #expect(throws: Violation.self) { try model.observe(refusals: 4, hasGivenUp: true, 1000) }
        try model.observe(refusals: 5, hasGivenUp: true, 591_000)
        var other = ReadRetryModel(refusals: 0)
        #expect(throws: Violation.self, "nothing was refused") {
            try other.observe(refusals: 0, hasGivenUp: true, 700_000)
        }
    }

    @Test func aPushIsOverdueWhenNothingKeptItFromTheAgent() throws {
        var pushes = PushModel(seed: 1)
        let (serial, push) = pushes.make(type: 65, length: 3, targets: .entities(["van"]), lifetime: 900_000, at: 0)
        func overdue(_ now: MonotonicTime, for entity: String = "van", since: MonotonicTime = 0) -> Int? {
            pushes.overdue(for: entity, since: since, now, serverTime: now.milliseconds)
        }
        #expect(overdue(100_000) == nil, "it is not queued")
        pushes.queued(serial, at: 10_000)
        #expect(overdue(70_000) == nil)
        #expect(overdue(70_001) == serial)
        #expect(overdue(70_001, for: "bus") == nil)
        #expect(overdue(70_001, since: 10_000) == nil, "something was wrong when it was queued")
        #expect(overdue(900_000) == nil, "its time is over")
        let pending = PendingPush(id: 9, message: 4, type: 65, body: push.body, created: Timestamp(milliseconds: 0))
        let out = try pushes.handOut(pending, to: "van", at: 0)
        #expect(overdue(70_001) == serial)
        pushes.entries[out.id]?.isAcknowledged = true
        #expect(overdue(70_001) == nil)
    }

    @Test func aSilentConnectionTellsSinceWhen() {
        let loop = VirtualLoop()
        let network = VirtualNetwork(loop: loop, seed: 1)
        let connection = VirtualConnection(
            network: network, agent: VirtualSocket(side: .agent, loop: loop),
            server: VirtualSocket(side: .server, loop: loop))
        #expect(connection.silentAt == nil)
        loop.advanceTime(by: .seconds(5))
        connection.fallSilent()
        loop.advanceTime(by: .seconds(5))
        connection.fallSilent()
        #expect(connection.silentAt == .uptimeNanoseconds(5_000_000_000))
    }
}
