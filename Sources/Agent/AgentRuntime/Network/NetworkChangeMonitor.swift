internal import AgentLogic
internal import CLinux
internal import Logging
internal import NIOCore

/// Tells when links, addresses or default routes of this machine change. Then it makes no sense to wait for the next
/// try to connect. Reads the kernel's rtnetlink(7) socket.
enum NetworkChangeMonitor {
    /// Watches from now on. While the kernel allows no watch, the agent works without one: it still tries again in
    /// time. `pause`: until a socket is asked for that the kernel did not give. `socket`: its number, or an error number,
    /// negative.
    static func start(
        on loop: any EventLoop, log: Logger, pause: RetryPause = RetryPause(),
        socket: @escaping () -> Int32 = { saker_network_socket() }, onChange: @escaping () -> Void
    ) -> KernelEvents {
        var changes = NetworkChanges()
        // A link that comes up tells of itself, of its addresses and of its routes, one after the other.
        return KernelEvents(
            "Network changes", on: loop, log: log, pause: pause, settle: .milliseconds(500), source: socket,
            isChange: { changes.take($0.readableBytesView) }, onChange: onChange)
    }
}

/// Says whether news of the kernel about links, addresses and routes may make a server reachable or unreachable.
/// Format: rtnetlink(7), in the machine's own byte order.
///
/// Much of what the kernel tells changes nothing: neighbours, statistics, the refreshing of a lease or of a router's
/// advertisement. Only a link that begins or ceases to run, a new or lost address that others can reach, and a default
/// route count.
struct NetworkChanges: Hashable {
    /// Links by their number, and whether they run; the kernel tells a link's state again and again.
    private var running: [Int32: Bool] = [:]
    /// Addresses and default routes as they were told, so that a refreshed one is no news.
    private var known: Set<[UInt8]> = []

    /// Links and addresses of a computer with many containers; beyond that everything counts as news.
    private static let maximumKnown = 1024

    /// True when a datagram of the kernel holds at least one change that matters. Bytes that are no message are passed
    /// over: a hint that is missed costs a wait, never more.
    mutating func take(_ datagram: some Collection<UInt8>) -> Bool {
        let bytes = Array(datagram)
        var isNew = false
        var start = 0
        while let header = Header(bytes, at: start) {
            let body = Array(bytes[(start + Header.size)..<(start + header.length)])
            isNew = take(header.type, body) || isNew
            // Messages begin at multiples of four.
            start += (header.length + 3) & ~3
        }
        if known.count > Self.maximumKnown { known = [] }
        if running.count > Self.maximumKnown { running = [:] }
        return isNew
    }

    private mutating func take(_ type: UInt16, _ body: [UInt8]) -> Bool {
        switch type {
        case Kind.newLink, Kind.deletedLink:
            guard let index = body.word(at: 4), let flags = body.word(at: 8) else { return false }
            // IFF_RUNNING: the cable is in, the modem is registered. The loopback (IFF_LOOPBACK) leads nowhere.
            guard flags & 0x8 == 0 else { return false }
            let isRunning = type == Kind.newLink && flags & 0x40 != 0
            let before = running.updateValue(isRunning, forKey: Int32(truncatingIfNeeded: index))
            return before != nil ? before != isRunning : isRunning
        case Kind.newAddress, Kind.deletedAddress:
            // ifaddrmsg: family, prefix length, flags, scope (0: global), index; then attributes.
            guard body.count >= 8, body[3] == 0, let address = body.attribute(Attribute.address, from: 8) else {
                return false
            }
            return change([1, body[0], body[1]] + body[4..<8] + address, isThere: type == Kind.newAddress)
        case Kind.newRoute, Kind.deletedRoute:
            // rtmsg: family, destination length (0: default), …, type at 7 (1: unicast), flags; then attributes.
            guard body.count >= 12, body[1] == 0, body[7] == 1 else { return false }
            let gateway = body.attribute(Attribute.gateway, from: 12) ?? []
            let device = body.attribute(Attribute.outgoingDevice, from: 12) ?? []
            return change([2, body[0]] + device + gateway, isThere: type == Kind.newRoute)
        default: return false
        }
    }

    private mutating func change(_ key: [UInt8], isThere: Bool) -> Bool {
        if isThere { return known.insert(key).inserted }
        known.remove(key)
        return true
    }

    private enum Kind {
        static let newLink: UInt16 = 16
        static let deletedLink: UInt16 = 17
        static let newAddress: UInt16 = 20
        static let deletedAddress: UInt16 = 21
        static let newRoute: UInt16 = 24
        static let deletedRoute: UInt16 = 25
    }

    private enum Attribute {
        static let address: UInt16 = 1
        static let outgoingDevice: UInt16 = 4
        static let gateway: UInt16 = 5
    }

    /// nlmsghdr: length (with itself), type, flags, sequence, sender.
    private struct Header {
        static let size = 16
        let length: Int
        let type: UInt16

        init?(_ bytes: [UInt8], at start: Int) {
            guard let length = bytes.word(at: start), let type = bytes.half(at: start + 4) else { return nil }
            self.length = Int(length)
            self.type = type
            guard self.length >= Self.size, self.length <= bytes.count - start else { return nil }
        }
    }
}

extension [UInt8] {
    /// Two bytes in the machine's order; nil past the end.
    fileprivate func half(at index: Int) -> UInt16? {
        guard index >= 0, index <= count - 2 else { return nil }
        return (UInt16(self[index]) | UInt16(self[index + 1]) << 8).machineOrder
    }

    fileprivate func word(at index: Int) -> UInt32? {
        guard index >= 0, index <= count - 4 else { return nil }
        let value = (0..<4).reduce(UInt32(0)) { $0 | UInt32(self[index + $1]) << (8 * UInt32($1)) }
        return value.machineOrder
    }

    /// The value of a route attribute (length, type, value, padded to four), looked for from an offset on.
    fileprivate func attribute(_ type: UInt16, from offset: Int) -> [UInt8]? {
        var start = offset
        while let length = half(at: start).map(Int.init), length >= 4, length <= count - start {
            if half(at: start + 2).map({ $0 & 0x3FFF }) == type { return Array(self[(start + 4)..<(start + length)]) }
            start += (length + 3) & ~3
        }
        return nil
    }
}

extension FixedWidthInteger {
    /// What was put together least byte first, on a machine that may keep the greatest first.
    fileprivate var machineOrder: Self { Self(littleEndian: self) }
}
