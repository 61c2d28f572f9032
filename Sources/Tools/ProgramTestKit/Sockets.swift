package import Foundation
import Synchronization

/// A TCP port that nobody listens on, for programs that must be told theirs.
///
/// The kernel gives nobody a port below its own range unasked, so the port stays free until the program takes it, also
/// while the program is restarted: no connection that others make meanwhile has this number at its near end. No second
/// call in this process returns the same port.
package func freePort() throws -> Int {
    let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
    let first = try require(range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }, "no range: \(range)")
    for _ in 0..<1000 {
        // Where the kernel gives nearly every port away, any will do.
        let port = Int.random(in: 10_000..<(first > 12_000 ? first : 32_768))
        guard givenPorts.withLock({ $0.insert(port).inserted }) else { continue }
        guard let (descriptor, _) = try? LoopbackSocket.bound(to: port) else { continue }
        close(descriptor)
        return port
    }
    throw Trouble("no port is free")
}

private let givenPorts = Mutex(Set<Int>())

/// Whether a program listens on a TCP port of this machine.
package func isListening(_ port: Int) -> Bool {
    guard let descriptor = try? LoopbackSocket.connect(port: port) else { return false }
    close(descriptor)
    return true
}

/// Listens on 127.0.0.1, on a port that the kernel chooses, for one thread that accepts.
///
/// A caller of ``end()`` cannot know whether the accepting thread has closed the descriptor already, and another file
/// may soon have the same number. So the number is used only under a lock, and not after ``close()``.
package final class ListeningSocket: Sendable {
    package let port: Int
    private let descriptor: Int32
    private let isClosed = Mutex(false)

    package init() throws {
        let (descriptor, port) = try LoopbackSocket.bound()
        guard listen(descriptor, 16) == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw Trouble("no listening socket: errno \(number)")
        }
        self.descriptor = descriptor
        self.port = port
    }

    deinit { close() }

    /// Waits for a connection, which the caller must close; nil after ``end()``. Only for the thread that closes.
    package func accept() -> Int32? {
        let client = Glibc.accept(descriptor, nil, nil)
        return client >= 0 ? client : nil
    }

    /// Wakes the accepting thread for good. Any thread may call it, at any time and repeatedly.
    package func end() {
        isClosed.withLock { isClosed in
            if !isClosed { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Call it only after the last ``accept()``.
    package func close() {
        isClosed.withLock { isClosed in
            if !isClosed { Glibc.close(descriptor) }
            isClosed = true
        }
    }
}

/// TCP on 127.0.0.1 with plain descriptors, for the tests' own ends.
package enum LoopbackSocket {
    /// Reserves a port; 0 lets the kernel choose. Nobody listens on it yet.
    package static func bound(to port: Int = 0) throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = local(port: port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(descriptor, raw, length) == 0 && getsockname(descriptor, raw, &length) == 0
            }
        }
        guard isBound else {
            let number = errno
            close(descriptor)
            throw Trouble("no port: errno \(number)")
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Begins to connect and does not wait for the answer.
    package static func knock(port: Int) -> Int32 {
        let descriptor = socket(
            AF_INET,
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = local(port: port)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    package static func connect(port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = local(port: port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            let number = errno
            close(descriptor)
            throw Trouble("nobody listens on port \(port): errno \(number)")
        }
        return descriptor
    }

    private static func local(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        return address
    }
}

package enum UnixSocket {
    /// Leaves the file of a socket that nobody listens on, as a killed process does.
    package static func leaveStale(at path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = address(path)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard bound else { throw Trouble("cannot bind \(path): errno \(errno)") }
    }

    private static func address(_ path: String) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return address
    }

    /// Sends bytes and reads up to a delimiter, which is left out. `seconds`: the longest silence to wait for.
    package static func exchange(
        _ path: String, _ bytes: Data, until delimiter: UInt8, seconds: Int = 20
    ) throws -> Data {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = address(path)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard connected else { throw Trouble("cannot connect to \(path): errno \(errno)") }
        let sent = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent == bytes.count else { throw Trouble("cannot write to \(path)") }
        var reply = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else {
                let what = count == 0 ? "it ended the connection" : "errno \(errno)"
                throw Trouble("no whole reply from \(path), \(reply.count) bytes: \(what)")
            }
            reply += buffer[..<count]
            if let end = reply.firstIndex(of: delimiter) { return reply[..<end] }
        }
    }
}
