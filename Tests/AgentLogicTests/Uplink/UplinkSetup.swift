import TrackTestKit

@testable import AgentLogic

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
