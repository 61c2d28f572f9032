import AgentLogic
import GNSSFeed
import Testing
import TrackModel
import TrackTestKit

@testable import AgentRuntime

/// Whether the vehicle is tracked, by every cause that may keep it from it. The oracle is the definition of docs/terms.md: it is
/// tracked when a point that it gathers now reaches the server without help from a person, at once or later.
@Suite struct TrackedVerdictTests {
    private static let now = MonotonicTime(milliseconds: 900_000)
    private static let since = MonotonicTime(milliseconds: 840_000)

    private func facts(_ change: (inout TrackedFacts) -> Void = { _ in }) -> TrackedFacts {
        var facts = TrackedFacts(
            now: Self.now, service: .online(entity: "v"), isGathering: true, notGatheringSince: Self.since, feed: .fix,
            hasPoint: true, silence: nil, isCacheInMemory: false, loss: nil, link: .online, refusal: nil,
            certificateLeft: 1000)
        change(&facts)
        return facts
    }

    private func verdict(_ change: (inout TrackedFacts) -> Void) -> TrackedVerdict { TrackedVerdict(facts(change)) }

    @Test func everythingRightIsTracked() {
        let right = TrackedVerdict(facts())
        #expect(right.isTracked && right.obstacles == [])
        #expect(right.reason == "points are gathered and uploaded")
    }

    // MARK: Service and gathering

    @Test func whatAPersonHasToldTheAgentIsNamedWithItsRemedy() {
        let trouble = LinkTrouble(.network, "no route")
        let states: [(ServiceMachine.ServiceState, TrackingObstacle?)] = [
            (.stopped, .serviceStopped), (.stopping(entity: "v"), .serviceStopped), (.starting(entity: "v"), nil),
            (.online(entity: "v"), nil), (.offline(entity: "v", trouble), nil),
        ]
        for (state, expected) in states {
            let found = verdict { $0.service = state }
            #expect(found.obstacles.map(\.kind) == [expected].compactMap(\.self), "\(state)")
            #expect(found.obstacles.first.map { $0.since == Self.since } ?? true)
        }
        #expect(verdict { $0.service = .stopped }.reason == "the service is not started: saker service start")
        let off = verdict { $0.isGathering = false }
        #expect(off.obstacles.map(\.kind) == [.gatheringOff])
        #expect(off.reason == "gathering is off: saker gather start")
    }

    // MARK: The receiver

    @Test func everyStateOfTheFeedWithPointsAndWithout() {
        let silence = PointProgressMonitor.Silence(since: Self.since)
        /// With points a moment ago; before the first point; for a minute without points.
        let states: [(FeedState, recent: TrackingObstacle?, first: TrackingObstacle?, silent: TrackingObstacle)] = [
            (.stopped, nil, .noReceiver, .noReceiver), (.connecting, nil, .noReceiver, .noReceiver),
            (.unreachable(reason: "x"), .noReceiver, .noReceiver, .noReceiver),
            (.permissionDenied(reason: "x"), .noReceiver, .noReceiver, .noReceiver),
            (.noDevice(reason: "x"), .noReceiver, .noReceiver, .noReceiver), (.noFix, nil, .noFix, .noFix),
            (.fix, nil, nil, .noPoints),
        ]
        for (feed, recent, first, silent) in states {
            #expect(verdict { $0.feed = feed }.obstacles.first?.kind == recent, "\(feed)")
            #expect(verdict { ($0.feed, $0.hasPoint) = (feed, false) }.obstacles.first?.kind == first, "\(feed)")
            let found = verdict { ($0.feed, $0.silence) = (feed, silence) }
            #expect(found.obstacles.first?.kind == silent, "\(feed)")
            #expect(found.obstacles.first?.since == Self.since)
        }
        #expect(verdict { $0.feed = .noDevice(reason: "gpsd has no receiver") }.reason == "gpsd has no receiver")
    }

    // MARK: The gates

    /// The gate and its count are named, and nobody is told that points are gathered.
    @Test(arguments: [
        TrackingObstacle.noTime, .notLater, .unconfirmedTime, .inaccurate, .implausible,
    ])
    func everyGateThatRejectsTheFixesIsNamedWithItsCount(_ gate: TrackingObstacle) {
        let found = verdict {
            $0.silence = PointProgressMonitor.Silence(since: Self.since, obstacle: gate, rejected: 79)
        }
        #expect(found.obstacles.map(\.kind) == [gate])
        #expect(found.obstacles.first?.rejected == 79)
        #expect(found.reason.hasPrefix("no point for 60 s: 79 fixes "), "\(found.reason)")
        // A fix that comes and goes does not hide it.
        let going = verdict {
            ($0.feed, $0.silence) = (
                .noFix, PointProgressMonitor.Silence(since: Self.since, obstacle: gate, rejected: 79)
            )
        }
        #expect(going.obstacles.map(\.kind) == [gate])
    }

