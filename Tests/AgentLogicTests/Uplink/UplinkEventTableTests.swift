import Testing
import TrackTestKit

@testable import AgentLogic

/// Every event in every phase, of the present link and of an earlier one.
struct UplinkEventTableTests {
    private typealias Event = (inout UplinkMachine, LinkID) -> [UplinkAction]

    private static let read = ReadID(link: LinkID(rawValue: 1), number: 1)

    /// What a link tells: from an earlier link it must never change anything.
    private static var linkEvents: [(String, Event)] {
        [
            ("transportConnected", { $0.transportConnected($1, now: 1) }),
            ("connected", { $0.connected($1, now: 1) }),
            ("connectFailed", { $0.connectFailed($1, lost, now: 1) }),
            ("welcome", { $0.welcome($1, storedThrough: 3, heartbeatSeconds: 0, limits: UplinkLimits(), now: 1) }),
            ("refused", { $0.refused($1, keyRefused, retryAfterSeconds: 0, now: 1) }),
            ("linkClosed", { $0.linkClosed($1, lost, now: 1) }),
            ("closing", { $0.closing($1, LinkTrouble(.server, "maintenance"), retryAfterSeconds: 5, now: 1) }),
            ("protocolViolated", { $0.protocolViolated($1, reason: "no frame", now: 1) }),
            ("frameReceived", { $0.frameReceived($1, now: 1) }),
            (
                "frameSent",
                {
                    $0.frameSent($1, now: 1)
                    return []
                }
            ),
            (
                "frameArriving",
                {
                    $0.frameArriving($1, now: 1)
                    return []
                }
            ),
            ("uploadAcknowledged", { $0.uploadAcknowledged($1, through: 50, now: 1) }),
            ("cacheConfirmed", { $0.cacheConfirmed($1, first: 1, next: 101, isNewStream: false, now: 1) }),
            ("cacheConfirmed anew", { $0.cacheConfirmed($1, first: 1, next: 101, isNewStream: true, now: 1) }),
        ]
    }

    private static var otherEvents: [(String, Event)] {
        let events: [(String, Event)] = [
            ("start", { machine, _ in machine.start(first: 1, next: 101, now: 1) }),
            ("stop", { machine, _ in machine.stop(drainThrough: 100, deadline: 1000, now: 1) }),
            ("streamChanged", { machine, _ in machine.streamChanged(first: 1, next: 5, now: 1) }),
            ("pointsAppended", { machine, _ in machine.pointsAppended(next: 300, now: 1) }),
            ("batch", { machine, _ in machine.batchRead(read, .batch(first: 1, count: 9, bytes: 9), now: 1) }),
            ("nothing", { machine, _ in machine.batchRead(read, .nothing, now: 1) }),
            ("unreadable", { machine, _ in machine.batchRead(read, .unreadable, now: 1) }),
            ("intervalsChanged", { machine, _ in machine.intervalsChanged(gather: 2, pack: 2, now: 1) }),
            ("healthChanged", { machine, _ in machine.healthChanged(now: 1) }),
            ("answerOverdue", { machine, _ in machine.answerOverdue(now: 1) }),
            ("networkChanged", { machine, _ in machine.networkChanged(now: 1) }),
            ("reconnectRequested", { machine, _ in machine.reconnectRequested(now: 1) }),
            ("loginRequested", { machine, _ in machine.loginRequested(now: 1) }),
            ("loginRequested late", { machine, _ in machine.loginRequested(now: 9000) }),
            ("trustChanged", { machine, _ in machine.trustChanged(now: 1) }),
            ("networkChanged late", { machine, _ in machine.networkChanged(now: 9000) }),
            ("reconnectRequested late", { machine, _ in machine.reconnectRequested(now: 9000) }),
            ("configurationChanged", { machine, _ in machine.configurationChanged(now: 1) }),
        ]
        let timers: [(String, Event)] = UplinkTimer.allCases.map { timer in
            ("\(timer) fires", { machine, _ in machine.timerFired(timer, now: 1_000_000) })
        }
        return events + timers
    }

