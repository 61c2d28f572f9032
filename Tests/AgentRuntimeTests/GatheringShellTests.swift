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

/// The feed's life, and which fixes become whose points.
@Suite struct GatheringShellTests {
    /// gpsd, as far as the shell sees it. What a feed says after its end is delivered too: the shell has to ignore it.
    final class Feeds: FeedSource {
        private final class Watch: OpenFeed {
            private let end: () -> Void

            init(end: @escaping () -> Void) { self.end = end }

            func stop() { end() }
        }

        /// Of every feed that was opened.
        private(set) var deliver: [@Sendable (FeedEvent) -> Void] = []
        private(set) var openCount = 0
        private(set) var tries = 0

        /// Checks the configuration, as the real source does.
        func open(
            _ gnss: AgentConfiguration.GNSS, deliver: @escaping @Sendable (FeedEvent) -> Void
        ) throws(GNSSFeedError) -> any OpenFeed {
            tries += 1
            _ = try FeedConfiguration(host: gnss.host, port: UInt16(clamping: gnss.port), device: gnss.device)
            self.deliver.append(deliver)
            openCount += 1
            return Watch { [unowned self] in openCount -= 1 }
        }
    }

    final class Setup {
        let log = EventRecorder()
        let bench: ShellBench
        let feeds = Feeds()
        var gnss: AgentConfiguration.GNSS
        private var effects: [String] = []
        /// The newest point of the process before.
        var newest: (entity: String, second: Int64)?
        /// What the process before left.
        var gap = GapMachine.Start(entity: nil, isGathering: false, memory: nil, newest: nil)
        /// What the points say of the time before them.
        private(set) var spans: [String] = []
        private(set) var memories: [OpenGap?] = []
        private(set) lazy var shell = GatheringShell(
            bench.context, feeds: feeds, gnss: gnss, settings: Settings(),
            newest: newest.map { ($0.entity, Timestamp(seconds: Self.start + $0.second)) }, gap: gap
        ) { [unowned self] effect in
            switch effect {
            case .gapIs(let memory): memories.append(memory)
            case .gapEnded: memories.append(nil)
            default: effects.append(Self.text(effect))
            }
            guard case .gathered(let point, _) = effect else { return }
            #expect(point.continuity?.interval == 5)
            for span in point.continuity?.spans ?? [] {
                let from = span.from.map { "\($0.seconds - Self.start)" } ?? "…"
                spans.append("\(span.reason.name) \(from)-\(span.until.seconds - Self.start)")
            }
        }

        init(device: String? = nil) {
            bench = ShellBench(log: log)
            gnss = AgentConfiguration.GNSS(
                host: "127.0.0.1", port: 2947, device: device, isKeptOpen: false, usesSystemClock: false)
        }

        private static func text(_ effect: GatheringShell.Effect) -> String {
            switch effect {
            case .reportArrived: "report"
            case .disproved(let dates):
                "disproved \(dates.lowerBound.seconds - start)...\(dates.upperBound.seconds - start)"
            case .fixArrived(let time): "fix \(time.seconds - start)"
            case .gathered(let point, let entity):
                "point \(point.fix.time.seconds - start) of \(entity)\(point.isParked ? ", parked" : "")"
            case .passed(let fix, let entity): "passed \(fix.time.seconds - start) of \(entity)"
            case .samplingEnds: "sampling ends"
            case .locationChanged(let location): "location \(location)"
            case .feedChanged: "feed"
            case .gatherChanged: "gather"
            case .pointsMissing(let areMissing): areMissing ? "points missing" : "points again"
            case .gapIs, .gapEnded: "gap"
            }
        }

        private static let start: Int64 = 1_780_000_000

        func taken() -> [String] {
            defer { effects = [] }
            return effects
        }

        /// What was gathered since the last look.
        func points() -> [String] { taken().filter { $0.hasPrefix("point") } }

        func say(_ event: FeedEvent, of feed: Int? = nil) {
            feeds.deliver[feed ?? feeds.deliver.count - 1](event)
            bench.loop.run()
        }

        /// A report with a place; `north`: degrees.
        func report(_ second: Int64, north: Double = 0, of feed: Int? = nil) {
            say(
                .report(
                    GNSSReport(
                        time: Timestamp(seconds: Self.start + second), mode: 3, latitude: 52 + north, longitude: 4)),
                of: feed)
        }

        func fix(_ second: Int64, north: Double = 0) {
            report(second, north: north)
            say(.silence)
        }
    }

    // MARK: Gaps

