import NIOCore
import Synchronization

/// Knows the open connections in all phases, counts them by address, and says whether one more may come.
final class ConnectionCensus: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var byAddress: [String: Int] = [:]
        /// Nobody may come any more.
        var isClosed = false
        /// Finished when the last connection has gone after the close.
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let limits: GatewayLimits
    private let state = Mutex(State())

    init(limits: GatewayLimits) {
        self.limits = limits
    }

    /// True when the connection may stay; the caller then owes a ``leave(_:from:)``.
    func enter(_ channel: any Channel, from address: String) -> Bool {
        state.withLock { state in
            let known = state.byAddress[address] ?? 0
            guard !state.isClosed, state.channels.count < limits.connections, known < limits.connectionsPerAddress
            else {
                return false
            }
            state.channels[ObjectIdentifier(channel)] = channel
            state.byAddress[address] = known + 1
            return true
        }
    }

    func leave(_ channel: any Channel, from address: String) {
        let waiters: [AsyncStream<Void>.Continuation] = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = nil
            if let known = state.byAddress[address], known > 1 {
                state.byAddress[address] = known - 1
            } else {
                state.byAddress[address] = nil
            }
            guard state.channels.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }

    /// Returns when no connection is left, or after the limit.
    func untilEmpty(atMost limit: Duration) async {
        let (empty, waiter) = AsyncStream<Void>.makeStream()
        let isEmpty = state.withLock { state in
            if !state.channels.isEmpty { state.waiters.append(waiter) }
            return state.channels.isEmpty
        }
        guard !isEmpty else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in empty {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Nobody may enter any more.
    func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var count: Int { state.withLock { $0.channels.count } }
    var channels: [any Channel] { state.withLock { Array($0.channels.values) } }
}