    @Test(arguments: UplinkSetup.allCases) func whatAnEarlierLinkStillTellsChangesNothing(_ setup: UplinkSetup) {
        for (name, event) in Self.linkEvents {
            var machine = setup.make()
            let before = machine
            #expect(event(&machine, LinkID(rawValue: 0)) == [], "\(name)")
            if setup != .off { #expect(machine == before, "\(name)") }
        }
    }

    @Test(arguments: UplinkSetup.allCases) func everyEventLeavesAPhaseThatEndsByItself(_ setup: UplinkSetup) {
        for (name, event) in Self.linkEvents + Self.otherEvents {
            var machine = setup.make()
            var watch = UplinkRecorder(machine)
            if name == "linkClosed" || name == "connectFailed" { watch.ended() }
            let actions = event(&machine, machine.link)
            watch.saw(actions, machine)
            #expect(watch.problems == [], "\(name) in \(setup)")
        }
    }

    @Test(arguments: UplinkSetup.allCases) func aRepeatedEventOfTheLinkDoesNothingTwice(_ setup: UplinkSetup) {
        for (name, event) in Self.linkEvents {
            var machine = setup.make()
            let link = machine.link
            _ = event(&machine, link)
            let again = event(&machine, link)
            let isOutward = again.contains {
                switch $0 {
                case .connect, .sendHello, .confirmCache, .closeLink, .finished, .sendGoodbye, .acknowledgeCache: true
                default: false
                }
            }
            #expect(!isOutward, "\(name) in \(setup) did \(again)")
        }
    }

    @Test func whenItIsOffOnlyStartingDoesSomething() {
        for (name, event) in Self.linkEvents + Self.otherEvents where name != "start" {
            var machine = UplinkSetup.off.make()
            let actions = event(&machine, machine.link)
            switch name {
            case "stop": #expect(actions == [.finished(drained: false)])
            case "batch": #expect(actions == [.discard(Self.read)])
            default: #expect(actions == [], "\(name)")
            }
        }
    }
}

/// What must hold after every event, whoever drives the machine.
struct UplinkRecorder {
    private(set) var problems: [String] = []
    private var live: LinkID?
    private var hasHello = false
    private var armed: Set<UplinkTimer>
    private var finished = 0

    init(_ machine: UplinkMachine) {
        armed = Set(UplinkTimer.allCases.filter { machine.context.timers.isArmed($0) })
        switch machine.phase {
        case .off, .waiting: break
        case .connecting, .handshaking: live = machine.link
        case .loggingIn, .online: (live, hasHello) = (machine.link, true)
        }
    }

    mutating func fired(_ timer: UplinkTimer) { armed.remove(timer) }

    /// The peer or the network ended the link.
    mutating func ended() { live = nil }

    mutating func saw(_ actions: [UplinkAction], _ machine: UplinkMachine) {
        for action in actions {
            switch action {
            case .connect(let id):
                if let live { problems.append("connects beside \(live)") }
                (live, hasHello) = (id, false)
            case .closeLink(let id):
                if live != id { problems.append("closes \(id), which is not open") }
                live = nil
            case .sendHello:
                if hasHello { problems.append("a second hello") }
                hasHello = true
            case .sendUpload, .sendHeartbeat, .sendLiveHint, .sendGoodbye, .confirmCache:
                if live == nil || !hasHello { problems.append("sends before the login: \(action)") }
            case .setTimer(let timer, let milliseconds):
                if milliseconds < 0 { problems.append("a negative time") }
                armed.insert(timer)
            case .cancelTimer(let timer): armed.remove(timer)
            case .finished: finished += 1
            case .read, .discard, .acknowledgeCache, .serverAhead, .report: break
            }
        }
        check(machine)
    }

    private mutating func check(_ machine: UplinkMachine) {
        switch machine.phase {
        case .off:
            if machine.state != .closed { problems.append("off, and reported as \(machine.state)") }
            if armed.contains(where: { machine.context.timers.isArmed($0) }) { problems.append("off with a timer") }
        case .connecting, .handshaking, .loggingIn, .waiting:
            if !machine.context.timers.isArmed(.step) { problems.append("\(machine.phase) for ever") }
        case .online(let session):
            if !machine.context.timers.isArmed(.heartbeat) { problems.append("online without a heartbeat") }
            if !session.window.isEmpty, !machine.context.timers.isArmed(.acknowledgement) {
                problems.append("waits for an answer for ever")
            }
            if session.window.batches.count > session.window.limits.windowBatches {
                problems.append("beyond the window")
            }
            if session.window.bytes > session.window.limits.windowBytes, session.window.batches.count > 1 {
                problems.append("beyond the window's bytes")
            }
            if machine.stopping != nil, !machine.context.timers.isArmed(.drain) { problems.append("drains for ever") }
        }
    }
}
