import AgentControl
import AgentLogic
import GNSSFeed
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackModel
import TrackTestKit

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5))) struct GatheringTests {
    /// With the default interval each fifth second makes a point.
    @Test func anEpochThatWaitsForItsEndIsTakenWhenAReloadClosesTheFeed() async throws {
        let agent = try await RunningAgent.start()
        try await agent.fix(0)
        try await agent.wait("the first point") { $0.agent.tally.gathered == 1 }
        try await agent.report(5)
        _ = try await agent.loop.flatSubmit { [agent] in
            let running = agent.parts.value.agent
            var configuration = running.configuration
            configuration.gnss.port += 1
            return running.reload(configuration)
        }.get()
        try await agent.wait("the second point") { $0.agent.tally.gathered == 2 }
        #expect(try await agent.on { $0.agent.report().feed.lastFix == nil }, "the new feed has said nothing yet")
        // The new feed goes on with what comes next.
        try await agent.fix(10)
        #expect(try await agent.stop().map(\.second) == [0, 5, 10])
    }

    /// SIGTERM comes while the last epoch waits for its end: its fix was taken, and becomes a point like any other.
    @Test func anEpochThatWaitsForItsEndIsInTheRingWhenTheAgentStops() async throws {
        let agent = try await RunningAgent.start()
        try await agent.fix(0)
        try await agent.wait("the first point") { $0.agent.tally.gathered == 1 }
        try await agent.report(5)
        #expect(try await agent.stop().map(\.second) == [0, 5])
    }
}

/// Receivers with wrong dates and without any, as far as the shell of gathering is concerned.
@Suite struct GatheringDateTests {
    /// A damaged file says any time, and a clock may have been years ahead.
    @Test(arguments: [Int64.min, -1, 0, 1_780_000_000_000, .max])
    func anyTimeMayStandInTheFileOfBefore(milliseconds: Int64) {
        let setup = GatheringShellTests.Setup()
        let shell = GatheringShell(
            setup.bench.context, feeds: setup.feeds, gnss: setup.gnss, settings: Settings(), newest: nil,
            gap: setup.gap, stopped: SystemTime(milliseconds: milliseconds)
        ) { _ in }
        let now = setup.bench.context.now
        #expect(milliseconds == .max ? shell.notGatheringSince == now : shell.notGatheringSince <= now)
    }

