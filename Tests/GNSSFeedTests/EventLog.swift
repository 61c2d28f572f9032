import AgentLogic
import Foundation
import Synchronization

@testable import GNSSFeed

/// Gathers what a feed tells, and lets a test wait for it.
final class EventLog: Sendable {
    private struct Waiter {
        let id: UInt64
        let isMet: @Sendable ([FeedEvent]) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var events: [FeedEvent] = []
        var times: [ContinuousClock.Instant] = []
        var waiters: [Waiter] = []
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())

    var events: [FeedEvent] { state.withLock { $0.events } }
    /// When each of ``events`` was told.
    var times: [ContinuousClock.Instant] { state.withLock { $0.times } }
    var reports: [GNSSReport] {
        events.compactMap { if case .report(let report) = $0 { report } else { nil } }
    }
    var states: [FeedState] {
        events.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }

    func add(_ event: FeedEvent) {
        let met = state.withLock { state in
            state.events.append(event)
            state.times.append(.now)
            let events = state.events
            let met = state.waiters.filter { $0.isMet(events) }
            state.waiters.removeAll { waiter in met.contains { $0.id == waiter.id } }
            return met
        }
        for waiter in met { waiter.continuation.resume(returning: true) }
    }

    /// Returns when the events so far meet the condition: true, or false when they did not within the time.
    func wait(
        seconds: Double = 60, until isMet: @escaping @Sendable ([FeedEvent]) -> Bool
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let waiter: Waiter? = state.withLock { state in
                if isMet(state.events) { return nil }
                state.nextID += 1
                let waiter = Waiter(id: state.nextID, isMet: isMet, continuation: continuation)
                state.waiters.append(waiter)
                return waiter
            }
            guard let waiter else {
                continuation.resume(returning: true)
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
                let late = state.withLock { state in
                    let isWaiting = state.waiters.contains { $0.id == waiter.id }
                    state.waiters.removeAll { $0.id == waiter.id }
                    return isWaiting
                }
                if late { waiter.continuation.resume(returning: false) }
            }
        }
    }

    /// Waits for a state after the first `count` events.
    func wait(
        seconds: Double = 60, after count: Int = 0, for isWanted: @escaping @Sendable (FeedState) -> Bool
    ) async -> Bool {
        await wait(seconds: seconds) { events in
            events.dropFirst(count).contains { if case .state(let state) = $0 { isWanted(state) } else { false } }
        }
    }
}

extension FeedState {
    var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
    var isNoDevice: Bool { if case .noDevice = self { true } else { false } }
    var isStopped: Bool { self == .stopped }
    var hasReceiver: Bool { self == .noFix || self == .fix }
    var isFix: Bool { self == .fix }
}
