import ConnectionLimits
import NIOCore
import Synchronization

/// Knows how many bytes of requests and answers the connections of all listeners hold, and tells who holds too many to give
/// up.
package final class RequestMemoryLimit: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Of all connections that have not yet shown a valid key.
        package var bytesWithoutKey: Int
        /// Of all that have.
        package var bytesWithKey: Int

        package init(bytesWithoutKey: Int = 64 << 20, bytesWithKey: Int = 256 << 20) {
            self.bytesWithoutKey = bytesWithoutKey
            self.bytesWithKey = bytesWithKey
        }
    }

    private struct Member {
        let channel: any Channel
        /// See ``ClientAddress``.
        let address: String
    }

    private struct State {
        var strangers: MemoryBudget<ObjectIdentifier>
        var known: MemoryBudget<ObjectIdentifier>
        var members: [ObjectIdentifier: Member] = [:]
        /// Those with a valid key.
        var isKnown: Set<ObjectIdentifier> = []

        mutating func take(_ bytes: Int, for id: ObjectIdentifier) -> [any Channel] {
            let address = members[id]?.address ?? ""
            let victims =
                isKnown.contains(id)
                ? known.take(bytes, for: id, from: address) : strangers.take(bytes, for: id, from: address)
            return victims.compactMap { members[$0]?.channel }
        }
    }

    private let state: Mutex<State>

    package init(_ limits: Limits = Limits()) {
        state = Mutex(
            State(strangers: MemoryBudget(limits.bytesWithoutKey), known: MemoryBudget(limits.bytesWithKey)))
    }

    /// Bytes that are held now.
    package var bytes: Int { state.withLock { $0.strangers.total + $0.known.total } }

    func enter(_ channel: any Channel) {
        let member = Member(channel: channel, address: ClientAddress.group(channel.remoteAddress))
        state.withLock { $0.members[ObjectIdentifier(channel)] = member }
    }

    func leave(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { state in
            state.members[id] = nil
            state.isKnown.remove(id)
            state.strangers.giveBackAll(of: id)
            state.known.giveBackAll(of: id)
        }
    }

    /// False: the connection itself must give up.
    func take(_ bytes: Int, for channel: any Channel) -> Bool {
        let victims = state.withLock { $0.take(bytes, for: ObjectIdentifier(channel)) }
        return tell(victims, but: channel)
    }

    /// It has shown a valid key: from now on its bytes count among those with one. False like ``take(_:for:)``.
    func becameKnown(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let victims = state.withLock { state -> [any Channel] in
            guard state.isKnown.insert(id).inserted else { return [] }
            return state.take(state.strangers.giveBackAll(of: id), for: id)
        }
        return tell(victims, but: channel)
    }

    /// `part` of `whole` of what it holds is held no more.
    func giveBack(_ part: Int, of whole: Int, for channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { state in
            if part >= whole {
                state.strangers.giveBackAll(of: id)
                state.known.giveBackAll(of: id)
            } else {
                state.strangers.giveBack(state.strangers.bytes(of: id) / whole * part, of: id)
                state.known.giveBack(state.known.bytes(of: id) / whole * part, of: id)
            }
        }
    }

    private func tell(_ victims: [any Channel], but own: any Channel) -> Bool {
        var isSafe = true
        for victim in victims {
            if victim === own {
                isSafe = false
            } else {
                victim.triggerUserOutboundEvent(ConnectionGuard.Event.giveUp(.memory), promise: nil)
            }
        }
        return isSafe
    }
}

/// Bytes that the connections of one kind may hold together. A value.
///
/// When there are too many, the address that holds most loses the connection that holds most of its own. So who hoards, over one
/// connection or over many, cannot keep out who asks for little from elsewhere.
struct MemoryBudget<ID: Hashable & Sendable>: Sendable {
    private struct Share {
        let address: String
        var bytes: Int
    }

    let limit: Int
    private(set) var total = 0
    private var held: [ID: Share] = [:]
    private var byAddress: [String: Int] = [:]

    init(_ limit: Int) {
        self.limit = limit
    }

    /// `address`: the same at each call for an `id`.
    ///
    /// Returns who must give up, the taker itself perhaps; nothing is held by them any more.
    mutating func take(_ bytes: Int, for id: ID, from address: String) -> [ID] {
        held[id, default: Share(address: address, bytes: 0)].bytes += bytes
        byAddress[address, default: 0] += bytes
        total += bytes
        var victims: [ID] = []
        while total > limit, let victim = largest {
            giveBackAll(of: victim)
            victims.append(victim)
        }
        return victims
    }

    private var largest: ID? {
        let address = byAddress.max { $0.value < $1.value }?.key
        return held.lazy.filter { $0.value.address == address }.max { $0.value.bytes < $1.value.bytes }?.key
    }

    /// At most what it holds.
    mutating func giveBack(_ bytes: Int, of id: ID) {
        guard let known = held[id] else { return }
        let given = min(bytes, known.bytes)
        total -= given
        held[id] = known.bytes > given ? Share(address: known.address, bytes: known.bytes - given) : nil
        guard let all = byAddress[known.address] else { return }
        byAddress[known.address] = all > given ? all - given : nil
    }

    /// Returns what it held.
    @discardableResult mutating func giveBackAll(of id: ID) -> Int {
        let known = bytes(of: id)
        giveBack(known, of: id)
        return known
    }

    func bytes(of id: ID) -> Int { held[id]?.bytes ?? 0 }
}
