internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The name lookup of one connection, with a time limit, in the form that NIO's connector needs.
///
/// getaddrinfo asks for the addresses of both families at once and answers when it knows both. Some name servers, and
/// routers in front of them, drop the question for IPv6 addresses. So when no answer has come for a while, the query
/// also asks for IPv4 addresses alone. (RFC 8305, section 3, asks for each family separately from the beginning.)
final class NameQuery: Resolver, Sendable {
    private let resolver: NameResolver
    private let loop: any EventLoop
    private let limit: TimeAmount
    private let patience: TimeAmount
    private let ipv4: EventLoopPromise<[SocketAddress]>
    private let ipv6: EventLoopPromise<[SocketAddress]>

    private struct Open {
        var questions: [UInt64] = []
        var timers: [Scheduled<Void>] = []
        var isOver = false
    }

    private let open = Mutex(Open())

    /// `limit`: how long the lookup of both families may take. `patience`: after this time IPv4 is asked for alone.
    init(
        resolver: NameResolver = .shared, on loop: any EventLoop, limit: TimeAmount, patience: TimeAmount = .seconds(2)
    ) {
        self.resolver = resolver
        self.loop = loop
        self.limit = limit
        self.patience = patience
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
        let alone = loop.scheduleTask(in: patience) { [self] in
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