    @Test func aPointSaysWhyThereWasNone() {
        let setup = Setup()
        setup.gap = GapMachine.Start(
            entity: "van", isGathering: true, memory: nil, newest: Timestamp(seconds: 1_780_000_000 - 500))
        func pass(_ seconds: Int64) { setup.bench.loop.advanceTime(by: .seconds(seconds)) }
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        setup.fix(0)
        pass(5)
        setup.fix(5)
        #expect(setup.spans == ["off -500-0"])
        setup.say(.state(.noFix))
        pass(300)
        #expect(
            setup.memories.last??.spans == [
                GapSpan(.noFix, from: Timestamp(seconds: 1_780_000_005), until: Timestamp(seconds: 1_780_000_305))
            ])
        pass(60)
        setup.shell.stop(entity: "van", by: .person)
        pass(100)
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        setup.fix(465)
        #expect(setup.spans.dropFirst() == ["no_fix 5-365", "stopped 365-465"])
        #expect(setup.memories.last == .some(nil))
        // The end of the process remembers an open gap.
        setup.say(.state(.noDevice(reason: "unplugged")))
        pass(60)
        setup.shell.shutDown()
        #expect(setup.memories.last??.spans.map(\.reason) == [.noReceiver])
    }

    /// gpsd does not say that the receiver is gone, and the feed finds out half a minute later.
    @Test func aReceiverThatWasPulledOutIsNoMissingFix() {
        let setup = Setup()
        func pass(_ seconds: Int64) { setup.bench.loop.advanceTime(by: .seconds(seconds)) }
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        setup.fix(0)
        pass(5)
        setup.fix(5)
        pass(10)
        setup.say(.state(.noFix))
        pass(20)
        setup.say(.state(.noDevice(reason: "it has sent nothing for 30 s")))
        pass(300)
        setup.say(.state(.fix))
        setup.fix(335)
        #expect(setup.spans.last == "no_receiver 5-335")
    }

    // MARK: Points

    @Test func pointsThatAreMissingAreToldOnce() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        setup.fix(0)
        // The cache has taken it.
        let first = Fix(time: Timestamp(seconds: 1_780_000_000), coordinate: Coordinate(latitude: 52, longitude: 4)!)
        setup.shell.appended(TrackPoint(first))
        _ = setup.taken()
        for _ in 0..<40 {
            setup.bench.loop.advanceTime(by: .seconds(1))
            setup.fix(0)
        }
        #expect(setup.taken().filter { $0.hasPrefix("points") } == ["points missing"])
        let silence = setup.shell.silence
        #expect(silence?.obstacle == .clockStands && silence.map { $0.rejected >= 25 } == true)
        setup.fix(60)
        setup.shell.appended(TrackPoint(first))
        #expect(setup.taken().filter { $0.hasPrefix("points") } == ["points again"])
        #expect(setup.shell.silence == nil)
    }

    /// A receiver that sends only GGA and GSA, as gpsd reports it.
    @Test func fixesWithoutATimeAreNamed() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.say(.state(.fix))
        for _ in 0..<31 {
            setup.bench.loop.advanceTime(by: .seconds(1))
            setup.say(.report(GNSSReport(mode: 3, latitude: 52, longitude: 4)))
        }
        #expect(setup.shell.silence?.obstacle == .noTime)
    }

    @Test func eachEffectHasItsTurn() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        #expect(setup.taken() == ["feed", "location unknown", "gather"])
        setup.say(.state(.fix))
        setup.fix(0)
        #expect(
            setup.taken() == ["feed", "location available", "report", "fix 0", "point 0 of van", "passed 0 of van"])
        setup.report(5)
        setup.shell.stop(entity: "van", by: .person)
        // The epoch that waited belongs to the gathering that ends.
        #expect(setup.taken() == ["report", "fix 5", "point 5 of van", "passed 5 of van", "sampling ends", "gather"])
        setup.fix(10)
        #expect(setup.taken() == ["report", "fix 10"])
    }

    /// Local fences judge what comes between two points too, but no fix that cannot be right.
    @Test func everyRightFixPassesWhateverTheInterval() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        for second: Int64 in 0..<5 { setup.fix(second) }
        setup.fix(3)
        setup.fix(6, north: 40)
        let taken = setup.taken()
        #expect(taken.filter { $0.hasPrefix("passed") } == (0..<5).map { "passed \($0) of van" })
        #expect(taken.filter { $0.hasPrefix("point") } == ["point 0 of van"])
    }

    @Test func whatTheProcessBeforeGatheredMakesNoPointOfItsEntity() {
        let setup = Setup()
        setup.newest = ("van", 10)
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        for second: Int64 in [9, 10, 11] { setup.fix(second) }
        #expect(setup.points() == ["point 11 of van"])
        setup.shell.start(entity: "bus")
        setup.fix(12)
        setup.shell.start(entity: "van")
        setup.fix(13)
        #expect(setup.points() == ["point 12 of bus", "point 13 of van"])
    }

    /// The newest point is remembered when the entity comes back at once.
    @Test func anEntityThatComesBackGathersNoFixAgain() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.fix(5)
        setup.shell.start(entity: "bus")
        setup.shell.start(entity: "van")
        setup.fix(5)
        setup.fix(6)
        #expect(setup.points() == ["point 5 of van", "point 6 of van"])
    }

    @Test func nothingIsGatheredOnceTheAgentStops() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.report(0)
        setup.shell.shutDown()
        // The epoch that waited belongs to the gathering that ends.
        #expect(setup.points() == ["point 0 of van"])
        #expect(setup.feeds.openCount == 0 && !setup.shell.isSampling)
        setup.report(5)
        setup.bench.loop.advanceTime(by: .hours(1))
        #expect(setup.taken() == [] && setup.feeds.openCount == 0)
    }

    @Test func timeNeverGoesBackForOneEntityAndMayForAnother() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        setup.fix(100)
        setup.shell.stop(entity: "van", by: .person)
        setup.shell.start(entity: "van")
        setup.fix(95)
        #expect(setup.points() == ["point 100 of van"])
        setup.shell.stop(entity: "van", by: .person)
        setup.shell.start(entity: "bus")
        setup.fix(96)
        #expect(setup.points() == ["point 96 of bus"])
        var counters = AgentCounters()
        setup.shell.count(in: &counters)
        // What the sampler of the first entity has counted stays counted.
        #expect(counters.fixes == 3 && counters.skipped["not_later"] == 1)
    }

    @Test func aStayThatIsForgottenIsTold() {
        let setup = Setup()
        setup.shell.setOptions(LocationOptions(parking: ParkingOptions(delay: 60, interval: 30)))
        setup.shell.openFeed()
        setup.shell.start(entity: "van")
        for second in 0...60 { setup.fix(Int64(second)) }
        #expect(setup.shell.status(isWanted: true).parkedSince != nil)
        #expect(setup.log.ids.last == MessageID.vehicleParked.description)
        _ = setup.taken()
        setup.shell.setOptions(LocationOptions())
        #expect(setup.taken() == ["gather"])
        #expect(setup.shell.status(isWanted: true).parkedSince == nil)
        // Nobody has seen it move.
        #expect(setup.log.ids.last == MessageID.vehicleParked.description)
        setup.shell.setOptions(LocationOptions(distanceFilter: 10))
        #expect(setup.taken() == [])
    }

    // MARK: The feed

    @Test func whatAFeedSaysAfterItsEndIsIgnored() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.shell.openFeed()
        #expect(setup.feeds.openCount == 1)
        setup.shell.closeFeed()
        setup.shell.closeFeed()
        _ = setup.taken()
        setup.report(0)
        setup.say(.state(.fix))
        #expect(setup.taken() == [] && setup.shell.feedState == .stopped)
        setup.shell.openFeed()
        _ = setup.taken()
        setup.report(0, of: 0)
        setup.say(.state(.noDevice(reason: "of the feed before")), of: 0)
        #expect(setup.taken() == [] && setup.shell.feedState == .connecting)
        setup.fix(0)
        #expect(setup.taken() == ["report", "fix 0"])
    }

    @Test func aReloadOpensAnotherFeedOfWhichNothingIsKnown() {
        let setup = Setup()
        setup.shell.openFeed()
        setup.say(.state(.unreachable(reason: "nobody at port 2947")))
        setup.gnss.isKeptOpen = true
        _ = setup.taken()
        setup.shell.reconfigure(setup.gnss)
        #expect(setup.taken() == [] && setup.feeds.tries == 1)
        setup.gnss.port = 2948
        setup.shell.reconfigure(setup.gnss)
        #expect(setup.taken() == ["feed", "feed", "location unknown"])
        #expect(setup.feeds.openCount == 1 && setup.shell.feedState == .connecting)
        setup.shell.closeFeed()
        setup.gnss.port = 2947
        setup.shell.reconfigure(setup.gnss)
        #expect(setup.feeds.openCount == 0)
    }

    private static let impossible = String(repeating: "x", count: 128)

    @Test func aFeedThatCannotBeOpenedIsOpenedWhenAReloadMendsIt() throws {
        let setup = Setup(device: Self.impossible)
        setup.shell.openFeed()
        #expect(setup.taken().first == "feed")
        guard case .unreachable(let reason) = setup.shell.feedState else {
            Issue.record("the feed is \(setup.shell.feedState)")
            return
        }
        #expect(reason.contains(Self.impossible))
        setup.gnss.device = "/dev/ttyACM0"
        setup.shell.reconfigure(setup.gnss)
        #expect(setup.feeds.openCount == 1)
        #expect(setup.taken().last == "location unknown")
    }

    @Test func aFeedThatCannotBeOpenedIsTriedAgainWhileItIsWanted() {
        let setup = Setup(device: Self.impossible)
        setup.shell.openFeed()
        setup.bench.loop.advanceTime(by: .seconds(29))
        #expect(setup.feeds.tries == 1)
        _ = setup.taken()
        setup.bench.loop.advanceTime(by: .seconds(1))
        #expect(setup.feeds.tries == 2)
        // The status is as before.
        #expect(!setup.taken().contains("feed"))
        setup.shell.closeFeed()
        #expect(setup.shell.feedState == .stopped && setup.taken() == ["feed"])
        setup.bench.loop.advanceTime(by: .hours(1))
        #expect(setup.feeds.tries == 2)
    }
}