    @Test func datesThatDisagreeExplainTimesThatAreRejected() {
        let dates = DateTrouble.disagreement(
            receiver: Timestamp(seconds: 2_066_860_800), clock: Timestamp(seconds: 1_795_737_600), isClockUsed: false)
        let observation = "the receiver's date is 2035-07-01; the computer's clock says 2026-11-27"
        for gate in [TrackingObstacle.notLater, .unconfirmedTime] {
            let found = verdict {
                ($0.dates, $0.silence) = (
                    dates, PointProgressMonitor.Silence(since: Self.since, obstacle: gate, rejected: 40)
                )
            }
            #expect(found.obstacles.map(\.kind) == [.wrongDate])
            #expect(found.reason.contains(observation) && found.reason.contains("40 fixes"))
            // No point is made: nobody says what time points have.
            #expect(!found.reason.contains("points have"), "\(found.reason)")
        }
        // While points are made it is a remark.
        let made = verdict { $0.dates = dates }
        #expect(made.isTracked && made.reason.contains("\(observation): points have the receiver's time"))
    }

    /// Points were made a moment ago, and none can be made now.
    @Test func aFixWithoutADateIsToldAtOnce() {
        let standing = Timestamp(seconds: 1_795_737_600)
        for (dates, kind) in [
            (DateTrouble.missing(isClockUsed: false), TrackingObstacle.noTime),
            (.standing(receiver: standing, isClockUsed: false), .clockStands),
        ] {
            let found = verdict { ($0.dates, $0.rejected) = (dates, [kind: 6, .notLater: 2]) }
            #expect(found.obstacles.map(\.kind) == [kind])
            // The server tells the operator how many.
            #expect(found.obstacles.first?.rejected == 6)
            #expect(!found.reason.contains("gathered") && found.reason.contains("no points are made"))
        }
        let clock = verdict { $0.dates = .missing(isClockUsed: true) }
        #expect(clock.isTracked && clock.reason.contains("points have the time of the computer's clock"))
    }

    /// A person has asked for no points of a vehicle that stands.
    @Test func aVehicleThatStandsStillWithinItsDistanceFilterIsTracked() {
        let found = verdict { $0.unmoved = 120 }
        #expect(found.isTracked)
        #expect(found.reason.contains("120 fixes") && found.reason.contains("distance filter"))
    }

    // MARK: The cache

    @Test func aDiskThatLosesPointsNeedsAPerson() {
        let full = verdict { $0.isCacheInMemory = true }
        #expect(full.isTracked)
        let losing = verdict {
            $0.isCacheInMemory = true
            $0.loss = TrackedFacts.Loss(reason: "memory is full", since: Self.since)
        }
        #expect(losing.obstacles.map(\.kind) == [.losingPoints])
        #expect(losing.reason == "points are lost: memory is full")
    }

    // MARK: The link

    /// What needs a person, written down here once more, without the code's own words.
    private static let needing: Set<String> = [
        "certificate_expired", "certificate_not_yet_valid", "certificate_untrusted", "certificate_wrong_name",
        "pin_mismatch", "client_certificate_refused", "key_refused", "service_unknown", "revoked", "cloned",
        "parameter_refused", "credentials_unusable", "protocol_version", "alpn_mismatch", "client_certificate_expired",
        "server_unable",
    ]
    private static let ofTime: Set<String> = ["certificate_expired", "certificate_not_yet_valid"]

