internal import Glibc
internal import Synchronization

/// One connection to gpsd. Non-blocking; closed at the end of its life.
struct GPSDSocket: ~Copyable {
    enum Received {
        case some
        case nothingNow
        case ended(String)
    }

    let descriptor: CInt

    deinit {
        close(descriptor)
    }

    /// Begins to connect. The descriptor becomes writable when the attempt has ended. Throws the kernel's error number.
    static func connecting(to address: SocketAddress) throws(ErrorNumber) -> GPSDSocket {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(address.family, type, CInt(IPPROTO_TCP))
        guard descriptor >= 0 else { throw ErrorNumber(value: errno) }
        let socket = GPSDSocket(descriptor: descriptor)
        // Keep-alive finds a vanished peer even while the feed sends nothing: probes after a minute, then the limit on
        // unanswered bytes.
        socket.set(SOL_SOCKET, SO_KEEPALIVE, 1)
        socket.set(CInt(IPPROTO_TCP), TCP_KEEPIDLE, 60)
        socket.set(CInt(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        socket.set(CInt(IPPROTO_TCP), TCP_KEEPCNT, 3)
        socket.set(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, 20_000)
        let result = unsafe address.withPointer { pointer, length in unsafe connect(descriptor, pointer, length) }
        guard result == 0 || errno == EINPROGRESS else { throw ErrorNumber(value: errno) }
        return socket
    }

    private init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    private func set(_ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        // An error does not matter: the feed's own sign of life finds a dead peer too.
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// The result of the attempt to connect, once the descriptor is writable: 0 or an error number.
    var connectOutcome: CInt {
        var outcome: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &outcome, &length) == 0 else { return errno }
        return outcome
    }

    /// A command is far smaller than an empty socket's buffer. If it does not fit, gpsd does not read.
    func send(_ command: String) -> Bool {
        let bytes = Array(command.utf8)
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_NOSIGNAL))
        }
        return sent == bytes.count
    }

    func receive(into buffer: inout LineBuffer) -> (Received, count: Int) {
        var number: CInt = 0
        let count = unsafe buffer.fill { free in
            let count = unsafe recv(descriptor, free.baseAddress, free.count, 0)
            number = errno
            return count
        }
        if count > 0 { return (.some, count) }
        if count == 0 { return (.ended("gpsd closed the connection"), 0) }
        if number == EAGAIN || number == EINTR { return (.nothingNow, 0) }
        return (.ended("connection lost: \(reason(number))"), 0)
    }
}

struct ErrorNumber: Error {
    let value: CInt
}

/// One address of a name, in the kernel's form.
struct SocketAddress: Hashable, Sendable {
    let family: CInt
    private let bytes: [UInt8]

    init(_ information: addrinfo) {
        family = unsafe information.ai_family
        if let address = unsafe information.ai_addr {
            bytes = unsafe Array(UnsafeRawBufferPointer(start: address, count: Int(information.ai_addrlen)))
        } else {
            bytes = []
        }
    }

    func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var storage = sockaddr_storage()
        return unsafe withUnsafeMutableBytes(of: &storage) { buffer in
            let length = min(bytes.count, buffer.count)
            unsafe buffer.copyBytes(from: bytes.prefix(length))
            guard let base = buffer.baseAddress else { return -1 }
            return unsafe body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(length))
        }
    }
}

/// Resolves a name without blocking the caller. getaddrinfo has no deadline and cannot be interrupted.
///
/// A numeric address needs no thread. For a name, one short-lived thread asks. The feed's thread waits for it, or gives
/// up and finds the answer at its next attempt. At most one such thread lives at a time.
final class Resolver: Sendable {
    enum Outcome: Hashable {
        case addresses([SocketAddress])
        /// The resolver's own error text.
        case failure(String)
    }

    private enum State {
        case idle
        case asking
        case answered(Outcome)
    }

    private let host: String
    private let port: UInt16
    private let signal: WakeSignal
    private let state = Mutex(State.idle)

    /// The resolver nudges `signal` when the answer is there.
    init(host: String, port: UInt16, signal: WakeSignal) {
        self.host = host
        self.port = port
        self.signal = signal
    }

    /// The answer, or nil while the lookup runs.
    func ask() -> Outcome? {
        if case .addresses(let numeric) = Self.lookUp(host, port, flags: AI_NUMERICHOST) { return .addresses(numeric) }
        let mustAsk: Bool? = state.withLock { state in
            switch state {
            case .answered: return nil
            case .asking: return false
            case .idle:
                state = .asking
                return true
            }
        }
        guard let mustAsk else { return take() }
        guard mustAsk else { return nil }
        let (host, port) = (host, port)
        do throws(GNSSFeedError) {
            try startThread { [self] in
                let outcome = Self.lookUp(host, port, flags: AI_ADDRCONFIG)
                state.withLock { $0 = .answered(outcome) }
                signal.nudge()
            }
        } catch {
            state.withLock { $0 = .idle }
            return .failure(error.detail)
        }
        return nil
    }

    private func take() -> Outcome? {
        state.withLock { state in
            guard case .answered(let outcome) = state else { return nil }
            state = .idle
            return outcome
        }
    }

    private static func lookUp(_ host: String, _ port: UInt16, flags: CInt) -> Outcome {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = flags | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else { return unsafe .failure(String(cString: gai_strerror(result))) }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        // There is no time to try more addresses within the limit.
        while let information = unsafe next, addresses.count < 8 {
            unsafe addresses.append(SocketAddress(information.pointee))
            unsafe next = information.pointee.ai_next
        }
        return .addresses(addresses)
    }
}
