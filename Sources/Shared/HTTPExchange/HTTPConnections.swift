package import NIOCore
package import SecureLink

/// Requests to one server, over connections that stay open for the next request. Follows no redirect and uses no proxy.
///
/// Requests at the same time have a connection each: who asks bounds how many.
package final class HTTPConnections: Sendable {
    private let address: HTTPAddress
    private let security: TLSContext?
    private let limits: HTTPLimits
    private let loop: any EventLoop
    private let idle: NIOLoopBoundBox<Idle>

    /// The channels that wait for a request, the one that was used last at the end.
    private struct Idle {
        var channels: [any Channel] = []
        let most: Int
        var isClosed = false
    }

    /// `most`: connections that wait for a request. `limits`: of each request, without its time. The other parameters are those of
    /// ``HTTPExchange/run(_:at:security:limits:on:)``.
    package init(
        to address: HTTPAddress, security: TLSContext?, limits: HTTPLimits, keeping most: Int, on loop: any EventLoop
    ) {
        (self.address, self.security, self.limits, self.loop) = (address, security, limits, loop)
        idle = .makeBoxSendingValue(Idle(most: most), eventLoop: loop)
    }

    /// The answer to a request that changes nothing at the server. If a kept connection ends before anything of the answer came, the
    /// request is sent once more, over another connection: the server may close a connection that waits at any moment.
    ///
    /// Throws why there is no answer `within` this time. A task that is cancelled closes its connection.
    package func run(_ request: HTTPRequest, within limit: Duration) async throws(HTTPExchangeError) -> HTTPAnswer {
        let bytes = request.encoded(keepsConnection: true)
        return try await HTTPExchange.answer(within: limit, on: loop) { answered in
            loop.execute { self.begin(bytes, answered) }
        }
    }

    /// Closes the connections that wait. Those in use end with their requests.
    package func close() async {
        try? await loop.submit {
            self.idle.value.isClosed = true
            for channel in self.idle.value.channels { channel.close(promise: nil) }
            self.idle.value.channels = []
        }.get()
    }

    private func begin(_ bytes: [UInt8], _ answered: EventLoopPromise<HTTPAnswer>) {
        while let channel = idle.value.channels.popLast() {
            guard channel.isActive, let handler = Self.handler(channel), handler.isIdle else { continue }
            let tried = loop.makePromise(of: HTTPAnswer.self)
            let bound = NIOLoopBound(handler, eventLoop: loop)
            tried.futureResult.whenComplete { result in
                if case .failure = result, bound.value.endedUntouched {
                    self.connect(bytes, answered)
                } else {
                    answered.completeWith(result)
                }
            }
            HTTPExchangeHandler.begin(bytes, on: channel, limits, tried)
            // When the time is over or the caller has gone, the server shall not go on working.
            return answered.futureResult.whenComplete { _ in self.release(channel) }
        }
        connect(bytes, answered)
    }

    private func connect(_ bytes: [UInt8], _ answered: EventLoopPromise<HTTPAnswer>) {
        HTTPExchange.connect(to: address, at: nil, security, limits, loop).whenComplete { result in
            switch result {
            case .success(let channel):
                HTTPExchangeHandler.begin(bytes, on: channel, self.limits, answered)
                answered.futureResult.whenComplete { _ in self.release(channel) }
            case .failure(let error): answered.fail(error)
            }
        }
    }

    /// An exchange has ended: the connection waits for the next one when it can.
    private func release(_ channel: any Channel) {
        guard channel.isActive, let handler = Self.handler(channel), handler.isIdle, !idle.value.isClosed,
            idle.value.channels.count < idle.value.most
        else {
            Self.handler(channel)?.abandon()
            return channel.close(promise: nil)
        }
        idle.value.channels.append(channel)
    }

    private static func handler(_ channel: any Channel) -> HTTPExchangeHandler? {
        try? channel.pipeline.syncOperations.handler(type: HTTPExchangeHandler.self)
    }
}
