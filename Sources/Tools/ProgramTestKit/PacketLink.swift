internal import CNetworkNamespace
import Foundation
import Synchronization

/// Two networks, and between them a wire that is a thread of this process. Every IP packet passes through the thread,
/// which can delay, lose, double or hold it. The programs see ordinary interfaces.
///
/// Many machines lack the kernel's own emulation (netem). This link needs /dev/net/tun and namespaces, and it follows a
/// seed.
package final class PacketLink: VehicleLink {
    private enum Side: Hashable { case agent, server }

    private struct Flight {
        let due: ContinuousClock.Instant
        let to: Side
        let packet: [UInt8]
    }

    private struct State {
        var weather = LinkWeather.fair
        var dice: Dice
        var bytesLeft = Int.max
        /// The agent's ports of connections that a router has forgotten, and of all connections seen so far.
        var forgotten: Set<UInt16> = []
        var known: Set<UInt16> = []
        var sent = 0
        var delivered = 0
    }

    package let agentNetwork: NetworkNamespace?
    package let serverNetwork: NetworkNamespace?
    package var kind: String { "packets between two network namespaces" }
    package var serverHost: String { "10.77.0.1" }

    private let agentEnd: NetworkNamespace
    private let agentWire: Int32
    private let serverWire: Int32
    private let state: Mutex<State>
    private static let device = "saker0"

    package init(seed: UInt64) throws {
        let agent = try NetworkNamespace()
        let server = try NetworkNamespace()
        agentNetwork = agent
        serverNetwork = server
        agentEnd = agent
        state = Mutex(State(dice: Dice(seed: seed)))
        agentWire = try Self.wire(in: agent, address: "10.77.0.2/30")
        serverWire = try Self.wire(in: server, address: "10.77.0.1/30")
        let (agentWire, serverWire) = (agentWire, serverWire)
        Thread.detachNewThread { [weak self] in Self.carry(agentWire, serverWire) { self } }
    }

    private static func wire(in network: NetworkNamespace, address: String) throws -> Int32 {
        let descriptor = try network.inside { saker_tunnel_open(device) }
        guard descriptor >= 0 else { throw Trouble("/dev/net/tun: errno \(errno)") }
        try network.command(["address", "add", address, "dev", device])
        try network.command(["link", "set", device, "up"])
        return descriptor
    }

    package func port(for serverPort: Int) -> Int { serverPort }

    package var passed: (sent: Int, delivered: Int) { state.withLock { ($0.sent, $0.delivered) } }

    package func set(_ weather: LinkWeather) throws {
        let before = state.withLock { state in
            defer {
                state.weather = weather
                state.bytesLeft = .max
                if case .silentAfter(let bytes) = weather { state.bytesLeft = bytes }
                // A wire cannot reset connections, so it forgets the existing ones.
                if weather == .forgotten || weather == .reset { state.forgotten.formUnion(state.known) }
            }
            return state.weather
        }
        if weather == .down {
            try agentEnd.command(["link", "set", Self.device, "down"])
        } else if before == .down {
            try agentEnd.command(["link", "set", Self.device, "up"])
        }
    }

    // MARK: The thread

    /// Ends and closes the wires when nobody holds the link any more.
    private static func carry(_ agent: Int32, _ server: Int32, _ link: () -> PacketLink?) {
        defer {
            close(agent)
            close(server)
        }
        var flights: [Flight] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let now = ContinuousClock.now
            for flight in flights where flight.due <= now {
                let wire = flight.to == .agent ? agent : server
                _ = flight.packet.withUnsafeBytes { write(wire, $0.baseAddress, $0.count) }
            }
            flights.removeAll { $0.due <= now }
            var wires = [
                pollfd(fd: agent, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            let next = flights.map(\.due).min().map { ContinuousClock.now.duration(to: $0) / .milliseconds(1) }
            poll(&wires, 2, Int32(max(min((next ?? 50) + 1, 50), 0)))
            guard let link = link() else { return }
            for (wire, source, target) in [(agent, Side.agent, Side.server), (server, .server, .agent)] {
                while true {
                    let count = read(wire, &buffer, buffer.count)
                    guard count > 0 else { break }
                    let packet = Array(buffer[..<count])
                    for delay in link.delays(of: packet, from: source) {
                        flights.append(
                            Flight(due: ContinuousClock.now + .milliseconds(delay), to: target, packet: packet))
                    }
                }
            }
        }
    }

    /// When the packet arrives, in milliseconds from now: no entry for a lost packet, two for a doubled one.
    private func delays(of packet: [UInt8], from side: Side) -> [Int] {
        state.withLock { state in
            if side == .agent { state.sent += packet.count }
            if let port = Self.agentPort(of: packet, from: side) {
                state.known.insert(port)
                if state.forgotten.contains(port) { return [] }
            }
            if side == .agent {
                state.bytesLeft -= state.bytesLeft == .max ? 0 : packet.count
                if state.bytesLeft < 0 { return [] }
            } else if state.bytesLeft < 0 {
                return []
            }
            let delays = state.weather.delays(side == .agent, using: &state.dice)
            if side == .agent { state.delivered += packet.count * min(delays.count, 1) }
            return delays
        }
    }

    /// The agent's end of a TCP connection over IPv4.
    private static func agentPort(of packet: [UInt8], from side: Side) -> UInt16? {
        guard packet.count >= 20, packet[0] >> 4 == 4, packet[9] == 6 else { return nil }
        let header = Int(packet[0] & 15) * 4 + (side == .agent ? 0 : 2)
        guard packet.count >= header + 2 else { return nil }
        return UInt16(packet[header]) << 8 | UInt16(packet[header + 1])
    }
}

extension LinkWeather {
    fileprivate func delays(_ isFromAgent: Bool, using dice: inout Dice) -> [Int] {
        switch self {
        case .fair, .forgotten, .reset, .silentAfter: return [0]
        case .slow(let range): return [Int.random(in: range, using: &dice)]
        case .silent, .down: return []
        case .deafAgent: return isFromAgent ? [0] : []
        case .deafServer: return isFromAgent ? [] : [0]
        case .rough(let lost, let doubled, let late):
            if Int.random(in: 0..<1000, using: &dice) < lost { return [] }
            let first = Int.random(in: 0..<1000, using: &dice) < late ? Int.random(in: 5...60, using: &dice) : 1
            return Int.random(in: 0..<1000, using: &dice) < doubled ? [first, first + 3] : [first]
        }
    }
}

/// A separate network with only a loopback. It disappears with the last process, socket or object that uses it. Nothing
/// outside sees it, so nobody has to remove anything.
package final class NetworkNamespace: Sendable {
    private let descriptor: Int32

    /// Needs CAP_SYS_ADMIN: root, or root in a user namespace.
    package init() throws {
        let own = saker_namespace_open()
        guard own >= 0 else { throw Trouble("/proc/thread-self/ns/net: errno \(errno)") }
        defer { close(own) }
        // Open it before the thread leaves, because the root of a user namespace may not be allowed back in.
        guard saker_namespace_enter(own) == 0 else { throw Trouble("setns to the own network: errno \(errno)") }
        guard saker_namespace_new() == 0 else { throw Trouble("a network namespace is refused: errno \(errno)") }
        descriptor = saker_namespace_open()
        // Bring it up before any process starts here, because Foundation's process monitor uses the loopback.
        let isUp = saker_loopback_up() == 0
        let number = errno
        Self.enter(own)
        guard descriptor >= 0, isUp else { throw Trouble("a new network's loopback: errno \(number)") }
    }

    deinit { close(descriptor) }

    /// Runs `body` with the calling thread in this network. Processes and sockets that it starts stay there.
    func inside<Value>(_ body: () throws -> Value) throws -> Value {
        let own = saker_namespace_open()
        guard own >= 0 else { throw Trouble("/proc/thread-self/ns/net: errno \(errno)") }
        defer { close(own) }
        guard saker_namespace_enter(descriptor) == 0 else { throw Trouble("setns: errno \(errno)") }
        defer { Self.enter(own) }
        return try body()
    }

    /// Runs `ip` with these arguments in this network.
    package func command(_ arguments: [String]) throws {
        let result = try Program.run("/usr/bin/env", ["ip"] + arguments, in: self)
        try require(result.status == 0, "ip \(arguments.joined(separator: " ")): \(result.all)")
    }

    /// Stops the program on failure: a thread in a wrong network would make every later step wrong.
    private static func enter(_ descriptor: Int32) {
        guard saker_namespace_enter(descriptor) == 0 else {
            print("a thread cannot go back to its network: errno \(errno)")
            abort()
        }
    }

    /// Why the machine allows no separate networks; nil when it does.
    package static let obstacle: String? = {
        do {
            let network = try NetworkNamespace()
            let device = try network.inside { saker_tunnel_open("probe") }
            guard device >= 0 else { return "/dev/net/tun: errno \(errno)" }
            close(device)
            return nil
        } catch {
            return "\(error)"
        }
    }()
}

/// Runs `body` in a network, or in the caller's network when `network` is nil.
package func inside<Value>(_ network: NetworkNamespace?, _ body: () throws -> Value) throws -> Value {
    try network.map { try $0.inside(body) } ?? body()
}
