/// Which connections of one listener may stay. A value that knows no socket and no clock.
///
/// A listener that lets its connections wait when there are too many can be shut by whoever holds them. So the newest comes
/// in, and the one goes that has the least to lose: the oldest of those that have asked for nothing yet.
package struct AdmissionTable<ID: Hashable & Sendable>: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Open at one time.
        package var connections: Int
        /// Of these from one address.
        package var perAddress: Int

        package init(connections: Int, perAddress: Int) {
            self.connections = connections
            self.perAddress = perAddress
        }
    }

    /// What a connection has to lose. A lower one goes first.
    package enum Standing: Int, Hashable, Sendable {
        /// It has not shown yet that it may ask.
        case stranger
        /// It may ask, and asks nothing now.
        case resting
        /// It never goes for another.
        case busy
    }

    package enum Entrance: Hashable, Sendable {
        case admitted
        /// The other one must be closed; it counts no more.
        case replacing(ID)
        /// Every connection that is in its way is busy. It is not in the table.
        case refused(Limit)
    }

    package enum Limit: String, Hashable, Sendable {
        case connections
        case perAddress
    }

    private struct Entry {
        let address: String
        var standing: Standing
        /// Smaller: longer in its standing.
        var since: UInt64
    }

    private let limits: Limits
    private var entries: [ID: Entry] = [:]
    private var byAddress: [String: Set<ID>] = [:]
    private var clock: UInt64 = 0

    package init(_ limits: Limits) {
        self.limits = limits
    }

    package var count: Int { entries.count }

    /// A new connection, a stranger. The caller owes a ``leave(_:)`` unless it is refused.
    package mutating func enter(_ id: ID, from address: String) -> Entrance {
        var replaced: ID?
        let neighbours = byAddress[address] ?? []
        if neighbours.count >= limits.perAddress {
            guard let victim = leastOf(neighbours) else { return .refused(.perAddress) }
            replaced = victim
        } else if entries.count >= limits.connections {
            guard let victim = leastOf(entries.keys) else { return .refused(.connections) }
            replaced = victim
        }
        if let replaced { leave(replaced) }
        entries[id] = Entry(address: address, standing: .stranger, since: tick())
        byAddress[address, default: []].insert(id)
        return replaced.map(Entrance.replacing) ?? .admitted
    }

    /// Harmless for one that was replaced.
    package mutating func note(_ id: ID, _ standing: Standing) {
        guard var entry = entries[id], entry.standing != standing else { return }
        entry.standing = standing
        entry.since = tick()
        entries[id] = entry
    }

    /// Harmless for one that was replaced.
    package mutating func leave(_ id: ID) {
        guard let address = entries.removeValue(forKey: id)?.address else { return }
        byAddress[address]?.remove(id)
        if byAddress[address]?.isEmpty == true { byAddress[address] = nil }
    }

    private mutating func tick() -> UInt64 {
        clock += 1
        return clock
    }

    /// The limits are small enough to look at each; this is done only when one of them is reached.
    private func leastOf(_ ids: some Sequence<ID>) -> ID? {
        var least: (id: ID, standing: Int, since: UInt64)?
        for id in ids {
            guard let entry = entries[id], entry.standing != .busy else { continue }
            let rank = (entry.standing.rawValue, entry.since)
            if let least, (least.standing, least.since) < rank { continue }
            least = (id, rank.0, rank.1)
        }
        return least?.id
    }
}
