internal import Dispatch
internal import Glibc
internal import NIOCore
internal import Synchronization

/// Looks names up beside the event loops: getaddrinfo has no deadline of its own and cannot be interrupted.
///
/// Each lookup has a thread for itself, since one that waits for a name server that does not answer must not hold up the
/// next, which may find another one. With name servers that swallow every question a lookup takes half a minute and more,
/// so at most `maximumThreads` live at a time; a question beyond that shares the answer of one that is on its way.
final class NameResolver: Sendable {
    struct Question: Hashable, Sendable {
        enum Family: Hashable, Sendable { case any, ipv4 }

        let host: String
        let port: Int
        let family: Family
    }

    typealias Outcome = Result<[SocketAddress], SecureLinkError>

    /// Shared by all connections of the process, so that the bound is one of the process.
    static let shared = NameResolver(maximumThreads: 6, lookUp: getAddresses)

    private struct Waiter: Sendable {
        let question: Question
        let answer: @Sendable (Outcome) -> Void
    }

    private struct State {
        var next: UInt64 = 1
        var waiting: [UInt64: Waiter] = [:]
        /// The lookups whose threads live.
        var running: [UInt64: Question] = [:]
    }

    private let maximumThreads: Int
    private let lookUp: @Sendable (Question) -> Outcome
    private let state = Mutex(State())

    /// `lookUp` may block as long as it likes.
    init(maximumThreads: Int, lookUp: @escaping @Sendable (Question) -> Outcome) {
        self.maximumThreads = maximumThreads
        self.lookUp = lookUp
    }

    /// Threads that live now.
    var threads: Int { state.withLock { $0.running.count } }

    /// Returns at once. `answer` is called once, on any thread, unless ``forget(_:)`` comes first.
    func ask(_ question: Question, answer: @escaping @Sendable (Outcome) -> Void) -> UInt64 {
        let (number, mustStart) = state.withLock { state in
            let number = state.next
            state.next += 1
            state.waiting[number] = Waiter(question: question, answer: answer)
            let mustStart = state.running.count < maximumThreads
            if mustStart { state.running[number] = question }
            return (number, mustStart)
        }
        if mustStart { start(number, question) }
        return number
    }

    /// The answer is not wanted any more. The thread, if there is one, ends when getaddrinfo does.
    func forget(_ number: UInt64) {
        state.withLock { $0.waiting[number] = nil }
    }

    private func start(_ number: UInt64, _ question: Question) {
        // A serial queue of its own gets a thread of its own, whatever other lookups are stuck.
        DispatchQueue(label: "io.saker.names").async { [self] in ended(number, question, lookUp(question)) }
    }

    private func ended(_ number: UInt64, _ question: Question, _ outcome: Outcome) {
        let (answers, next) = state.withLock { state in
            state.running[number] = nil
            var served = state.waiting.filter { $0.value.question == question }
            // A failure is the asker's own; who shares an answer has the next one to wait for, if there is one.
            if case .failure = outcome, state.running.values.contains(question) {
                served = served.filter { $0.key == number }
            }
            for key in served.keys { state.waiting[key] = nil }
            let unserved = state.waiting.keys.sorted().first { key in
                guard let waiter = state.waiting[key] else { return false }
                return !state.running.values.contains(waiter.question)
            }
            guard let unserved, let waiter = state.waiting[unserved] else { return (served, (UInt64, Question)?.none) }
            state.running[unserved] = waiter.question
            return (served, (unserved, waiter.question))
        }
        if let next { start(next.0, next.1) }
        for waiter in answers.values { waiter.answer(outcome) }
    }

    /// The system's way: hosts file, name servers, whatever nsswitch.conf(5) says.
    private static let getAddresses: @Sendable (Question) -> Outcome = { question in
        getAddresses(question.host, question.port, family: question.family == .ipv4 ? AF_INET : AF_UNSPEC, flags: 0)
    }

    /// An address written as one, which needs no name server and does not block; nil for a name.
    static func literal(_ host: String, port: Int) -> [SocketAddress]? {
        try? getAddresses(host, port, family: AF_UNSPEC, flags: AI_NUMERICHOST).get()
    }

    private static func getAddresses(_ host: String, _ port: Int, family: CInt, flags: CInt) -> Outcome {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = family
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = flags | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else {
            let reason =
                unsafe result == EAI_SYSTEM ? String(cString: strerror(errno)) : String(cString: gai_strerror(result))
            return .failure(SecureLinkError(.nameResolution, "the name is not found: \(reason)"))
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let information = unsafe next {
            if let address = unsafe information.pointee.ai_addr {
                let bytes = UnsafeRawPointer(address)
                switch unsafe information.pointee.ai_family {
                case AF_INET:
                    unsafe addresses.append(SocketAddress(bytes.loadUnaligned(as: sockaddr_in.self), host: host))
                case AF_INET6:
                    unsafe addresses.append(SocketAddress(bytes.loadUnaligned(as: sockaddr_in6.self), host: host))
                default: break
                }
            }
            unsafe next = information.pointee.ai_next
        }
        return .success(addresses)
    }
}
