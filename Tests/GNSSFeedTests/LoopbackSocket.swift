import Foundation
import Synchronization

struct SocketFailure: Error, CustomStringConvertible {
    let description: String
    init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
}

/// A listening socket on a port of the kernel's choice, closed at the end.
final class LoopbackListener: Sendable {
    let descriptor: CInt
    let port: UInt16

    init(port wanted: UInt16 = 0, backlog: CInt = 16) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketFailure("socket") }
        self.descriptor = descriptor
        var on: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
        var address = loopback(wanted)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, backlog) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else { throw SocketFailure("listen") }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// Waits for a client; nil after so many seconds.
    func accept(seconds: Double = 60) -> LoopbackConnection? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, CInt(seconds * 1000)) > 0 else { return nil }
        let client = Glibc.accept(descriptor, nil, nil)
        return client < 0 ? nil : LoopbackConnection(descriptor: client)
    }
}

/// A connected socket, closed at the end.
final class LoopbackConnection: Sendable {
    let descriptor: CInt

    init(descriptor: CInt) { self.descriptor = descriptor }

    init(to port: UInt16) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = loopback(port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            throw SocketFailure("connect")
        }
    }

    deinit { close(descriptor) }

    /// False when the peer has gone.
    @discardableResult func send(_ bytes: some Collection<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// What there is, waiting for it so long; nil when the peer has gone or nothing came.
    func receive(seconds: Double = 60) -> [UInt8]? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, CInt(seconds * 1000)) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    /// Receives until the text was among what came.
    func receive(until text: String, seconds: Double = 60) -> Bool {
        var received: [UInt8] = []
        while let bytes = receive(seconds: seconds) {
            received += bytes
            if String(decoding: received, as: UTF8.self).contains(text) { return true }
        }
        return false
    }
}

private func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

/// Runs blocking work on a thread of its own, so that the tests' pool goes on.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Swift.Result { try work() })
        }
    }
}
