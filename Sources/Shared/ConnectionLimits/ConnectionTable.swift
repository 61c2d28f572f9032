internal import Glibc
package import NIOCore

/// Which connections of one listener may stay. A value that knows no socket and no clock.
///
/// A listener that lets its connections wait when there are too many can be shut by whoever holds them. So the newest comes
/// in, and the one goes that has the least to lose: the oldest of those that have asked for nothing yet. When all have asked, it
/// is one of a client that has several.
package struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Open at one time.
        package var connections: Int
        /// Of these from one address.
        package var perAddress: Int
        /// Strangers beyond `connections`. While all others are busy they may come in and show who they are.
        package var lobby: Int

        package init(connections: Int, perAddress: Int, lobby: Int = 0) {
            (self.connections, self.perAddress, self.lobby) = (connections, perAddress, lobby)
        }
    }

    /// What a connection has to lose. A lower one goes first.
    package enum Standing: Int, Hashable, Sendable {
        /// It has not shown yet that it may ask.
        case stranger
        /// It may ask, and asks nothing now.
        case resting
        /// It is one of several that the same client has, and the client has a better one.
        case spare
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
    private var all = Lines()
    private var byAddress: [String: Lines] = [:]
    private var clock: UInt64 = 0

    package init(_ limits: Limits) {
        self.limits = limits
    }

    package var count: Int { entries.count }

    /// A new connection, a stranger. The caller owes a ``leave(_:)`` unless it is refused.
    package mutating func enter(_ id: ID, from address: String) -> Entrance {
        var replaced: ID?
        if byAddress[address]?.count ?? 0 >= limits.perAddress {
            guard let victim = byAddress[address]?.least(entries) else { return .refused(.perAddress) }
            replaced = victim
        } else if entries.count >= limits.connections {
            let victim = all.least(entries)
            let mayWait = entries.count < limits.connections + limits.lobby
            if let victim, !mayWait || entries[victim]?.standing != .stranger {
                replaced = victim
            } else if !mayWait {
                return .refused(.connections)
            }
        }
        if let replaced { leave(replaced) }
        clock += 1
        entries[id] = Entry(address: address, standing: .stranger, since: clock)
        all.enter(id, at: clock, entries)
        byAddress[address, default: Lines()].enter(id, at: clock, entries)
        return replaced.map(Entrance.replacing) ?? .admitted
    }

    /// Harmless for one that was replaced.
    package mutating func note(_ id: ID, _ standing: Standing) {
        guard var entry = entries[id], entry.standing != standing else { return }
        clock += 1
        entry.standing = standing
        entry.since = clock
        entries[id] = entry
        all.note(id, standing, at: clock, entries)
        byAddress[entry.address]?.note(id, standing, at: clock, entries)
    }

    /// Harmless for one that was replaced.
    package mutating func leave(_ id: ID) {
        guard let address = entries.removeValue(forKey: id)?.address else { return }
        all.count -= 1
        byAddress[address]?.count -= 1
        if byAddress[address]?.count == 0 { byAddress[address] = nil }
    }

    /// The oldest of the connections whose client has a better one. It must be closed, and counts no more. Nil: there is none.
    package mutating func giveUpSpare() -> ID? {
        guard let spare = all.oldestSpare(entries) else { return nil }
        leave(spare)
        return spare
    }

    /// Connections in the order in which they would go.
    private struct Lines {
        var count = 0
        private var strangers = Line()
        private var resting = Line()
        private var spare = Line()

        mutating func enter(_ id: ID, at time: UInt64, _ entries: [ID: Entry]) {
            count += 1
            strangers.append(id, at: time, entries)
        }

        mutating func note(_ id: ID, _ standing: Standing, at time: UInt64, _ entries: [ID: Entry]) {
            switch standing {
            case .stranger: strangers.append(id, at: time, entries)
            case .resting: resting.append(id, at: time, entries)
            case .spare: spare.append(id, at: time, entries)
            case .busy: break
            }
        }

        mutating func oldestSpare(_ entries: [ID: Entry]) -> ID? { spare.first(entries) }

        mutating func least(_ entries: [ID: Entry]) -> ID? {
            strangers.first(entries) ?? resting.first(entries) ?? spare.first(entries)
        }
    }

    /// A line in which nobody is looked for: who has left it, or stands elsewhere, is passed over when the turn comes.
    private struct Line {
        private var places: [(id: ID, since: UInt64)] = []
        private var head = 0
        /// Places at which those that count for nothing are taken out.
        private var bound = 64

        mutating func append(_ id: ID, at time: UInt64, _ entries: [ID: Entry]) {
            places.append((id, time))
            guard places.count > bound else { return }
            places = places[head...].filter { entries[$0.id]?.since == $0.since }
            head = 0
            bound = max(64, places.count * 2)
        }

        mutating func first(_ entries: [ID: Entry]) -> ID? {
            while head < places.count {
                let place = places[head]
                if entries[place.id]?.since == place.since { return place.id }
                head += 1
            }
            return nil
        }
    }
}

/// Whom a connection comes from, as far as limits go.
package enum ClientAddress {
    /// An IPv4 address; the first 64 bits of an IPv6 address, which is what one client has; one name for all others, such as
    /// the clients of a Unix socket.
    package static func group(_ address: SocketAddress?) -> String {
        group(ofText: address?.ipAddress)
    }

    /// The same of an address as text; nil: nobody knows it.
    package static func group(ofText text: String?) -> String {
        guard let text else { return "unknown" }
        guard let bytes = sixteen(text) else { return text }
        return isMapped(bytes) ? bytes[12...].map { String($0) }.joined(separator: ".") : prefix(bytes, bits: 64)
    }

    /// What one customer of a provider may have: the first 48 bits of an IPv6 address. Nil for all others.
    package static func site(_ address: SocketAddress?) -> String? {
        guard let bytes = address?.ipAddress.flatMap(sixteen), !isMapped(bytes) else { return nil }
        return prefix(bytes, bits: 48)
    }

    /// Of an IPv6 address.
    private static func sixteen(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }

    /// ::ffff:0:0/96 carries IPv4.
    private static func isMapped(_ bytes: [UInt8]) -> Bool {
        bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    }

    private static func prefix(_ bytes: [UInt8], bits: Int) -> String {
        bytes[..<(bits / 8)].map { String($0, radix: 16) }.joined(separator: ":") + "::/\(bits)"
    }
}
