import AlarmCallbacks
import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SecureLink
import ServerIdentity
import Synchronization
import TrackModel
import TrackStore

/// Sends one request to an operator's URL. Whoever sets the URL must not reach with it what only this server reaches: the
/// host's addresses are asked for once, checked, and only a checked one is connected to; redirects are not followed.
struct CallbackClient: Sendable {
    private let names: CallbackNames
    private let authorities: CallbackAuthorities
    private let now: @Sendable () -> Timestamp
    private let timeout: Duration

    /// `timeout`: for one request, from the question for the address to the end of the answer.
    init(
        names: CallbackNames, authorities: CallbackAuthorities = CallbackAuthorities(file: nil),
        now: @escaping @Sendable () -> Timestamp, timeout: Duration = .milliseconds(CallbackRules.answer)
    ) {
        (self.names, self.authorities, self.now, self.timeout) = (names, authorities, now, timeout)
    }

    /// Returns at most about `timeout` later. `service`: whose URL it is.
    func send(_ body: [UInt8], to target: CallbackTarget, of service: ServiceID) async -> CallbackAnswer {
        let url: CallbackURL
        do throws(CallbackURL.Problem) {
            url = try CallbackURL(target.url)
        } catch {
            return .failed("the URL is not one: \(error)")
        }
        let end = ContinuousClock.now + timeout
        // Not a child task: a name server that hangs would hold up its parent for longer than that.
        let answer = await firstOf(end) { await exchange(body, url, target.secret, service, until: end) }
        return answer ?? .failed("it did not answer within \(timeout.components.seconds) s")
    }

    /// The result of `work`, which is cancelled at `end`; nil when it has none by then.
    private func firstOf(
        _ end: ContinuousClock.Instant, _ work: @escaping @Sendable () async -> CallbackAnswer
    ) async -> CallbackAnswer? {
        let (results, giver) = AsyncStream<CallbackAnswer?>.makeStream()
        let running = Task { giver.yield(await work()) }
        let timer = Task {
            try? await Task.sleep(until: end, clock: .continuous)
            giver.yield(nil)
        }
        defer {
            running.cancel()
            timer.cancel()
        }
        // The loop ends with nil when the caller is cancelled.
        for await result in results { return result }
        return nil
    }

    private func exchange(
        _ body: [UInt8], _ url: CallbackURL, _ secret: String, _ service: ServiceID, until end: ContinuousClock.Instant
    ) async -> CallbackAnswer {
        switch await names.addresses(of: url.host, port: url.port, for: service) {
        case .failed(let reason): return .failed(reason)
        case .found(let addresses):
            var failure = CallbackAnswer.failed("it has no address")
            for address in addresses.prefix(CallbackRules.addresses) {
                guard ContinuousClock.now < end, !Task.isCancelled else { break }
                let (answer, hasConnected) = await exchange(body, url, secret, at: address, until: end)
                // Another address is tried only when nothing can have been received at this one.
                if hasConnected { return answer }
                failure = answer
            }
            return failure
        }
    }

    private func exchange(
        _ body: [UInt8], _ url: CallbackURL, _ secret: String, at address: String,
        until end: ContinuousClock.Instant
    ) async -> (CallbackAnswer, hasConnected: Bool) {
        // The client must not ask for the address again: the answer could be another one.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.dnsOverride = [url.host: address]
        configuration.timeout = .init(connect: .seconds(4))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        do throws(ServerError) {
            configuration.tlsConfiguration = try authorities.tls()
        } catch {
            return (.failed(error.detail), true)
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: (CallbackAnswer, Bool)
        do {
            let response = try await http.execute(
                request(body, url, secret), deadline: .now() + .init(end - ContinuousClock.now))
            let bytes = try await response.body.collect(upTo: CallbackRules.answerBytes)
            let answer = CallbackAnswer(
                status: Int(response.status.code), signID: response.headers.first(name: CallbackAnswer.signHeader),
                body: Array(bytes.readableBytesView))
            result = (answer, true)
        } catch {
            result = (.failed(Self.reason(error)), !Self.isBeforeConnection(error))
        }
        try? await http.shutdown()
        return result
    }

    private func request(_ body: [UInt8], _ url: CallbackURL, _ secret: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url.text)
        let seconds = now().seconds
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json;charset=utf-8")
        request.headers.add(name: "User-Agent", value: "saker-server")
        request.headers.add(name: CallbackAnswer.signHeader, value: CallbackAnswer.signID)
        request.headers.add(name: CallbackSignature.timeHeader, value: String(seconds))
        request.headers.add(
            name: CallbackSignature.header, value: CallbackSignature.value(of: body, at: seconds, secret: secret))
        request.body = .bytes(ByteBuffer(bytes: body))
        return request
    }

    private static func isBeforeConnection(_ error: any Error) -> Bool {
        error is NIOConnectionError || error as? HTTPClientError == .connectTimeout
            || (error as? IOError)?.errnoCode == ECONNREFUSED
    }

    /// Nothing of the answer itself: it is for logs and clients.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case is NIOTooManyBytesError: "its answer has more than \(CallbackRules.answerBytes) bytes"
        case let error as IOError: "no connection: \(String(cString: strerror(error.errnoCode)))"
        case let error as NIOConnectionError:
            error.connectionErrors.compactMap { ($0.error as? IOError)?.errnoCode }.first
                .map { "no connection: \(String(cString: strerror($0)))" } ?? "no connection"
        case is NIOSSLError, is NIOSSLExtraError: "its certificate is not trusted, or it does not speak TLS as it must"
        case let error as HTTPClientError where error == .connectTimeout: "no connection in time"
        case let error as HTTPClientError where error == .deadlineExceeded: "it did not answer in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closed the connection"
        case is CancellationError: "the request was broken off"
        default: "the request failed"
        }
    }
}

/// Whose certificates operators' servers may have: those of the system's authorities, and of a file.
struct CallbackAuthorities: Hashable, Sendable {
    /// Nil: the system's alone.
    let file: String?

    init(file: String?) { self.file = file }

    /// Reads the file anew: who replaces it need not restart the server.
    ///
    /// - Throws: ``ServerError`` when the file cannot be used; the sentence names it.
    func tls() throws(ServerError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        guard let file else { return configuration }
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try ServerIdentity.certificates(file).encoded.map {
                try NIOSSLCertificate(bytes: $0, format: .der)
            }
        } catch {
            throw ServerError(
                .certificate,
                "\(file) has no certificates that can be used: ca in [callbacks] must name a PEM file of authorities. "
                    + ((error as? ServerIdentityError)?.detail ?? "\(error)"))
        }
        configuration.additionalTrustRoots = [.certificates(certificates)]
        return configuration
    }
}

/// Asks an operator's URL whether it takes alarms, before it is set.
final class CallbackCheck: Sendable {
    private let client: CallbackClient
    private let places = Mutex(CallbackRules.checks)

    init(_ client: CallbackClient) { self.client = client }

    /// Why the URL cannot be set, for whoever sets it; nil when it can.
    func problem(with target: CallbackTarget, of service: ServiceID) async -> String? {
        do throws(CallbackURL.Problem) {
            _ = try CallbackURL(target.url)
        } catch {
            return "url: \(error)"
        }
        switch places.withLock({ $0.begin(of: service) }) {
        case nil: break
        case .service: return "url: other URLs of this service are being checked now: try again"
        case .all: return "url: too many URLs are being checked now: try again"
        }
        defer { places.withLock { $0.end(of: service) } }
        switch await client.send(CallbackBody.check(of: service), to: target, of: service) {
        case .taken: return nil
        case .failed(let reason): return "url: \(reason)"
        }
    }
}