    /// A receiver that is a day ahead for twelve seconds silences nobody.
    @Test func aWrongDateIsGivenUpAndItsPointsAreDropped() {
        let setup = GatheringShellTests.Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        func drive(_ seconds: Range<Int64>, ahead: Int64 = 0) {
            for second in seconds {
                setup.bench.loop.advanceTime(by: .seconds(1))
                setup.fix(20_000_000 + second + ahead)
            }
        }
        drive(0..<12, ahead: 86_400)
        drive(12..<40)
        let taken = setup.taken()
        func seconds(_ ahead: Int64, _ all: [Int64]) -> [String] {
            all.map { "point \(20_000_000 + $0 + ahead) of van" }
        }
        #expect(
            taken.filter { $0.hasPrefix("point ") }
                == seconds(86_400, [0, 5, 10]) + seconds(0, [16, 21, 26, 31, 36]))
        #expect(taken.filter { $0.hasPrefix("disproved") } == ["disproved 20086400...20086411"])
        #expect(taken.contains("passed 20000017 of van") && taken.contains("fix 20000017"))
        var counters = AgentCounters()
        setup.shell.count(in: &counters)
        #expect(counters.skipped["not_later"] == 4)
    }

    /// Nobody keeps the clock, and the receiver tells no time.
    @Test func fixesWithoutATimeMakeNoPointsAndThatIsTold() {
        let setup = GatheringShellTests.Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        for _ in 0..<10 {
            setup.bench.loop.advanceTime(by: .seconds(1))
            setup.say(.report(GNSSReport(mode: 3, latitude: 52, longitude: 4)))
            setup.say(.silence)
        }
        #expect(setup.points() == [] && setup.shell.dateTrouble == .missing(isClockUsed: false))
        #expect(setup.log.ids.last == MessageID.receiverDates.description)
        var counters = AgentCounters()
        setup.shell.count(in: &counters)
        #expect(counters.skipped["without_time"] == 10)
        let dates = setup.shell.status(isWanted: true).dates
        #expect(dates?.kind == .missing && dates?.isClockUsed == false && dates?.remedy.contains("RMC or ZDA") == true)
    }

    /// The receiver tells one time for ever, and nobody keeps the clock: the vehicle is not tracked for this reason.
    @Test func aReceiverWhoseClockStandsStillIsNamed() {
        let setup = GatheringShellTests.Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        for _ in 0..<60 {
            setup.bench.loop.advanceTime(by: .seconds(1))
            setup.say(
                .report(GNSSReport(time: Timestamp(seconds: 1_795_737_600), mode: 3, latitude: 52, longitude: 4)))
            setup.say(.silence)
        }
        #expect(setup.points() == ["point 15737600 of van", "points missing"])
        #expect(setup.shell.silence?.obstacle == .clockStands)
        #expect(TrackingObstacle.clockStands.text(49).hasPrefix("the receiver's clock stands still"))
        var counters = AgentCounters()
        setup.shell.count(in: &counters)
        #expect(counters.skipped["clock_stands", default: 0] >= 45 && counters.skipped["not_later"] == 0)
        let dates = setup.shell.status(isWanted: true).dates
        #expect(dates?.kind == .standing && dates?.text.hasPrefix("the receiver's clock stands still") == true)
    }

    /// Between two fixes with a wrong date nobody has seen a right one.
    @Test func aLostFixSaysNothingOfDates() {
        let setup = GatheringShellTests.Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        func hear(_ seconds: Int) {
            for _ in 0..<seconds {
                setup.bench.loop.advanceTime(by: .seconds(1))
                setup.say(.report(GNSSReport(mode: 3, latitude: 52, longitude: 4)))
                setup.say(.silence)
            }
        }
        func told() -> Int { setup.log.ids.count { $0 == MessageID.receiverDates.description } }
        setup.say(.state(.fix))
        hear(10)
        #expect(told() == 1)
        for state in [.noFix, .unreachable(reason: "gpsd is away"), .connecting, .noFix] as [FeedState] {
            setup.say(.state(state))
            #expect(setup.shell.dateTrouble == .missing(isClockUsed: false), "\(state)")
        }
        setup.say(.state(.fix))
        hear(10)
        #expect(setup.shell.dateTrouble == .missing(isClockUsed: false) && told() == 1)
        // A right date says that the dates are right again.
        for second in 0..<3 as Range<Int64> {
            setup.bench.loop.advanceTime(by: .seconds(1))
            setup.fix(20_000_000 + second)
        }
        #expect(setup.shell.dateTrouble == nil && told() == 2)
        #expect(setup.log.fields.last { $0["message_id"] == MessageID.receiverDates.description }?["reason"] == nil)
    }

    /// Of a receiver that is gone, and after the end of the feed, nothing is known.
    @Test(arguments: [true, false]) func theDatesOfAReceiverThatIsGoneAreForgotten(closes: Bool) {
        let setup = GatheringShellTests.Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        for _ in 0..<10 {
            setup.bench.loop.advanceTime(by: .seconds(1))
            setup.say(.report(GNSSReport(mode: 3, latitude: 52, longitude: 4)))
            setup.say(.silence)
        }
        if closes { setup.shell.closeFeed() } else { setup.say(.state(.noDevice(reason: "gpsd has no receiver"))) }
        #expect(setup.shell.dateTrouble == nil)
        let told = setup.log.fields.filter { $0["message_id"] == MessageID.receiverDates.description }
        #expect(
            told.count == 2
                && told.last?["reason"]
                    == (closes ? "the receiver is not read while nobody gathers" : "there is no receiver")
        )
    }
}
