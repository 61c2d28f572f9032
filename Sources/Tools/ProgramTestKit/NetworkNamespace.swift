internal import CNetworkNamespace
import Foundation

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
