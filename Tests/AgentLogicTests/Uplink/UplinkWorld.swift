import TrackModel
import TrackTestKit

@testable import AgentLogic

/// A cache, a server, a network and a clock around one machine; everything at random, and repeatable from the seed.
struct UplinkWorld {
    private enum Event {
        case link(LinkID, (inout UplinkMachine, LinkID, MonotonicTime) -> [UplinkAction])
        case read(ReadID, UplinkMachine.ReadOutcome)
        case confirmed(LinkID)
        /// An upload arrives at the server.
        case upload(LinkID, first: UInt64, count: UInt64)
        case hello(LinkID)
        /// A connection cannot be made.
        case fails(LinkID)
        case point
        case mischief
    }

    private(set) var machine: UplinkMachine
    private(set) var problems: [String] = []
    /// Sequences the cache took, and those the server stored, in the order of storing.
    private(set) var appended: [UInt64] = []
    private(set) var stored: [UInt64] = []
    private(set) var timersFired = 0

    private var generator: TestGenerator
    private var isHostile: Bool
    private var isGathering = true
    private var now: MonotonicTime = 0
    private var queue: [(at: MonotonicTime, order: Int, event: Event)] = []
    private var order = 0
    private var timers: [UplinkTimer: MonotonicTime] = [:]
    private var watch: UplinkRecorder
    private var open: LinkID?
    /// The cache's own: next sequence, and what the server has said it owns.
    private var next: UInt64 = 1
    private var released: UInt64 = 0
    private var prepared: (id: ReadID, first: UInt64, count: UInt64)?

    init(seed: UInt64, isHostile: Bool) {
        generator = TestGenerator(seed: seed)
        self.isHostile = isHostile
        machine = UplinkMachine(gatherInterval: 5, packInterval: 30, seed: seed, sendsLiveHint: true)
        watch = UplinkRecorder(machine)
        perform(machine.start(first: 1, next: 1, now: 0))
        schedule(.point, after: 0)
        if isHostile { schedule(.mischief, after: 1000) }
    }

    mutating func run(until end: MonotonicTime) {
        while problems.isEmpty, step(until: end) {}
        now = max(now, end)
    }

    /// No more points and no more mischief: everything must arrive in the end.
    mutating func settle() {
        isHostile = false
        isGathering = false
        run(until: now + 3_600_000)
    }

    private mutating func step(until end: MonotonicTime) -> Bool {
        let event = queue.indices.min { (queue[$0].at, queue[$0].order) < (queue[$1].at, queue[$1].order) }
        let timer = timers.min { ($0.value, "\($0.key)") < ($1.value, "\($1.key)") }
        let eventAt = event.map { queue[$0].at } ?? .distantFuture
        guard min(eventAt, timer?.value ?? .distantFuture) <= end else { return false }
        if let timer, timer.value <= eventAt {
            now = timer.value
            timers[timer.key] = nil
            timersFired += 1
            perform(machine.timerFired(timer.key, now: now))
        } else if let event {
            let (at, _, what) = queue.remove(at: event)
            now = at
            handle(what)
        }
        return true
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .link(let id, let tell): perform(tell(&machine, id, now))
        case .fails(let id):
            guard id == machine.link else { return }
            endLink(id) { $0.connectFailed($1, lost, now: $2) }
        case .read(let id, let outcome): perform(machine.batchRead(id, outcome, now: now))
        case .confirmed(let id):
            perform(machine.cacheConfirmed(id, first: released + 1, next: next, isNewStream: false, now: now))
        case .hello(let id):
            guard id == open else { return }
            let through = stored.last ?? 0
            answer(id) {
                $0.welcome(
                    $1, storedThrough: through, heartbeatSeconds: 0, healthSeconds: 60,
                    limits: UplinkLimits(batchPoints: 40), now: $2)
            }
        case .upload(let id, let first, let count):
            guard id == open else { return }
            let last = stored.last ?? 0
            if first > last + 1 { problems.append("the server has \(last), and \(first) comes") }
            if first + count - 1 > last { stored += (last + 1)...(first + count - 1) }
            let through = stored.last ?? 0
            answer(id) { $0.uploadAcknowledged($1, through: through, now: $2) }
        case .point:
            guard isGathering else { return }
            appended.append(next)
            next += 1
            perform(machine.pointsAppended(next: next, now: now))
            schedule(.point, after: 5000)
        case .mischief:
            guard isHostile else { return }
            makeMischief()
            schedule(.mischief, after: Int64.random(in: 0...40_000, using: &generator))
        }
    }

    private mutating func makeMischief() {
        let link = machine.link
        switch Int.random(in: 0..<9, using: &generator) {
        case 0, 1: endLink(link) { $0.linkClosed($1, lost, now: $2) }
        // The network swallows everything from here on, and nobody is told.
        case 2, 3: open = nil
        case 4: perform(machine.closing(link, LinkTrouble(.server, "maintenance"), retryAfterSeconds: 3, now: now))
        case 5: perform(machine.networkChanged(now: now))
        case 6: perform(machine.reconnectRequested(now: now))
        case 7: perform(machine.configurationChanged(now: now))
        default: perform(machine.uploadAcknowledged(LinkID(rawValue: link.rawValue &- 1), through: .max, now: now))
        }
    }

    private mutating func endLink(
        _ link: LinkID, _ tell: (inout UplinkMachine, LinkID, MonotonicTime) -> [UplinkAction]
    ) {
        open = nil
        let actions = tell(&machine, link, now)
        watch.ended()
        perform(actions)
    }

    private mutating func answer(
        _ id: LinkID, _ tell: @escaping (inout UplinkMachine, LinkID, MonotonicTime) -> [UplinkAction]
    ) {
        schedule(.link(id, tell), after: Int64.random(in: 1...80, using: &generator))
    }

    private mutating func schedule(_ event: Event, after delay: Int64) {
        order += 1
        queue.append((now + delay, order, event))
    }

    private mutating func perform(_ actions: [UplinkAction]) {
        watch.saw(actions, machine)
        problems += watch.problems
        for action in actions { perform(action) }
    }

    private mutating func perform(_ action: UplinkAction) {
        switch action {
        case .connect(let id):
            open = id
            let fails = isHostile && Int.random(in: 0..<4, using: &generator) == 0
            schedule(
                fails ? .fails(id) : .link(id) { $0.connected($1, now: $2) },
                after: Int64.random(in: 1...(isHostile ? 25_000 : 200), using: &generator))
        case .sendHello(let id): schedule(.hello(id), after: 20)
        case .confirmCache(let id, let through):
            released = max(released, through)
            schedule(.confirmed(id), after: 2)
        case .read(let id, let after, let points, _): read(id, after: after, points: points)
        case .sendUpload(let id, let first, let count):
            guard let batch = prepared, batch.id == id, batch.first == first, batch.count == UInt64(count) else {
                problems.append("sends what was not read")
                return
            }
            prepared = nil
            schedule(.upload(id.link, first: first, count: batch.count), after: 30)
        case .discard: prepared = nil
        case .acknowledgeCache(let through):
            if through > (stored.last ?? 0) { problems.append("releases what is not stored") }
            released = max(released, through)
        case .sendHeartbeat, .sendLiveHint:
            let id = machine.link
            if id == open { answer(id) { $0.frameReceived($1, now: $2) } }
        case .closeLink: open = nil
        case .setTimer(let timer, let milliseconds): timers[timer] = now + milliseconds
        case .cancelTimer(let timer): timers[timer] = nil
        case .sendGoodbye, .serverAhead, .report, .finished: break
        }
    }

    private mutating func read(_ id: ReadID, after: UInt64, points: Int) {
        if isHostile, Int.random(in: 0..<20, using: &generator) == 0 {
            return schedule(.read(id, .unreadable), after: 1)
        }
        let first = max(after, released) + 1
        guard first < next else { return schedule(.read(id, .nothing), after: 1) }
        let count = min(UInt64(points), next - first)
        prepared = (id, first, count)
        schedule(.read(id, .batch(first: first, count: Int(count), bytes: Int(count) * 8)), after: 3)
    }
}

