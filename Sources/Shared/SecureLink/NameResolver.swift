internal import Dispatch
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Resolves names on threads beside the event loops, because getaddrinfo has no deadline and cannot be interrupted.
///
/// Each lookup has a thread of its own. A lookup that waits for a silent name server must not delay the next one, which
/// may find another name server. If name servers drop every question, a lookup takes half a minute or more. So at most
/// `maximumThreads` threads live at a time. A further lookup shares the answer of a running one for the same question,
/// or waits for a thread.
final class NameResolver: Sendable {
    struct Question: Hashable, Sendable {
        enum Family: Hashable, Sendable { case any, ipv4 }

        let host: String
        let port: Int
        let family: Family
    }

    typealias Outcome = Result<[SocketAddress], SecureLinkError>

    /// All connections of the process share it, so that `maximumThreads` is a limit of the process.
    static let shared = NameResolver(maximumThreads: 6, lookUp: getAddresses)

    private struct Waiter: Sendable {
        let question: Question
        let answer: @Sendable (Outcome) -> Void
    }

    private struct State {
        var next: UInt64 = 1
        var waiting: [UInt64: Waiter] = [:]
        /// The lookups that have a thread.
        var running: [UInt64: Question] = [:]
    }

    private let maximumThreads: Int
    private let lookUp: @Sendable (Question) -> Outcome
    private let state = Mutex(State())

    /// `lookUp` may block for any time.
    init(maximumThreads: Int, lookUp: @escaping @Sendable (Question) -> Outcome) {
        self.maximumThreads = maximumThreads
        self.lookUp = lookUp
    }

    /// Threads that are running.
    var threads: Int { state.withLock { $0.running.count } }

    /// Returns at once. Calls `answer` once, on any thread, unless ``forget(_:)`` comes first.
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

    /// Nobody wants the answer any more. The lookup's thread, if it has one, ends when getaddrinfo returns.
    func forget(_ number: UInt64) {
        state.withLock { $0.waiting[number] = nil }
    }

    private func start(_ number: UInt64, _ question: Question) {
        // A serial queue of its own gets a thread of its own, even while other lookups hang.
        DispatchQueue(label: "io.saker.names").async { [self] in ended(number, question, lookUp(question)) }
    }

    private func ended(_ number: UInt64, _ question: Question, _ outcome: Outcome) {
        let (answers, next) = state.withLock { state in
            state.running[number] = nil
            var served = state.waiting.filter { $0.value.question == question }
            // A failure answers only its own asker. Others that wait for the same question get the answer of the next
            // lookup, if one runs.
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

    /// The system's lookup: the hosts file, name servers, and whatever nsswitch.conf(5) says.
    private static let getAddresses: @Sendable (Question) -> Outcome = { question in
        getAddresses(question.host, question.port, family: question.family == .ipv4 ? AF_INET : AF_UNSPEC, flags: 0)
    }

    /// The address of a host that is written as a number; nil for a name. Needs no name server and does not block.
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

/// The name lookup of one connection, with a time limit, in the form that NIO's connector needs.
///
/// getaddrinfo asks for the addresses of both families at once and answers when it knows both. Some name servers, and
/// routers in front of them, drop the question for IPv6 addresses. So when no answer has come for a while, the query
/// also asks for IPv4 addresses alone. (RFC 8305, section 3, asks for each family separately from the beginning.)
final class NameQuery: Resolver, Sendable {
    private let resolver: NameResolver
    private let loop: any EventLoop
    private let limit: TimeAmount
    private let ipv4Delay: TimeAmount
    private let ipv4: EventLoopPromise<[SocketAddress]>
    private let ipv6: EventLoopPromise<[SocketAddress]>

    private struct Open {
        var questions: [UInt64] = []
        var timers: [Scheduled<Void>] = []
        var isOver = false
    }

    private let open = Mutex(Open())

    /// `limit`: how long the lookup of both families may take. `ipv4Delay`: after this time IPv4 is asked for alone.
    init(
        resolver: NameResolver = .shared, on loop: any EventLoop, limit: TimeAmount, ipv4Delay: TimeAmount = .seconds(2)
    ) {
        self.resolver = resolver
        self.loop = loop
        self.limit = limit
        self.ipv4Delay = ipv4Delay
        ipv4 = loop.makePromise()
        ipv6 = loop.makePromise()
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        if let addresses = NameResolver.literal(host, port: port) {
            found(addresses)
            return ipv6.futureResult
        }
        ask(.init(host: host, port: port, family: .any)) { [self] outcome in
            switch outcome {
            case .success(let addresses): found(addresses)
            case .failure(let error): failed(error)
            }
        }
        let alone = loop.scheduleTask(in: ipv4Delay) { [self] in
            ask(.init(host: host, port: port, family: .ipv4)) { [self] outcome in
                // A failure here does not matter: the lookup of both families goes on and tells it too.
                if case .success(let addresses) = outcome { ipv4.succeed(addresses) }
            }
        }
        let limit = limit
        let deadline = loop.scheduleTask(in: limit) { [self] in
            failed(
                SecureLinkError(
                    .nameResolution,
                    "no name server has answered within \(limit.seconds); is there one that can be reached?"
                ))
        }
        keep(timers: [alone, deadline])
        return ipv6.futureResult
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { ipv4.futureResult }

    func cancelQueries() { failed(SecureLinkError(.cancelled, "the addresses are not needed any more")) }

    private func ask(_ question: NameResolver.Question, answer: @escaping @Sendable (NameResolver.Outcome) -> Void) {
        guard !open.withLock({ $0.isOver }) else { return }
        let number = resolver.ask(question) { [loop] outcome in loop.execute { answer(outcome) } }
        let isOver = open.withLock { open in
            open.questions.append(number)
            return open.isOver
        }
        if isOver { resolver.forget(number) }
    }

    private func found(_ addresses: [SocketAddress]) {
        // A promise keeps its first result, so an earlier answer stays.
        ipv6.succeed(addresses.filter { $0.protocol == .inet6 })
        ipv4.succeed(addresses.filter { $0.protocol == .inet })
        end()
    }

    private func failed(_ error: SecureLinkError) {
        ipv6.fail(error)
        ipv4.fail(error)
        end()
    }

    private func keep(timers: [Scheduled<Void>]) {
        let isOver = open.withLock { open in
            open.timers += timers
            return open.isOver
        }
        if isOver { for timer in timers { timer.cancel() } }
    }

    private func end() {
        let (questions, timers) = open.withLock { open in
            defer { open = Open(isOver: true) }
            return (open.questions, open.timers)
        }
        for question in questions { resolver.forget(question) }
        for timer in timers { timer.cancel() }
    }
}
