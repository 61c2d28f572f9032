internal import CNetworkNamespace
import Foundation

/// A network of its own, with nothing in it but a loopback: gone with the last process, socket or object that uses it.
/// Nothing of it is ever seen from outside, so nothing has to be removed either.
package final class NetworkNamespace: Sendable {
    private let descriptor: Int32

    /// Needs CAP_SYS_ADMIN: root, or root in a user namespace.
    package init() throws {
        let own = saker_namespace_open()
        guard own >= 0 else { throw Trouble("/proc/thread-self/ns/net: errno \(errno)") }
        defer { close(own) }
        // Before the thread leaves: root of a user namespace may not be let back in.
        guard saker_namespace_enter(own) == 0 else { throw Trouble("setns to the own network: errno \(errno)") }
        guard saker_namespace_new() == 0 else { throw Trouble("a network namespace is refused: errno \(errno)") }
        descriptor = saker_namespace_open()
        // Before any process starts here: Foundation's process monitor talks to itself over the loopback.
        let isUp = saker_loopback_up() == 0
        let number = errno
        Self.enter(own)
        guard descriptor >= 0, isUp else { throw Trouble("a new network's loopback: errno \(number)") }
    }

    deinit { close(descriptor) }

    /// Runs with the calling thread in this network; what it starts and opens meanwhile stays there.
    func inside<Value>(_ body: () throws -> Value) throws -> Value {
        let own = saker_namespace_open()
        guard own >= 0 else { throw Trouble("/proc/thread-self/ns/net: errno \(errno)") }
        defer { close(own) }
        guard saker_namespace_enter(descriptor) == 0 else { throw Trouble("setns: errno \(errno)") }
        defer { Self.enter(own) }
        return try body()
    }

    /// `ip` with these arguments, in this network.
    package func command(_ arguments: [String]) throws {
        let result = try Program.run("/usr/bin/env", ["ip"] + arguments, in: self)
        try require(result.status == 0, "ip \(arguments.joined(separator: " ")): \(result.all)")
    }

    /// A thread lost in another network would make every later step of the run wrong.
    private static func enter(_ descriptor: Int32) {
        guard saker_namespace_enter(descriptor) == 0 else {
            print("a thread cannot go back to its network: errno \(errno)")
            abort()
        }
    }

    /// Why the machine has no room for networks of a test's own; nil when it has.
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

/// Runs in a network, or where the caller is when there is none to be in.
package func inside<Value>(_ network: NetworkNamespace?, _ body: () throws -> Value) throws -> Value {
    try network.map { try $0.inside(body) } ?? body()
}