typealias UplinkAction = UplinkMachine.Action

let lost = LinkTrouble(.network, "connection reset")
let keyRefused = LinkTrouble(.authentication, "unknown access key")

extension UplinkMachine {
    /// Intervals of 5 and 30 seconds, so six points a pack.
    static func fresh() -> UplinkMachine { UplinkMachine(gatherInterval: 5, packInterval: 30, seed: 1) }

    /// Started with `points` in the cache, logged in and told where to begin, at time 0.
    static func online(
        points: UInt64 = 0, heartbeatSeconds: UInt32 = 0, limits: UplinkLimits = UplinkLimits()
    ) -> UplinkMachine {
        var machine = fresh()
        _ = machine.start(first: 1, next: points + 1, now: 0)
        _ = machine.connected(machine.link, now: 0)
        _ = machine.welcome(
            machine.link, storedThrough: 0, heartbeatSeconds: heartbeatSeconds, limits: limits, now: 0)
        _ = machine.cacheConfirmed(machine.link, first: 1, next: points + 1, isNewStream: false, now: 0)
        return machine
    }
}

extension [UplinkMachine.Action] {
    /// The read that was asked for, when there was one.
    var read: ReadID? {
        for case .read(let id, _, _, _) in self { return id }
        return nil
    }

    var reports: [LinkState] {
        compactMap { if case .report(let state) = $0 { state } else { nil } }
    }

    func delay(of timer: UplinkTimer) -> Int64? {
        for case .setTimer(timer, let milliseconds) in self { return milliseconds }
        return nil
    }
}

/// Each phase of the uplink, reached by events.
enum UplinkSetup: CaseIterable {
    case off, connecting, handshaking, loggingIn, confirming, online, reading, sending, draining, waiting, refused

    func make() -> UplinkMachine {
        var machine = UplinkMachine.fresh()
        if self == .off { return machine }
        _ = machine.start(first: 1, next: 101, now: 0)
        let link = machine.link
        switch self {
        case .off, .connecting: break
        case .handshaking: _ = machine.transportConnected(link, now: 0)
        case .loggingIn: _ = machine.connected(link, now: 0)
        case .waiting: _ = machine.connectFailed(link, lost, now: 0)
        case .refused: _ = machine.connectFailed(link, keyRefused, now: 0)
        case .confirming, .online, .reading, .sending, .draining:
            _ = machine.connected(link, now: 0)
            _ = machine.welcome(link, storedThrough: 0, heartbeatSeconds: 0, limits: UplinkLimits(), now: 0)
            if self == .confirming { return machine }
            let next: UInt64 = self == .online ? 1 : 101
            let actions = machine.cacheConfirmed(link, first: 1, next: next, isNewStream: false, now: 0)
            if self == .sending || self == .draining, let id = actions.read {
                _ = machine.batchRead(id, .batch(first: 1, count: 100, bytes: 700), now: 0)
            }
            if self == .draining { _ = machine.stop(drainThrough: 100, deadline: 10_000, now: 0) }
        }
        return machine
    }
}
