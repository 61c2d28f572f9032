import Admission
import NIOCore
import Synchronization

/// Knows the open connections in all phases, and says whether one more may come.
///
/// A client that holds every place without a login keeps no vehicle out: the newest comes in, the oldest without a login goes. Nor
/// does a vehicle that has several sessions: only the newest of them keeps its place in any case.
final class ConnectionCensus: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var table: AdmissionTable<ObjectIdentifier>
        /// Nobody may come any more.
        var isClosed = false
        /// Finishes when the last connection has ended after the close.
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state: Mutex<State>

    init(limits: GatewayLimits) {
        let table = AdmissionTable<ObjectIdentifier>(
            .init(connections: limits.connections, perAddress: limits.connectionsPerAddress))
        state = Mutex(State(table: table))
    }

    /// True when the connection may stay; the caller then owes a ``leave(_:)``. The caller closes `replaced`.
    func enter(_ channel: any Channel) -> (isAdmitted: Bool, replaced: (any Channel)?) {
        let (id, address) = (ObjectIdentifier(channel), ClientAddress.group(channel.remoteAddress))
        return state.withLock { state in
            guard !state.isClosed else { return (false, nil) }
            let entrance = state.table.enter(id, from: address)
            if case .refused = entrance { return (false, nil) }
            state.channels[id] = channel
            guard case .replacing(let victim) = entrance else { return (true, nil) }
            return (true, state.channels[victim])
        }
    }

    /// The connection has a session now. `isSpare`: its vehicle has a newer one, so it goes when nobody else can.
    func hasLoggedIn(_ channel: any Channel, isSpare: Bool = false) {
        state.withLock { $0.table.note(ObjectIdentifier(channel), isSpare ? .spare : .busy) }
    }

    func leave(_ channel: any Channel) {
        let waiters: [AsyncStream<Void>.Continuation] = state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.channels[id] = nil
            state.table.leave(id)
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
