import AgentLogic
import Foundation
import Synchronization

@testable import GNSSFeed

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

/// Gathers what a feed tells, and lets a test wait for it.
final class EventLog: Sendable {
    private struct Waiter {
        let id: UInt64
        let isMet: @Sendable ([FeedEvent]) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var events: [FeedEvent] = []
        var times: [ContinuousClock.Instant] = []
        var waiters: [Waiter] = []
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())

    var events: [FeedEvent] { state.withLock { $0.events } }
    /// When each of ``events`` was told.
    var times: [ContinuousClock.Instant] { state.withLock { $0.times } }
    var reports: [GNSSReport] {
        events.compactMap { if case .report(let report) = $0 { report } else { nil } }
    }
    var states: [FeedState] {
        events.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }

    func add(_ event: FeedEvent) {
        let met = state.withLock { state in
            state.events.append(event)
            state.times.append(.now)
            let events = state.events
            let met = state.waiters.filter { $0.isMet(events) }
            state.waiters.removeAll { waiter in met.contains { $0.id == waiter.id } }
            return met
        }
        for waiter in met { waiter.continuation.resume(returning: true) }
    }

    /// Returns when the events so far meet the condition: true, or false when they did not within the time.
    func wait(
        seconds: Double = 60, until isMet: @escaping @Sendable ([FeedEvent]) -> Bool
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let waiter: Waiter? = state.withLock { state in
                if isMet(state.events) { return nil }
                state.nextID += 1
                let waiter = Waiter(id: state.nextID, isMet: isMet, continuation: continuation)
                state.waiters.append(waiter)
                return waiter
            }
            guard let waiter else {
                continuation.resume(returning: true)
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
                let late = state.withLock { state in
                    let isWaiting = state.waiters.contains { $0.id == waiter.id }
                    state.waiters.removeAll { $0.id == waiter.id }
                    return isWaiting
                }
                if late { waiter.continuation.resume(returning: false) }
            }
        }
    }

    /// Waits for a state after the first `count` events.
    func wait(
        seconds: Double = 60, after count: Int = 0, for isWanted: @escaping @Sendable (FeedState) -> Bool
    ) async -> Bool {
        await wait(seconds: seconds) { events in
            events.dropFirst(count).contains { if case .state(let state) = $0 { isWanted(state) } else { false } }
        }
    }
}

extension FeedState {
    var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
    var isNoDevice: Bool { if case .noDevice = self { true } else { false } }
    var isStopped: Bool { self == .stopped }
    var hasReceiver: Bool { self == .noFix || self == .fix }
    var isFix: Bool { self == .fix }
}
