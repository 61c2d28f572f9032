import ConnectionLimits
import NIOCore
import Synchronization
import TrackModel
import TrackStore

/// Knows the open connections in all phases, and says whether one more may come.
///
/// A client that holds every place without a login keeps no vehicle out: the newest comes in, the oldest without a login goes. Nor
/// does a vehicle that has several sessions: only the newest of them keeps its place in any case. Nor does a service: when all places
/// have sessions, a login takes the place of the newest session of the service that has the most.
final class ConnectionCensus: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// How many came before each.
        var arrivals: [ObjectIdentifier: UInt64] = [:]
        var next: UInt64 = 0
        var table: ConnectionTable<ObjectIdentifier>
        var sessions = SessionShares()
        /// Nobody may come any more.
        var isClosed = false
        /// Finishes when the last connection has ended after the close.
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state: Mutex<State>
    /// Sessions at one time.
    private let places: Int

    init(limits: GatewayLimits) {
        places = limits.connections
        let table = ConnectionTable<ObjectIdentifier>(
            .init(
                connections: limits.connections, perAddress: limits.connectionsPerAddress,
                lobby: GatewayLimits.lobby(beside: limits.connections)))
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
            state.arrivals[id] = state.next
            state.next += 1
            guard case .replacing(let victim) = entrance else { return (true, nil) }
            // Its place is free from now on: the newcomer may log in before the other connection has ended.
            state.sessions.remove(victim)
            return (true, state.channels[victim])
        }
    }

    /// Gives a place to a session of this service. False: every place is taken, no vehicle has several, and no other service has more
    /// sessions than this one.
    /// The caller closes `replaced`.
    func takePlace(_ channel: any Channel, of service: ServiceID) -> (isTaken: Bool, replaced: (any Channel)?) {
        let id = ObjectIdentifier(channel)
        return state.withLock { state in
            guard state.channels[id] != nil else { return (false, nil) }
            var victim: ObjectIdentifier?
            if state.sessions.count >= places {
                // A vehicle may have got a newer session since this connection came.
                victim = state.table.giveUpSpare() ?? state.sessions.newestOfTheMost(beside: service)
                guard let victim else { return (false, nil) }
                state.sessions.remove(victim)
                state.table.leave(victim)
            }
            state.table.note(id, .busy)
            state.sessions.add(id, of: service)
            return (true, victim.flatMap { state.channels[$0] })
        }
    }

    /// `isSpare`: the vehicle of the session has a newer one, so the connection goes when nobody else can.
    func keepsPlace(_ channel: any Channel, isSpare: Bool) {
        state.withLock { $0.table.note(ObjectIdentifier(channel), isSpare ? .spare : .busy) }
    }

    func leave(_ channel: any Channel) {
        let waiters: [AsyncStream<Void>.Continuation] = state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.channels[id] = nil
            state.arrivals[id] = nil
            state.table.leave(id)
            state.sessions.remove(id)
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
    /// The oldest first: a simulated history must be the same each time, wherever a channel lies in memory.
    var channels: [any Channel] {
        state.withLock { state in
            state.arrivals.sorted { $0.value < $1.value }.compactMap { state.channels[$0.key] }
        }
    }
}

/// The sessions of each service, in their order.
struct SessionShares {
    private var services: [ObjectIdentifier: ServiceID] = [:]
    /// With those that have gone, which are passed over.
    private var order: [ServiceID: (ids: [ObjectIdentifier], left: Int)] = [:]

    var count: Int { services.count }

    mutating func add(_ id: ObjectIdentifier, of service: ServiceID) {
        guard services.updateValue(service, forKey: id) == nil else { return }
        var line = order.removeValue(forKey: service) ?? ([], 0)
        line.ids.append(id)
        line.left += 1
        if line.ids.count > 2 * line.left + 64 { line.ids.removeAll { services[$0] != service } }
        order[service] = line
    }

    mutating func remove(_ id: ObjectIdentifier) {
        guard let service = services.removeValue(forKey: id) else { return }
        order[service]?.left -= 1
        if order[service]?.left == 0 { order[service] = nil }
    }

    /// Whose place one more session of a service takes: that of the newest of the service with the most sessions. Nil: no service
    /// would still have as many as this one.
    func newestOfTheMost(beside service: ServiceID) -> ObjectIdentifier? {
        guard let most = order.max(by: { $0.value.left < $1.value.left }),
            most.value.left > (order[service]?.left ?? 0) + 1
        else { return nil }
        return most.value.ids.last { services[$0] == most.key }
    }
}
