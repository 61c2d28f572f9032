internal import Glibc
internal import Synchronization

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