    @Test(arguments: LinkTrouble.Cause.allCases)
    func everyCauseOfATrouble(_ cause: LinkTrouble.Cause) {
        for kind in [LinkTrouble.Kind.network, .timeout, .tls, .authentication, .parameter, .configuration, .server] {
            let trouble = LinkTrouble(kind, "a sentence", cause: cause)
            // A certificate that is refused for a time that may be wrong heals with the first fix, or when the clock is set.
            let mayHeal = Self.ofTime.contains(cause.rawValue) && kind != .authentication
            #expect(trouble.needsPerson == (Self.needing.contains(cause.rawValue) && !mayHeal), "\(kind)")
        }
        let trouble = LinkTrouble(.authentication, "a sentence", cause: cause)
        var watch = LinkLog(since: SystemTime(milliseconds: 0))
        // Each try passes through other states, and nothing is better meanwhile.
        for state in [
            LinkState.connecting, .handshaking, .loggingIn, .refused(until: Self.now + 300_000, trouble), .connecting,
            .handshaking, .loggingIn,
        ] { _ = watch.change(state, now: Self.since, at: SystemTime(milliseconds: 0)) }
        let found = verdict {
            ($0.service, $0.link, $0.refusal) = (.offline(entity: "v", trouble), watch.state, watch.refusal)
        }
        let isNeeded = Self.needing.contains(cause.rawValue)
        #expect(found.isTracked == !isNeeded)
        #expect(found.obstacles.map(\.kind) == (isNeeded ? [.loginRefused] : []))
        if isNeeded { #expect(found.reason.contains("a sentence") && found.reason.contains("saker doctor")) }
        _ = watch.change(.online, now: Self.now, at: SystemTime(milliseconds: 0))
        #expect(watch.refusal == nil)
    }

    @Test func aTroubleWithoutACauseIsJudgedByItsKind() {
        let kinds: [(LinkTrouble.Kind, Bool)] = [
            (.network, false), (.timeout, false), (.tls, false), (.server, false), (.authentication, true),
            (.parameter, true), (.configuration, true), (.protocolViolation, true),
        ]
        for (kind, isNeeded) in kinds { #expect(LinkTrouble(kind, "x").needsPerson == isNeeded, "\(kind)") }
    }

    /// A revoked vehicle that loses its network as well is still revoked; a stranger's certificate belongs to a network.
    @Test func arefusalLastsUntilASessionAndAStrangerOnlyAsLongAsTheNetwork() {
        for (cause, lasts) in [(LinkTrouble.Cause.revoked, true), (.certificateUntrusted, false)] {
            var watch = LinkLog(since: SystemTime(milliseconds: 0))
            let refused = LinkTrouble(.authentication, "x", cause: cause)
            _ = watch.change(.refused(until: Self.now, refused), now: Self.since, at: SystemTime(milliseconds: 0))
            let gone = LinkTrouble(.network, "no route", cause: .networkUnreachable)
            _ = watch.change(.waiting(until: Self.now, gone), now: Self.now, at: SystemTime(milliseconds: 0))
            #expect((watch.refusal != nil) == lasts, "\(cause)")
            #expect(watch.refusal.map { $0.since == Self.since } ?? true)
        }
    }

    /// The certificate may be good at the other time, and the vehicle without a network cannot find out.
    @Test(arguments: LinkTrouble.Cause.allCases)
    func aRefusalForTheTimeEndsWithTheTime(_ cause: LinkTrouble.Cause) {
        var watch = LinkLog(since: SystemTime(milliseconds: 0))
        let refused = LinkTrouble(.authentication, "x", cause: cause)
        _ = watch.change(.refused(until: Self.now, refused), now: Self.since, at: SystemTime(milliseconds: 0))
        let isRefused = watch.refusal != nil
        watch.timeHasChanged()
        #expect((watch.refusal != nil) == (isRefused && !Self.ofTime.contains(cause.rawValue)))
    }

    @Test func offlineIsTrackedToo() {
        let waiting = verdict { $0.link = .waiting(until: 5, LinkTrouble(.network, "no route")) }
        #expect(waiting.isTracked)
        #expect(waiting.reason == "no route; points are kept on disk")
        let memory = verdict { ($0.link, $0.isCacheInMemory) = (.connecting, true) }
        #expect(memory.isTracked && memory.reason.contains("memory"))
        for state in [LinkState.closed, .handshaking, .loggingIn, .closing] {
            #expect(verdict { $0.link = state }.isTracked, "\(state)")
        }
    }

    @Test func anOwnCertificateThatHasEndedNeedsAPerson() {
        for (left, isTracked) in [(nil, true), (1, true), (0, true), (-1, false), (.min, false)] as [(Int64?, Bool)] {
            let found = verdict { $0.certificateLeft = left }
            #expect(found.isTracked == isTracked, "\(left ?? 0)")
            #expect(found.obstacles.map(\.kind) == (isTracked ? [] : [.certificateEnded]))
        }
    }

    /// A person who mends one thing should not find the next one tomorrow.
    @Test func everyObstacleIsNamed() {
        let found = verdict {
            $0.feed = .noDevice(reason: "gpsd has no receiver")
            $0.loss = TrackedFacts.Loss(reason: "memory is full", since: Self.since)
            $0.refusal = (LinkTrouble(.authentication, "revoked", cause: .revoked), Self.since)
            $0.certificateLeft = -5
        }
        #expect(found.obstacles.map(\.kind) == [.noReceiver, .losingPoints, .loginRefused, .certificateEnded])
        #expect(found.obstacles.allSatisfy { found.reason.contains($0.text) })
    }
}
